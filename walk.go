package socialdata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/schema"
)

// Paged is a request that can request another page of the same list.
type Paged[Req any] interface{ at(cursor string) Req }

// mostIdle is the number of consecutive pages without new items after which a walk ends: each of them has skipped
// several pages of the upstream, and each has its price.
const mostIdle = 30

// Pages yields the pages of a list, each with its Meta, until the list ends, the caller breaks, or a page fails: the
// error is then the last pair. It begins at the request's Cursor, so that a list can be continued later at the
// Meta.NextCursor of any page. Items of earlier pages are left out of Data, and a list that returns nothing else ends.
// A page without items is yielded too, since it was charged.
//
//	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "octocat"}
//	for page, err := range socialdata.Pages(ctx, client.Posts, req) {
//		…
//	}
func Pages[Req Paged[Req], T any](
	ctx context.Context, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) iter.Seq2[*schema.Envelope[[]T], error] {
	return func(yield func(*schema.Envelope[[]T], error) bool) {
		next, seen := req, map[uint64]bool{}
		for idle := 0; idle <= mostIdle; idle++ {
			got, err := page(ctx, next)
			if err != nil {
				yield(nil, err)
				return
			}
			own := &schema.Envelope[[]T]{Data: unseen(got.Data, seen), Meta: got.Meta}
			if len(own.Data) > 0 {
				idle = -1
			}
			if !yield(own, nil) || got.Meta.NextCursor == "" {
				return
			}
			next = req.at(got.Meta.NextCursor)
		}
	}
}

// unseen returns the items of a page that are not in seen, and adds them to it.
func unseen[T any](page []T, seen map[uint64]bool) []T {
	out, here := make([]T, 0, len(page)), make([]uint64, 0, len(page))
	for i := range page {
		id, ok := itemID(&page[i])
		if ok && seen[id] {
			continue
		}
		out = append(out, page[i])
		if ok {
			here = append(here, id)
		}
	}
	for _, id := range here {
		seen[id] = true
	}
	return out
}

// Walk yields the items of [Pages] one by one.
//
//	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "octocat"}
//	for post, err := range socialdata.Walk(ctx, client.Posts, req) {
//		…
//	}
//
// Each page is a call with its own price.
func Walk[Req Paged[Req], T any](
	ctx context.Context, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range Pages(ctx, page, req) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// keyAt returns the idempotency key of the page at a cursor, for a list whose first page has the key first.
func keyAt(first, cursor string) string {
	if first == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(first + "|" + cursor))
	return hex.EncodeToString(sum[:])
}

// itemID returns a hash that identifies an item, if it is a resource.
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

func (r FollowersRequest) at(cursor string) FollowersRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r FollowingRequest) at(cursor string) FollowingRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r PostsRequest) at(cursor string) PostsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r ReelsRequest) at(cursor string) ReelsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r TracksRequest) at(cursor string) TracksRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r TrendingRequest) at(cursor string) TrendingRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r SearchRequest) at(cursor string) SearchRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r CommentsRequest) at(cursor string) CommentsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r RepliesRequest) at(cursor string) RepliesRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r CollectionsRequest) at(cursor string) CollectionsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r CollectionPostsRequest) at(cursor string) CollectionPostsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r CollectionTracksRequest) at(cursor string) CollectionTracksRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r TrackPostsRequest) at(cursor string) TrackPostsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r CommunityPostsRequest) at(cursor string) CommunityPostsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r ProductsRequest) at(cursor string) ProductsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r ReviewsRequest) at(cursor string) ReviewsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r AdsRequest) at(cursor string) AdsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r AdsSearchRequest) at(cursor string) AdsSearchRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r AdvertisersRequest) at(cursor string) AdvertisersRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r EventsRequest) at(cursor string) EventsRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r EventsSearchRequest) at(cursor string) EventsSearchRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}

func (r UsageRequest) at(cursor string) UsageRequest { r.Cursor = cursor; return r }

func (r RequestsRequest) at(cursor string) RequestsRequest { r.Cursor = cursor; return r }

func (r KeysRequest) at(cursor string) KeysRequest { r.Cursor = cursor; return r }

func (r MonitorsRequest) at(cursor string) MonitorsRequest { r.Cursor = cursor; return r }

func (r ChangesRequest) at(cursor string) ChangesRequest { r.Cursor = cursor; return r }

func (r EndpointsRequest) at(cursor string) EndpointsRequest { r.Cursor = cursor; return r }

func (r DeliveriesRequest) at(cursor string) DeliveriesRequest { r.Cursor = cursor; return r }

func (r HistoryRequest) at(cursor string) HistoryRequest { r.Cursor = cursor; return r }

func (r SearchAcrossRequest) at(cursor string) SearchAcrossRequest {
	r.Cursor, r.IdempotencyKey = cursor, keyAt(r.IdempotencyKey, cursor)
	return r
}
