package providertest

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Profile reads one account.
func Profile(name, handle string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) { return p.Profile(ctx, handle) }).about(handle).with(providers.OpProfile, handle, nil)
}

// Followers lists the followers of an account.
func Followers(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Profile] { return p.Followers }, handle)
}

// Following lists the accounts that an account follows.
func Following(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Profile] { return p.Following }, handle)
}

// Linked lists the accounts elsewhere that the platform itself links to an account.
func Linked(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.LinkedProfile] { return p.Linked }, handle)
}

// Live reads the current broadcast of one account.
func Live(name, handle string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.LiveStream, error) { return p.Live(ctx, handle) }).about(handle).with(providers.OpLive, handle, nil)
}

// Post reads one post.
func Post(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) { return p.Post(ctx, id) }).about(id).with(providers.OpPost, id, nil)
}

// Transcript reads the transcript of one post.
func Transcript(name string, q providers.TranscriptQuery) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Transcript, error) {
		return p.Transcript(ctx, q)
	}).about(q.PostID).with(providers.OpTranscript, q.PostID, providers.TranscriptQuery{Lang: q.Lang})
}

// Collection reads one collection.
func Collection(name string, q providers.CollectionQuery) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Collection, error) {
		return p.Collection(ctx, q)
	}).about(q.ID).with(providers.OpCollection, q.ID, providers.CollectionQuery{Kind: q.Kind})
}

// Community reads one community.
func Community(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) { return p.Community(ctx, id) }).about(id).with(providers.OpCommunity, id, nil)
}

// Posts lists the posts of an account.
func Posts(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Post] { return p.Posts }, handle)
}

// Reels lists the short videos of an account.
func Reels(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Post] { return p.Reels }, handle)
}

// Comments lists the comments of a post.
func Comments(name, postID string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Comment] { return p.Comments }, postID)
}

// Replies lists the replies to a comment.
func Replies(name string, q providers.RepliesQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.RepliesQuery, schema.Comment] { return p.Replies }, q)
}

// Trending lists what is popular.
func Trending(name string, q providers.TrendingQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.TrendingQuery, schema.Post] { return p.Trending }, q)
}

// Search lists the results for a text.
func Search(name string, q providers.SearchQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.SearchQuery, schema.SearchResult] {
		return p.Search
	}, q)
}

// Suggestions lists completions of a text.
func Suggestions(name string, q providers.SuggestionsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.SuggestionsQuery, schema.Suggestion] {
		return p.Suggestions
	}, q)
}

// Collections lists the collections of an account.
func Collections(name string, q providers.CollectionsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.CollectionsQuery, schema.Collection] {
		return p.Collections
	}, q)
}

// CollectionPosts lists the posts in a collection.
func CollectionPosts(name string, q providers.CollectionQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.CollectionQuery, schema.Post] {
		return p.CollectionPosts
	}, q)
}

// CollectionTracks lists the tracks in a collection.
func CollectionTracks(name string, q providers.CollectionQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.CollectionQuery, schema.Track] {
		return p.CollectionTracks
	}, q)
}

// Track reads one track.
func Track(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Track, error) { return p.Track(ctx, id) }).about(id).with(providers.OpTrack, id, nil)
}

// Tracks lists the tracks of an account.
func Tracks(name, handle string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Track] { return p.Tracks }, handle)
}

// Product reads one product.
func Product(name string, q providers.ProductQuery) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Product, error) { return p.Product(ctx, q) }).about(q.ID).with(providers.OpProduct, q.ID, providers.ProductQuery{Region: q.Region})
}

// Reviews lists the reviews of a product.
func Reviews(name, productID string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Review] { return p.Reviews }, productID)
}

// CommunityPosts lists the posts in a community.
func CommunityPosts(name string, q providers.CommunityPostsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.CommunityPostsQuery, schema.Post] {
		return p.CommunityPosts
	}, q)
}

// Products lists the products of a store or of an account.
func Products(name string, q providers.ProductsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.ProductsQuery, schema.Product] {
		return p.Products
	}, q)
}

// Store reads one store.
func Store(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (providers.Storefront, error) {
		return p.Store(ctx, id)
	}).with(providers.OpStore, id, nil)
}

// Ads lists the ads of an advertiser or a domain.
func Ads(name string, q providers.AdsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.AdsQuery, schema.Ad] { return p.Ads }, q)
}

// AdsSearch lists the ads that match a text.
func AdsSearch(name string, q providers.AdsSearchQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.AdsSearchQuery, schema.Ad] {
		return p.AdsSearch
	}, q)
}

// Ad reads one ad.
func Ad(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Ad, error) { return p.Ad(ctx, id) }).
		with(providers.OpAd, id, nil)
}

// Advertisers lists the advertisers that match a text.
func Advertisers(name string, q providers.AdvertisersQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.AdvertisersQuery, schema.Advertiser] {
		return p.Advertisers
	}, q)
}

// Event reads one event.
func Event(name, id string) Call {
	return One(name, func(ctx context.Context, p providers.Provider) (schema.Event, error) { return p.Event(ctx, id) }).
		with(providers.OpEvent, id, nil)
}

// TrackPosts lists the posts that use a track.
func TrackPosts(name, id string) Call {
	return list(name, func(p providers.Provider) providers.List[schema.Post] { return p.TrackPosts }, id)
}

func list[T any](name string, of func(providers.Provider) providers.List[T], key string) Call {
	return List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[T], error) {
		return of(p)(ctx, key, cursor)
	})
}

func listBy[Q, T any](name string, of func(providers.Provider) providers.ListBy[Q, T], q Q) Call {
	return List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[T], error) {
		return of(p)(ctx, q, cursor)
	})
}

// Events lists the events of a host or at a place.
func Events(name string, q providers.EventsQuery) Call {
	return listBy(name, func(p providers.Provider) providers.ListBy[providers.EventsQuery, schema.Event] { return p.Events }, q)
}
