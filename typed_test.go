package socialdata_test

import (
	"context"
	"encoding/json"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// remote is a cache without entries in this process.
type remote struct{ *cache.Memory }

func (remote) Peek()       {} // so that it is not a cache.Near
func (remote) Keep(string) {}

func TestTypedAnswersEqualEncodedOnes(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(func() time.Time) cache.Store{
		"near":   func(now func() time.Time) cache.Store { return cache.NewMemory(cache.MemoryConfig{Now: now}) },
		"remote": func(now func() time.Time) cache.Store { return remote{cache.NewMemory(cache.MemoryConfig{Now: now})} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{Cache: store(func() time.Time { return enginetest.Start })})
			c := e.Client
			wantEncoded(t, c, "profile", url.Values{"handle": {"salma"}},
				func(ctx context.Context) (*schema.Envelope[schema.Profile], error) {
					return c.Profile(ctx, salma())
				})
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}},
				func(ctx context.Context) (*schema.Envelope[[]schema.Post], error) {
					return c.Posts(ctx, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
				})
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}, "include_raw": {"true"}},
				func(ctx context.Context) (*schema.Envelope[[]schema.Post], error) {
					return c.Posts(ctx, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma", IncludeRaw: true})
				})
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}, "enrich": {"arabic"}},
				func(ctx context.Context) (*schema.Envelope[[]schema.Post], error) {
					return c.Posts(ctx, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma", Enrich: socialdata.Arabic})
				})
			wantEncoded(t, c, "search", url.Values{"query": {"coffee"}},
				func(ctx context.Context) (*schema.Envelope[[]schema.SearchResult], error) {
					return c.Search(ctx, socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee"})
				})
			wantEncoded(t, c, "linked", url.Values{"handle": {"salma"}},
				func(ctx context.Context) (*schema.Envelope[[]schema.LinkedProfile], error) {
					return c.Linked(ctx, socialdata.LinkedRequest{Platform: platform.Mock, Handle: "salma"})
				})
			wantEncoded(t, c, "store", url.Values{"id": {"store_1"}},
				func(ctx context.Context) (*schema.Envelope[schema.StoreSummary], error) {
					return c.Store(ctx, socialdata.StoreRequest{Platform: platform.Mock, ID: "store_1"})
				})
		})
	}
}

// wantEncoded makes a read three times, from upstream and twice from the cache, and compares each typed answer with the
// encoded one.
func wantEncoded[T any](
	t *testing.T, c *socialdata.Client, op string, params url.Values,
	read func(context.Context) (*schema.Envelope[T], error),
) {
	t.Helper()
	var typed [3]*schema.Envelope[T]
	for i := range typed {
		var err error
		if typed[i], err = read(t.Context()); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	a, err := c.Do(t.Context(), socialdata.Operation(op), operation.Call{Platform: "mock", Params: params})
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	var want T
	if err := json.Unmarshal(a.Data, &want); err != nil {
		t.Fatal(err)
	}
	for i, got := range typed {
		if diff := cmp.Diff(want, got.Data); diff != "" {
			t.Errorf("%s, read %d (-encoded +typed):\n%s", op, i+1, diff)
		}
		if got.Meta.NextCursor != a.Meta.NextCursor || i > 0 && got.Meta.Cache != schema.Hit {
			t.Errorf("%s, read %d: meta %+v, encoded %+v", op, i+1, got.Meta, a.Meta)
		}
	}
}

func TestAnswersAreNotShared(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	posts := func() []schema.Post {
		got, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
		if err != nil {
			t.Error(err)
			return nil
		}
		return got.Data
	}
	want := posts()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				got := posts()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the answer of a caller was another's (-want +got):\n%s", diff)
				}
				for i := range got {
					p := &got[i]
					p.Text, *p.CreatedAt = "overwritten", time.Time{}
					for _, n := range []*int64{p.Engagement.Likes, p.Engagement.Comments, p.Engagement.Views} {
						if n != nil {
							*n = -1
						}
					}
					for j := range p.Media {
						p.Media[j].URL = "overwritten"
					}
					p.Hashtags = append(p.Hashtags, "one", "more")
					p.Mentions = append(p.Mentions, "another")
					clear(p.Hashtags)
				}
			}
		})
	}
	all.Wait()
}
