package socialdata

import (
	"context"
	"iter"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/schema"
)

// Paged is a request that can ask for another page of the same list.
type Paged[Req any] interface{ at(cursor string) Req }

// mostIdle is how many pages in a row may bring nothing new before a walk ends: each of them has passed over several of
// the upstream's, and each has its price.
const mostIdle = 30

// Walk returns every item of a paged operation, page after page, until the list ends, the caller breaks off or a page
// fails: the failure is then the last pair. It begins at the request's Cursor. No item comes twice; a list that brings
// nothing but what has been there before has ended.
//
//	for post, err := range socialdata.Walk(ctx, client.Posts, socialdata.PostsRequest{Platform: platform.GitHub, Handle: "octocat"}) {
//		…
//	}
//
// Each page is a call with its own price.
func Walk[Req Paged[Req], T any](
	ctx context.Context, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next, seen := req, map[uint64]bool{}
		for idle := 0; idle <= mostIdle; idle++ {
			got, err := page(ctx, next)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			var here []uint64
			for _, item := range got.Data {
				id, ok := itemID(&item)
				if ok && seen[id] {
					continue
				}
				idle = -1
				if !yield(item, nil) {
					return
				}
				here = append(here, id)
			}
			for _, id := range here {
				seen[id] = true
			}
			if got.Meta.NextCursor == "" {
				return
			}
			next = req.at(got.Meta.NextCursor)
		}
	}
}

// itemID returns what tells an item apart, if it is a resource.
func itemID(item any) (uint64, bool) {
	o, ok := item.(schema.Object)
	if r, isResult := item.(*schema.SearchResult); isResult {
		o, ok = r.Object, r.Object != nil
	}
	if !ok {
		return 0, false
	}
	return cursor.Identity(o), true
}

func (r FollowersRequest) at(cursor string) FollowersRequest { r.Cursor = cursor; return r }

func (r FollowingRequest) at(cursor string) FollowingRequest { r.Cursor = cursor; return r }

func (r PostsRequest) at(cursor string) PostsRequest { r.Cursor = cursor; return r }

func (r ReelsRequest) at(cursor string) ReelsRequest { r.Cursor = cursor; return r }

func (r TracksRequest) at(cursor string) TracksRequest { r.Cursor = cursor; return r }

func (r TrendingRequest) at(cursor string) TrendingRequest { r.Cursor = cursor; return r }

func (r SearchRequest) at(cursor string) SearchRequest { r.Cursor = cursor; return r }

func (r CommentsRequest) at(cursor string) CommentsRequest { r.Cursor = cursor; return r }

func (r RepliesRequest) at(cursor string) RepliesRequest { r.Cursor = cursor; return r }

func (r CollectionsRequest) at(cursor string) CollectionsRequest { r.Cursor = cursor; return r }

func (r CollectionPostsRequest) at(cursor string) CollectionPostsRequest { r.Cursor = cursor; return r }

func (r CollectionTracksRequest) at(cursor string) CollectionTracksRequest {
	r.Cursor = cursor
	return r
}

func (r TrackPostsRequest) at(cursor string) TrackPostsRequest { r.Cursor = cursor; return r }

func (r CommunityPostsRequest) at(cursor string) CommunityPostsRequest { r.Cursor = cursor; return r }

func (r ProductsRequest) at(cursor string) ProductsRequest { r.Cursor = cursor; return r }

func (r ReviewsRequest) at(cursor string) ReviewsRequest { r.Cursor = cursor; return r }

func (r AdsRequest) at(cursor string) AdsRequest { r.Cursor = cursor; return r }

func (r AdsSearchRequest) at(cursor string) AdsSearchRequest { r.Cursor = cursor; return r }

func (r AdvertisersRequest) at(cursor string) AdvertisersRequest { r.Cursor = cursor; return r }

func (r EventsRequest) at(cursor string) EventsRequest { r.Cursor = cursor; return r }

func (r EventsSearchRequest) at(cursor string) EventsSearchRequest { r.Cursor = cursor; return r }

func (r UsageRequest) at(cursor string) UsageRequest { r.Cursor = cursor; return r }

func (r SearchAcrossRequest) at(cursor string) SearchAcrossRequest { r.Cursor = cursor; return r }
