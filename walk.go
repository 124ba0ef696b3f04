package socialdata

import (
	"context"
	"iter"

	"github.com/socialdata/socialdata/schema"
)

// Walk returns every item of a paged operation, page after page, until the list ends, the caller breaks off or a page
// fails: the failure is then the last pair. Fetch reads the page at a cursor, "" for the first. No item comes twice; a
// list that brings nothing but what has been there before has ended.
//
//	posts := socialdata.Walk(func(cursor string) (*schema.Envelope[[]schema.Post], error) {
//		req.Cursor = cursor
//		return client.Posts(ctx, req)
//	})
//	for post, err := range posts {
//		…
//	}
//
// Each page is a call with its own price.
func Walk[T any](fetch func(cursor string) (*schema.Envelope[[]T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor, seen := "", map[uint64]bool{}
		for idle := 0; idle <= maxEmpty; idle++ {
			page, err := fetch(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			var here []uint64
			for _, item := range page.Data {
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
			if cursor = page.Meta.NextCursor; cursor == "" {
				return
			}
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
	return identity(o), true
}

// AllPosts walks an account's posts, newest first.
func (c *Client) AllPosts(ctx context.Context, req PostsRequest) iter.Seq2[schema.Post, error] {
	return Walk(func(cursor string) (*schema.Envelope[[]schema.Post], error) {
		req.Cursor = cursor
		return c.Posts(ctx, req)
	})
}

// AllComments walks the comments on a post.
func (c *Client) AllComments(ctx context.Context, req CommentsRequest) iter.Seq2[schema.Comment, error] {
	return Walk(func(cursor string) (*schema.Envelope[[]schema.Comment], error) {
		req.Cursor = cursor
		return c.Comments(ctx, req)
	})
}

// AllFollowers walks the accounts that follow an account.
func (c *Client) AllFollowers(ctx context.Context, req AccountsRequest) iter.Seq2[schema.Profile, error] {
	return Walk(func(cursor string) (*schema.Envelope[[]schema.Profile], error) {
		req.Cursor = cursor
		return c.Followers(ctx, req)
	})
}

// AllResults walks the results of a search on one platform.
func (c *Client) AllResults(ctx context.Context, req SearchRequest) iter.Seq2[schema.SearchResult, error] {
	return Walk(func(cursor string) (*schema.Envelope[[]schema.SearchResult], error) {
		req.Cursor = cursor
		return c.Search(ctx, req)
	})
}
