package read_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// postsFrom returns n posts whose ids begin at from.
func postsFrom(from, n int) []schema.Post {
	out := make([]schema.Post, 0, n)
	for i := range n {
		out = append(out, enginetest.Post(strconv.Itoa(from+i)))
	}
	return out
}

// list is a provider whose n-th page is made by page.
func list(page func(ctx context.Context, n int) (providers.Page[schema.Post], error)) providers.Provider {
	return enginetest.Posts(platform.GitHub, "list", func(ctx context.Context, _, token string) (providers.Page[schema.Post], error) {
		n, _ := strconv.Atoi(strings.TrimLeft(token, "x"))
		return page(ctx, n)
	})
}

// walked reads pages until the list ends, at most most of them, and returns the ids on each.
func walked(t *testing.T, c *socialdata.Client, most int) [][]string {
	t.Helper()
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
	var pages [][]string
	for range most {
		got, err := c.Posts(t.Context(), req)
		if err != nil {
			t.Fatalf("page %d: %v", len(pages)+1, err)
		}
		ids := []string{}
		for _, p := range got.Data {
			ids = append(ids, p.ID)
		}
		pages = append(pages, ids)
		if req.Cursor = got.Meta.NextCursor; req.Cursor == "" {
			break
		}
		if len(req.Cursor) > operation.MaxCursor {
			t.Fatalf("page %d has a cursor of %d bytes, more than may be sent", len(pages), len(req.Cursor))
		}
	}
	return pages
}

func TestLongTokensAreWalkedToTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 4040, 6100, 8000, 50_000} {
		e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
			page := providers.Page[schema.Post]{Items: postsFrom(n*100, 100)}
			if n < 9 {
				page.Next = strings.Repeat("x", size) + strconv.Itoa(n+1)
			}
			return page, nil
		}))
		if pages := walked(t, e.Client, 100); len(pages) != 10 {
			t.Errorf("tokens of %d bytes: the walk ends after %d pages", size, len(pages))
		}
	}
}

func TestAWalkContinuesAfterEmptyPages(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
		if n == 20 {
			return providers.Page[schema.Post]{Items: postsFrom(0, 2)}, nil
		}
		return providers.Page[schema.Post]{Next: strconv.Itoa(n + 1)}, nil
	}))
	want := [][]string{{}, {}, {}, {"0", "1"}}
	if diff := cmp.Diff(want, walked(t, e.Client, 100)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// TestAWalkWithoutRowsEnds checks that an upstream that always announces another page, and never sends a row, cannot
// make a caller pay for more than one page.
func TestAWalkWithoutRowsEnds(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
		calls.Add()
		if n == 0 {
			return providers.Page[schema.Post]{Items: postsFrom(0, 1), Next: "1"}, nil
		}
		return providers.Page[schema.Post]{Next: strconv.Itoa(n + 1)}, nil
	}))
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
	const end = "the upstream sends page after page without rows"
	var pages []int64 // the credits of each
	var cause error
	for page, err := range socialdata.Pages(t.Context(), e.Client.Posts, req) {
		if cause = err; err == nil {
			pages, req.Cursor = append(pages, page.Meta.CreditsUsed), page.Meta.NextCursor
		}
	}
	enginetest.WantProblem(t, cause, problem.PlatformUnavailable, end)
	if diff := cmp.Diff([]int64{1, 1, 0, 0}, pages); diff != "" {
		t.Errorf("credits of the pages (-want +got):\n%s", diff)
	}
	if got := e.Balance(t); got != 998 {
		t.Errorf("%d credits are left, want 998", got)
	}
	if n := calls.Count(); n > 1+4*6 {
		t.Errorf("%d requests", n)
	}
	_, err := e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, end)
	e.Clock.Advance(time.Hour)
	if page, err := e.Client.Posts(t.Context(), req); err != nil || page.Meta.NextCursor == "" {
		t.Errorf("an hour later: %v, %v; want an empty page with a cursor", page, err)
	}
}

// TestRowsThatDoNotBelongAreRows checks that a walk over pages of rows that are all left out continues.
func TestRowsThatDoNotBelongAreRows(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, list(func(ctx context.Context, n int) (providers.Page[schema.Post], error) {
		if n == 60 {
			return providers.Page[schema.Post]{Items: postsFrom(0, 1)}, nil
		}
		callctx.Of(ctx).Trace.Rows(3)
		return providers.Page[schema.Post]{Next: strconv.Itoa(n + 1)}, nil
	}))
	if pages := walked(t, e.Client, 100); len(pages) != 11 {
		t.Errorf("%d pages, want 11", len(pages))
	}
	if got := e.Balance(t); got != 1000-11 {
		t.Errorf("%d credits are left; want each page charged", got)
	}
}

