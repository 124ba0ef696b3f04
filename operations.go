package socialdata

import (
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// How long answers are good for.
const (
	profileTTL    = time.Hour
	postTTL       = 15 * time.Minute
	commentTTL    = 10 * time.Minute
	searchTTL     = 5 * time.Minute
	liveTTL       = 30 * time.Second
	transcriptTTL = 24 * time.Hour
	notFoundTTL   = time.Minute
)

type prov = *providers.Provider

// The operation table: every read through a provider, in the order of the route table.
var (
	opProfile = read[ProfileRequest, schema.Profile](providers.OpProfile, "profiles", "Read one account", profileTTL,
		one(func(p prov) providers.One[schema.Profile] { return p.Profile }))
	opFollowers = read[AccountsRequest, []schema.Profile](providers.OpFollowers, "profiles", "List the accounts that follow an account", profileTTL,
		many(func(p prov) providers.List[schema.Profile] { return p.Followers }))
	opFollowing = read[AccountsRequest, []schema.Profile](providers.OpFollowing, "profiles", "List the accounts that an account follows", profileTTL,
		many(func(p prov) providers.List[schema.Profile] { return p.Following }))
	opAudience = read[HandleRequest, schema.Audience](providers.OpAudience, "profiles", "Say where the followers of an account live", profileTTL,
		one(func(p prov) providers.One[schema.Audience] { return p.Audience }))
	opLive = read[HandleRequest, schema.LiveStream](providers.OpLive, "profiles", "Read an account's broadcast, on air or not", liveTTL,
		one(func(p prov) providers.One[schema.LiveStream] { return p.Live }))
	opLinked = read[HandleRequest, []schema.LinkedProfile](providers.OpLinked, "profiles", "List accounts elsewhere that seem to be the same person's", profileTTL,
		fetcher{fetch: fetchLinked})

	opPosts = read[PostsRequest, []schema.Post](providers.OpPosts, "posts", "List an account's posts, newest first", postTTL,
		many(func(p prov) providers.List[schema.Post] { return p.Posts }))
	opPost = read[PostRequest, schema.Post](providers.OpPost, "posts", "Read one post", postTTL,
		one(func(p prov) providers.One[schema.Post] { return p.Post }))
	opTrending = read[TrendingRequest, []schema.Post](providers.OpTrending, "posts", "List what is popular now", searchTTL,
		manyBy(func(p prov) providers.ListBy[providers.TrendingQuery, schema.Post] { return p.Trending },
			func(in args) providers.TrendingQuery { return providers.TrendingQuery{Region: in.get("region")} }))

	opSearch = read[SearchRequest, []schema.SearchResult](providers.OpSearch, "search", "Search one platform", searchTTL,
		manyBy(func(p prov) providers.ListBy[providers.SearchQuery, schema.SearchResult] { return p.Search }, searchQuery))
	opSuggestions = read[SuggestionsRequest, []schema.Suggestion](providers.OpSuggestions, "search", "Say how a search may go on", searchTTL,
		manyBy(func(p prov) providers.ListBy[providers.SuggestionsQuery, schema.Suggestion] { return p.Suggestions },
			func(in args) providers.SuggestionsQuery {
				return providers.SuggestionsQuery{Query: in.get("query"), Region: in.get("region")}
			}))

	opComments = read[CommentsRequest, []schema.Comment](providers.OpComments, "comments", "List the comments on a post", commentTTL,
		many(func(p prov) providers.List[schema.Comment] { return p.Comments }))
	opReplies = read[RepliesRequest, []schema.Comment](providers.OpReplies, "comments", "List the answers to a comment", commentTTL,
		manyBy(func(p prov) providers.ListBy[providers.RepliesQuery, schema.Comment] { return p.Replies },
			func(in args) providers.RepliesQuery {
				return providers.RepliesQuery{CommentID: in.get("comment_id"), PostID: in.get("post_id")}
			}))

	opTranscript = read[TranscriptRequest, schema.Transcript](providers.OpTranscript, "media", "Read what is said in a post", transcriptTTL,
		oneBy(func(p prov) providers.OneBy[providers.TranscriptQuery, schema.Transcript] { return p.Transcript },
			func(in args) providers.TranscriptQuery {
				return providers.TranscriptQuery{PostID: in.get("post_id"), Lang: in.get("lang")}
			}))
	opReels = read[PostsRequest, []schema.Post](providers.OpReels, "media", "List an account's short videos, newest first", postTTL,
		many(func(p prov) providers.List[schema.Post] { return p.Reels }))
	opCollections = read[CollectionsRequest, []schema.Collection](providers.OpCollections, "media", "List an account's playlists, boards, highlights, albums or podcasts", profileTTL,
		manyBy(func(p prov) providers.ListBy[providers.CollectionsQuery, schema.Collection] { return p.Collections },
			func(in args) providers.CollectionsQuery {
				return providers.CollectionsQuery{Handle: in.get("handle"), Kind: schema.CollectionKind(in.get("kind"))}
			}))
	opCollection = read[CollectionRequest, schema.Collection](providers.OpCollection, "media", "Read one collection", profileTTL,
		oneBy(func(p prov) providers.OneBy[providers.CollectionQuery, schema.Collection] { return p.Collection }, collectionQuery))
	opCollectionPosts = read[CollectionItemsRequest, []schema.Post](providers.OpCollectionPosts, "media", "List the posts in a collection", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.CollectionQuery, schema.Post] { return p.CollectionPosts }, collectionQuery))
	opCollectionTracks = read[CollectionItemsRequest, []schema.Track](providers.OpCollectionTracks, "media", "List the tracks in a collection", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.CollectionQuery, schema.Track] { return p.CollectionTracks }, collectionQuery))

	opTrack = read[TrackRequest, schema.Track](providers.OpTrack, "music", "Read one track or sound", postTTL,
		one(func(p prov) providers.One[schema.Track] { return p.Track }))
	opTracks = read[PostsRequest, []schema.Track](providers.OpTracks, "music", "List an account's tracks", postTTL,
		many(func(p prov) providers.List[schema.Track] { return p.Tracks }))
	opTrackPosts = read[TrackPostsRequest, []schema.Post](providers.OpTrackPosts, "music", "List the posts that use a sound", postTTL,
		many(func(p prov) providers.List[schema.Post] { return p.TrackPosts }))

	opCommunity = read[CommunityRequest, schema.Profile](providers.OpCommunity, "communities", "Read one community, as a profile", profileTTL,
		one(func(p prov) providers.One[schema.Profile] { return p.Community }))
	opCommunityPosts = read[CommunityPostsRequest, []schema.Post](providers.OpCommunityPosts, "communities", "List what is posted in a community", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.CommunityPostsQuery, schema.Post] { return p.CommunityPosts },
			func(in args) providers.CommunityPostsQuery {
				return providers.CommunityPostsQuery{ID: in.get("id"), Sort: in.get("sort")}
			}))

	opProducts = read[ProductsRequest, []schema.Product](providers.OpProducts, "shops", "List the products of a store or an account", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.ProductsQuery, schema.Product] { return p.Products },
			func(in args) providers.ProductsQuery {
				return providers.ProductsQuery{Store: in.get("store"), Handle: in.get("handle")}
			}))
	opProduct = read[ProductRequest, schema.Product](providers.OpProduct, "shops", "Read one product", postTTL,
		oneBy(func(p prov) providers.OneBy[providers.ProductQuery, schema.Product] { return p.Product },
			func(in args) providers.ProductQuery {
				return providers.ProductQuery{ID: in.get("id"), Region: in.get("region")}
			}))
	opReviews = read[ReviewsRequest, []schema.Review](providers.OpReviews, "shops", "List the reviews of a product", commentTTL,
		many(func(p prov) providers.List[schema.Review] { return p.Reviews }))
	opStore = read[StoreRequest, schema.StoreSummary](providers.OpStore, "commerce", "Read one store", profileTTL, store())

	opAds = read[AdsRequest, []schema.Ad](providers.OpAds, "ads", "List the ads of an advertiser or for a domain", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.AdsQuery, schema.Ad] { return p.Ads },
			func(in args) providers.AdsQuery {
				return providers.AdsQuery{AdvertiserID: in.get("advertiser_id"), Domain: in.get("domain"), AdFilter: adFilter(in)}
			}))
	opAdsSearch = read[AdsSearchRequest, []schema.Ad](providers.OpAdsSearch, "ads", "Search an ad library", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.AdsSearchQuery, schema.Ad] { return p.AdsSearch },
			func(in args) providers.AdsSearchQuery {
				return providers.AdsSearchQuery{Query: in.get("query"), AdFilter: adFilter(in)}
			}))
	opAd = read[AdRequest, schema.Ad](providers.OpAd, "ads", "Read one ad", postTTL,
		one(func(p prov) providers.One[schema.Ad] { return p.Ad }))
	opAdvertisers = read[AdvertisersRequest, []schema.Advertiser](providers.OpAdvertisers, "ads", "Search for advertisers", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.AdvertisersQuery, schema.Advertiser] { return p.Advertisers },
			func(in args) providers.AdvertisersQuery {
				return providers.AdvertisersQuery{Query: in.get("query"), Country: in.get("country")}
			}))

	opEvent = read[EventRequest, schema.Event](providers.OpEvent, "events", "Read one public event", postTTL,
		one(func(p prov) providers.One[schema.Event] { return p.Event }))
	opEvents = read[EventsRequest, []schema.Event](providers.OpEvents, "events", "List the events of a host or at a place", postTTL,
		manyBy(func(p prov) providers.ListBy[providers.EventsQuery, schema.Event] { return p.Events },
			func(in args) providers.EventsQuery {
				return providers.EventsQuery{Handle: in.get("handle"), Place: in.get("place"), Time: in.get("time")}
			}))
	opEventsSearch = read[EventsSearchRequest, []schema.Event](providers.OpEventsSearch, "events", "Search for public events", postTTL,
		many(func(p prov) providers.List[schema.Event] { return p.EventsSearch }))
)

