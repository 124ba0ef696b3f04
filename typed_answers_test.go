package socialdata_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
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
			posts := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
			raw, enriched := posts, posts
			raw.IncludeRaw, enriched.Enrich = true, socialdata.Arabic
			wantEncoded(t, c, "profile", url.Values{"handle": {"salma"}}, c.Profile, salma())
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}}, c.Posts, posts)
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}, "include_raw": {"true"}}, c.Posts, raw)
			wantEncoded(t, c, "posts", url.Values{"handle": {"salma"}, "enrich": {"arabic"}}, c.Posts, enriched)
			wantEncoded(t, c, "search", url.Values{"query": {"coffee"}}, c.Search,
				socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee"})
			wantEncoded(t, c, "linked", url.Values{"handle": {"salma"}}, c.Linked,
				socialdata.LinkedRequest{Platform: platform.Mock, Handle: "salma"})
			wantEncoded(t, c, "store", url.Values{"id": {"store_1"}}, c.Store,
				socialdata.StoreRequest{Platform: platform.Mock, ID: "store_1"})
		})
	}
}

// wantEncoded makes a read three times, from upstream and twice from the cache, and compares each typed answer with the
// encoded one.
func wantEncoded[R, T any](
	t *testing.T, c *socialdata.Client, op string, params url.Values,
	read func(context.Context, R) (*schema.Envelope[T], error), req R,
) {
	t.Helper()
	var typed [3]*schema.Envelope[T]
	for i := range typed {
		var err error
		if typed[i], err = read(t.Context(), req); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	a, err := socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation(op), operation.Call{Platform: "mock", Params: params})
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

// wantOwn overwrites what a read has returned, while other callers read the same.
func wantOwn[T any](t *testing.T, read func() (*schema.Envelope[[]T], error), overwrite func(*T)) {
	t.Helper()
	first, err := read()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(first.Data)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				got, err := read()
				if err != nil {
					t.Error(err)
					return
				}
				if b, err := json.Marshal(got.Data); err != nil || !bytes.Equal(b, want) {
					t.Errorf("the answer of a caller was another's: %v\n%s\nwant\n%s", err, b, want)
				}
				for i := range got.Data {
					overwrite(&got.Data[i])
				}
			}
		})
	}
	all.Wait()
}

func TestAnswersAreNotShared(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	wantOwn(t, func() (*schema.Envelope[[]schema.Post], error) {
		return e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
	}, func(p *schema.Post) {
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
	})
}

// wantSame compares a typed answer with an encoded one. Times must be the same in every respect.
func wantSame(t *testing.T, what string, a *operation.Answer, got *schema.Envelope[[]schema.SearchResult]) {
	t.Helper()
	var want []schema.SearchResult
	if err := json.Unmarshal(a.Data, &want); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	exactly := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.String() == b.String() })
	if diff := cmp.Diff(want, got.Data, exactly); diff != "" {
		t.Errorf("%s (-encoded +typed):\n%s", what, diff)
	}
}

func TestTypedSearchesEqualEncodedOnes(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]socialdata.SearchAcrossRequest{
		"plain":    {},
		"raw":      {ReadOptions: socialdata.ReadOptions{IncludeRaw: true}},
		"enriched": {ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic}},
		"recent":   {Sort: "recent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{
				Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X, platform.YouTube, platform.Spotify),
			})
			typed := func(query, cursor string) *schema.Envelope[[]schema.SearchResult] {
				req := more
				req.Query, req.Cursor = query, cursor
				got, err := e.Client.SearchAcross(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			encoded := func(query, cursor string) *operation.Answer {
				params := url.Values{"query": {query}}
				for name, v := range map[string]string{"cursor": cursor, "sort": more.Sort, "enrich": string(more.Enrich)} {
					if v != "" {
						params.Set(name, v)
					}
				}
				if more.IncludeRaw {
					params.Set("include_raw", "true")
				}
				a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"), operation.Call{Params: params})
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			got := typed("tea", "")
			a := encoded("tea", "")
			wantSame(t, "read by the typed call", a, got)
			if len(got.Data) == 0 || got.Meta.NextCursor == "" || a.Meta.NextCursor != got.Meta.NextCursor {
				t.Errorf("%d results, %+v, encoded %+v", len(got.Data), got.Meta, a.Meta)
			}
			wantSame(t, "read before", a, typed("tea", ""))
			a = encoded("milk", "")
			wantSame(t, "read by the encoded call", a, typed("milk", ""))
			wantSame(t, "the second page", encoded("tea", got.Meta.NextCursor), typed("tea", got.Meta.NextCursor))
		})
	}
}