func TestARefusedLaterPageIsNotTheCallersFault(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"a dead cursor": providers.ErrCursor, "an input": providers.Invalid("cannot read this value"),
		"an absence": providers.NotFound("gone"), "a source of limited sight": providers.NotHere("gone from here"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := false
			e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
				switch {
				case n == 0:
					return providers.Page[schema.Post]{Next: "1"}, nil
				case !refused:
					refused = true
					return providers.Page[schema.Post]{}, refusal
				}
				return providers.Page[schema.Post]{Items: postsFrom(0, 1)}, nil
			}))
			req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
			_, err := e.Client.Posts(t.Context(), req)
			enginetest.WantProblem(t, err, problem.PlatformUnavailable, "refused the next page of its own list")
			if got := e.Balance(t); got != 1000 {
				t.Errorf("%d credits are left", got)
			}
			if got, err := e.Client.Posts(t.Context(), req); err != nil || len(got.Data) != 1 { // the absence is not cached
				t.Errorf("when the upstream is well again: %v, %v", got, err)
			}
		})
	}
}

func TestAListOfNothingButRepeatsEnds(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
		calls.Add()
		return providers.Page[schema.Post]{Items: postsFrom(0, 3), Next: strconv.Itoa(n + 1)}, nil
	}))
	want := [][]string{{"0", "1", "2"}, {}}
	if diff := cmp.Diff(want, walked(t, e.Client, 100)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if calls.Count() != 7 {
		t.Errorf("%d upstream calls", calls.Count())
	}
}

func TestAWalkReturnsBeforeSlowEmptyPagesTimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, list(func(ctx context.Context, n int) (providers.Page[schema.Post], error) {
			select {
			case <-time.After(4 * time.Second):
			case <-ctx.Done():
				return providers.Page[schema.Post]{}, ctx.Err()
			}
			if n == 8 {
				return providers.Page[schema.Post]{Items: postsFrom(0, 2)}, nil
			}
			return providers.Page[schema.Post]{Next: strconv.Itoa(n + 1)}, nil
		}))
		began := time.Now()
		want := [][]string{{}, {}, {"0", "1"}}
		if diff := cmp.Diff(want, walked(t, e.Client, 100)); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("three calls took %v", took)
		}
	})
}

func TestALateFirstPageIsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, list(func(ctx context.Context, _ int) (providers.Page[schema.Post], error) {
			<-ctx.Done()
			return providers.Page[schema.Post]{}, ctx.Err()
		}))
		_, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
	})
}

func TestAPinnedPostIsReturnedOnce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 50, 400} {
		e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
			items := append([]schema.Post{enginetest.Post("pinned")}, postsFrom(n*size, size)...)
			return providers.Page[schema.Post]{Items: items, Next: strconv.Itoa(n + 1)}, nil
		}))
		for i, ids := range walked(t, e.Client, 20) {
			if want := max(size, size+1-i); len(ids) != want {
				t.Errorf("page %d has %d posts, want %d", i+1, len(ids), want)
			}
		}
	}
}

func TestClientsWithDifferentCursorKeysShareACache(t *testing.T) {
	t.Parallel()
	shared := cache.NewMemory(cache.MemoryConfig{})
	instance := func() *socialdata.Client {
		c, err := socialdata.New(socialdata.WithCache(shared), socialdata.WithProviders(mock.New(mock.Config{})))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := instance(), instance()
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
	if _, err := a.Posts(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got, err := b.Posts(t.Context(), req)
	if err != nil || got.Meta.Cache != schema.Hit {
		t.Fatalf("%v, %v", got, err)
	}
	req.Cursor = got.Meta.NextCursor
	if _, err := b.Posts(t.Context(), req); err != nil {
		t.Errorf("page two of the other instance: %v", err)
	}
	if _, err := a.Posts(t.Context(), req); err == nil {
		t.Error("a cursor that somebody else has sealed is accepted")
	}
}

func TestARowThatCannotBeEncodedIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*schema.Post){
		"year 12000": func(p *schema.Post) { p.CreatedAt = new(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"no number": func(p *schema.Post) {
			p.Media = []schema.Media{{Type: schema.Video, URL: "https://a.example/v", DurationS: new(math.NaN())}}
		},
		"no page": func(p *schema.Post) { p.URL = "" },
	} {
		e := enginetest.Of(t, list(func(context.Context, int) (providers.Page[schema.Post], error) {
			items := postsFrom(0, 20)
			spoil(&items[7])
			return providers.Page[schema.Post]{Items: items}, nil
		}))
		req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
		got, err := e.Client.Posts(t.Context(), req)
		if err != nil || len(got.Data) != 19 || got.Meta.Raw != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		req.IncludeRaw = true
		if got, err = e.Client.Posts(t.Context(), req); err != nil || string(got.Meta.Raw) != `{"left_out":1}` {
			t.Errorf("%s: meta.raw is %s, %v", name, got.Meta.Raw, err)
		}
	}
}

func TestRowsThatTheProviderLeftOutAreCounted(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, list(func(ctx context.Context, _ int) (providers.Page[schema.Post], error) {
		for range 2 {
			callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{"items[]"}, LeftOut: true})
		}
		return providers.Page[schema.Post]{Items: postsFrom(0, 3), Raw: json.RawMessage(`{"a": 1}`)}, nil
	}))
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a", ReadOptions: socialdata.ReadOptions{IncludeRaw: true}}
	got, err := e.Client.Posts(t.Context(), req)
	if err != nil || string(got.Meta.Raw) != `{"left_out":2,"page":{"a":1}}` {
		t.Errorf("meta.raw is %s, %v", got.Meta.Raw, err)
	}
}