// reads lists the rows above. Nobody writes to it.
var reads = []*Operation{
	&opProfile.Operation, &opFollowers.Operation, &opFollowing.Operation, &opAudience.Operation, &opLive.Operation,
	&opLinked.Operation, &opPosts.Operation, &opPost.Operation, &opTrending.Operation, &opSearch.Operation,
	&opSuggestions.Operation, &opComments.Operation, &opReplies.Operation, &opTranscript.Operation, &opReels.Operation,
	&opCollections.Operation, &opCollection.Operation, &opCollectionPosts.Operation, &opCollectionTracks.Operation,
	&opTrack.Operation, &opTracks.Operation, &opTrackPosts.Operation, &opCommunity.Operation, &opCommunityPosts.Operation,
	&opProducts.Operation, &opProduct.Operation, &opReviews.Operation, &opStore.Operation, &opAds.Operation,
	&opAdsSearch.Operation, &opAd.Operation, &opAdvertisers.Operation, &opEvent.Operation, &opEvents.Operation,
	&opEventsSearch.Operation,
}

func searchQuery(in args) providers.SearchQuery {
	return providers.SearchQuery{
		Query: in.get("query"), Kind: schema.ResultKind(in.get("kind")), Sort: in.get("sort"),
		Since: in.time("since"), Until: in.time("until"),
		Region: in.get("region"), Lang: in.get("lang"), Handle: in.get("handle"),
	}
}

func collectionQuery(in args) providers.CollectionQuery {
	return providers.CollectionQuery{ID: in.get("id"), Kind: schema.CollectionKind(in.get("kind"))}
}

func adFilter(in args) providers.AdFilter {
	return providers.AdFilter{
		Country: in.get("country"), Status: in.get("status"), Since: in.time("since"), Until: in.time("until"),
	}
}