func TestTypedSearchesAreNotShared(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{
		Credits: 1 << 30, Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X),
	})
	wantOwn(t, func() (*schema.Envelope[[]schema.SearchResult], error) {
		return e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "tea"})
	}, func(r *schema.SearchResult) {
		r.Shared().ID = "overwritten"
		if p, ok := r.Object.(*schema.Post); ok {
			p.Text, p.Hashtags, *p.CreatedAt = "overwritten", append(p.Hashtags, "more"), time.Time{}
			for j := range p.Media {
				p.Media[j].URL = "overwritten"
			}
		}
	})
}

func TestTypedJobsEqualEncodedOnes(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	late := mock.NewFor(platform.X, mock.Config{})
	search := late.Search
	late.Search = func(
		ctx context.Context, q providers.SearchQuery, cursor string,
	) (providers.Page[schema.SearchResult], error) {
		<-release
		return search(ctx, q, cursor)
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{mock.NewFor(platform.TikTok, mock.Config{}), late}})
	ctx := t.Context()
	first, err := e.Client.SearchAcross(ctx, socialdata.SearchAcrossRequest{
		Query: "tea", Platforms: []platform.ID{platform.TikTok, platform.X}, Wait: time.Millisecond,
	})
	if err != nil || first.Meta.JobID == "" {
		t.Fatalf("got %+v, %v; want a job", first, err)
	}
	close(release)
	rest, err := e.Client.Job(ctx, socialdata.JobRequest{ID: first.Meta.JobID, Wait: 10 * time.Second})
	if err != nil || len(rest.Data) <= len(first.Data) || rest.Meta.JobID != "" {
		t.Fatalf("got %+v, %v; want more results and no job", rest, err)
	}
	a, err := socialdata.FrontEnd(e.Client).Do(ctx, socialdata.Operation("job"), operation.Call{Params: url.Values{"id": {first.Meta.JobID}}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := e.Client.Job(ctx, socialdata.JobRequest{ID: first.Meta.JobID})
	if err != nil || len(whole.Data) != len(rest.Data) {
		t.Fatalf("got %d results, %v; want all %d", len(whole.Data), err, len(rest.Data))
	}
	wantSame(t, "everything again", a, whole)
	view := url.Values{"id": {first.Meta.JobID}, "limit": {"2"}, "fields": {"kind"}}
	a, err = socialdata.FrontEnd(e.Client).Do(ctx, socialdata.Operation("job"), operation.Call{Params: view})
	var some []map[string]any
	if err == nil {
		err = json.Unmarshal(a.Data, &some)
	}
	if err != nil || len(some) != 2 || len(some[0]) != 4 {
		t.Errorf("got %s, %v; want two results with their kinds", a.Data, err)
	}
	for _, r := range append(first.Data, rest.Data...) {
		i := slices.IndexFunc(whole.Data, func(x schema.SearchResult) bool { return x.Shared().URL == r.Shared().URL })
		if i < 0 {
			t.Errorf("%s is not among all", r.Shared().URL)
		} else if diff := cmp.Diff(whole.Data[i], r); diff != "" {
			t.Errorf("%s (-again +before):\n%s", r.Shared().URL, diff)
		}
	}
}

func TestTypedSearchesWithAKeyAreReplayed(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	req := socialdata.SearchAcrossRequest{Query: "tea", ReadOptions: socialdata.ReadOptions{IdempotencyKey: "0123456789abcdef"}}
	first, err := e.Client.SearchAcross(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	before := e.Balance(t)
	again, err := e.Client.SearchAcross(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Data, again.Data); diff != "" || e.Balance(t) != before {
		t.Errorf("%d credits, then %d (-first +again):\n%s", before, e.Balance(t), diff)
	}
}

// odd returns results with what JSON does not keep: a text that is not UTF-8, and times with a zone and with a reading
// of the monotonic clock. The objects are the same for each call.
func odd(text string) providers.Provider {
	zoned, now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("AST", 3*60*60)), time.Now()
	posts := make([]schema.SearchResult, 0, 2)
	for i, at := range []*time.Time{&zoned, &now} {
		r := enginetest.By("ann", "p"+strconv.Itoa(i), 1)
		p, _ := r.Object.(*schema.Post)
		p.Text, p.CreatedAt = text, at
		posts = append(posts, r)
	}
	return enginetest.Searcher(platform.X, enginetest.Lists(10, posts...))
}

func TestTypedAnswersEqualDecodedJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"text", "not UTF-8: \xff", "\ufffd", `\ufffd`} {
		e := enginetest.Of(t, odd(text))
		got, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "tea"})
		if err != nil {
			t.Fatal(err)
		}
		one, err := e.Client.Search(t.Context(), socialdata.SearchRequest{Platform: platform.X, Query: "milk"})
		if err != nil {
			t.Fatal(err)
		}
		for query, typed := range map[string]*schema.Envelope[[]schema.SearchResult]{"tea": got, "milk": one} {
			a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search"), operation.Call{
				Platform: "x", Params: url.Values{"query": {query}},
			})
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, strconv.Quote(text)+" "+query, a, typed)
		}
	}
}