func TestAPageOfRepeatsAndInvalidRowsIsNotAFailure(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, list(func(_ context.Context, n int) (providers.Page[schema.Post], error) {
		page := providers.Page[schema.Post]{Items: postsFrom(0, 3)}
		if n == 0 {
			page.Next = "1"
			return page, nil
		}
		page.Items[1].URL = ""
		return page, nil
	}))
	if diff := cmp.Diff([][]string{{"0", "1", "2"}, {}}, walked(t, e.Client, 5)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestTheItemsOfAPageAreLimited(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, list(func(context.Context, int) (providers.Page[schema.Post], error) {
		return providers.Page[schema.Post]{Items: postsFrom(0, 100_000)}, nil
	}))
	got, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"})
	if err != nil || len(got.Data) != 1000 {
		t.Errorf("%d items of 100,000, %v", len(got.Data), err)
	}
	empty := enginetest.Of(t, list(func(context.Context, int) (providers.Page[schema.Post], error) {
		return providers.Page[schema.Post]{Items: make([]schema.Post, 200_000)}, nil
	}))
	_, err = empty.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "breaks the schema")
}

// shop is a provider of a store, the only object with a raw of the page.
func shop(raw func() string) providers.Provider {
	return providers.Provider{
		Name: "shop", Platform: platform.Salla, Source: schema.Own,
		Store: func(context.Context, string) (providers.Storefront, error) {
			return providers.Storefront{
				StoreSummary: schema.StoreSummary{ID: "1", Name: "n", URL: "https://a.example/"}, Raw: json.RawMessage(raw()),
			}, nil
		},
	}
}

func TestAnswersAreNotShared(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, shop(func() string { return `{"secret":"value"}` }))
	req := socialdata.StoreRequest{Platform: platform.Salla, ID: "1", ReadOptions: socialdata.ReadOptions{IncludeRaw: true}}
	call := operation.Call{Platform: "salla", Params: map[string][]string{"id": {"1"}}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				got, err := e.Client.Store(t.Context(), req)
				if err != nil || string(got.Meta.Raw) != `{"secret":"value"}` {
					t.Errorf("meta.raw is %s, %v", got.Meta.Raw, err)
					return
				}
				clear(got.Meta.Raw)
				a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("store"), call)
				if err != nil || !json.Valid(a.Data) {
					t.Errorf("data is %s, %v", a.Data, err)
					return
				}
				clear(a.Data)
			}
		})
	}
	wg.Wait()
}

// tagOf makes a call and returns its ETag.
func tagOf(t *testing.T, c *socialdata.Client, op, id string, params ...string) string {
	t.Helper()
	call := operation.Call{Platform: id, Params: map[string][]string{}}
	for i := 0; i < len(params); i += 2 {
		call.Params.Set(params[i], params[i+1])
	}
	a, err := socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation(op), call)
	if err != nil {
		t.Fatal(err)
	}
	if want := call.Params.Get("fresh") == "true"; a.Fresh != want {
		t.Errorf("fresh is %t, want %t", a.Fresh, want)
	}
	return a.Tag
}

func TestATagCoversTheWholeAnswer(t *testing.T) {
	t.Parallel()
	n := 0
	e := enginetest.Of(t, shop(func() string { n++; return fmt.Sprintf(`{"open":%d}`, n) }))
	plain, raw := tagOf(t, e.Client, "store", "salla", "id", "1"), tagOf(t, e.Client, "store", "salla", "id", "1", "include_raw", "true")
	if plain == raw || raw != tagOf(t, e.Client, "store", "salla", "id", "1", "include_raw", "true") {
		t.Errorf("plain %s, with raw %s", plain, raw)
	}
	fresh := tagOf(t, e.Client, "store", "salla", "id", "1", "include_raw", "true", "fresh", "true")
	if fresh == raw {
		t.Error("another raw has the same tag")
	}
	if again := tagOf(t, e.Client, "store", "salla", "id", "1"); again != plain {
		t.Errorf("the same data has the tags %s and %s", plain, again)
	}
}

func TestATagDoesNotDependOnTheKeyOfCursors(t *testing.T) {
	t.Parallel()
	var tags []string
	for _, key := range []string{oldKey, newKey} {
		e := sandboxes(t, socialdata.WithCursorKeys([]byte(key)))
		tags = append(tags, tagOf(t, e.Client, "posts", "mock", "handle", "salma"))
	}
	if tags[0] != tags[1] {
		t.Errorf("tags %v of one page", tags)
	}
}

func TestATagCoversThePlaceOfTheNextPage(t *testing.T) {
	t.Parallel()
	var tags []string
	for _, next := range []string{"", "1", "2"} {
		e := enginetest.Of(t, list(func(context.Context, int) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{Items: postsFrom(0, 2), Next: next}, nil
		}))
		tags = append(tags, tagOf(t, e.Client, "posts", "github", "handle", "a"))
	}
	if tags[0] == tags[1] || tags[1] == tags[2] {
		t.Errorf("tags %v of three places", tags)
	}
}
