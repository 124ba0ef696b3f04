package socialdata_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func post(id string) schema.Post { return enginetest.Post(id) }

func sandboxes(t *testing.T, opts ...socialdata.Option) *enginetest.Engine {
	t.Helper()
	return enginetest.New(t, enginetest.Config{
		Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.TikTok), Options: opts,
	})
}

// items returns everything that a walk yields.
func items[T any](t *testing.T, walk iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for item, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

func TestWalkYieldsEachItemOnceAndEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := enginetest.DrawHostile(t)
		got := map[int]bool{}
		for p, err := range socialdata.Walk(context.Background(), h.Client(t).Posts,
			socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a", Page: socialdata.Page{Pages: rapid.IntRange(0, 10).Draw(t, "pages a call")}}) {
			if err != nil {
				t.Fatal(err)
			}
			n, _ := strconv.Atoi(p.ID)
			if got[n] {
				t.Fatalf("%d came twice", n)
			}
			got[n] = true
		}
		if diff := cmp.Diff(h.Shown, got); diff != "" {
			t.Fatalf("items (-shown +got):\n%s", diff)
		}
	})
}

// TestWalkEndsOnHostileLists walks pages that no engine would return: the cursors never end.
func TestWalkEndsOnHostileLists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 9), 0, 5), 1, 10).Draw(t, "pages")
		calls, got := 0, map[string]bool{}
		page := func(context.Context, socialdata.PostsRequest) (*schema.Envelope[[]schema.Post], error) {
			e := &schema.Envelope[[]schema.Post]{Meta: schema.Meta{NextCursor: strconv.Itoa(calls)}}
			seen := map[int]bool{}
			for _, n := range pages[calls%len(pages)] {
				if !seen[n] {
					e.Data = append(e.Data, post(strconv.Itoa(n)))
				}
				seen[n] = true
			}
			calls++
			return e, nil
		}
		for p, err := range socialdata.Walk(context.Background(), page, socialdata.PostsRequest{}) {
			if err != nil || got[p.ID] {
				t.Fatalf("%s came twice, or %v", p.ID, err)
			}
			got[p.ID] = true
		}
		if calls > 10*10+10 {
			t.Fatalf("%d calls for ten items; want 110 at most", calls)
		}
	})
}

func TestWalkContinuesAfterManyEmptyPages(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Posts(platform.GitHub, "sparse",
		func(ctx context.Context, _, token string) (providers.Page[schema.Post], error) {
			if n, _ := strconv.Atoi(token); n < 100 {
				callctx.Of(ctx).Trace.Rows(1) // that does not belong
				return providers.Page[schema.Post]{Next: strconv.Itoa(n + 1)}, nil
			}
			return providers.Page[schema.Post]{Items: []schema.Post{post("1")}}, nil
		})}})
	if n := len(items(t, socialdata.Walk(t.Context(), e.Client.Posts, ofA))); n != 1 {
		t.Errorf("%d posts behind a hundred empty pages, want 1", n)
	}
}

func TestWalkStopsWhenTheLoopBreaks(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	n := 0
	for _, err := range socialdata.Walk(t.Context(), e.Client.Posts,
		socialdata.PostsRequest{Platform: platform.Mock, Handle: "endless"}) {
		if n++; n == 50 || err != nil {
			break
		}
	}
	if got := len(e.Charges(t)); got != 3 {
		t.Errorf("%d pages were read for 50 posts, want 3", got)
	}
}

func TestWalkEndsWithAFailure(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	var failed error
	n := 0
	for _, err := range socialdata.Walk(t.Context(), e.Client.Comments,
		socialdata.CommentsRequest{Platform: platform.Mock, PostID: "dead_cursor"}) {
		if failed != nil {
			t.Errorf("%v comes after the failure; want nothing", err)
		}
		if failed = err; err == nil {
			n++
		}
	}
	enginetest.WantProblem(t, failed, problem.InvalidRequest)
	if n != 20 {
		t.Errorf("%d comments before the failure, want 20", n)
	}
}

func TestWalkEndsOnHostileListsOfTheSandbox(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{
		"empty": 0, "one_page": 10, "empty_middle": 40, "repeats": 65, "loops": 30, "stuck": 20, "backwards": 30, "broken_item": -1,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			e := sandboxes(t)
			got := map[string]bool{}
			for p, err := range socialdata.Walk(t.Context(), e.Client.Followers,
				socialdata.FollowersRequest{Platform: platform.Mock, Handle: word}) {
				if err != nil {
					t.Fatal(err)
				}
				if got[p.ID] {
					t.Errorf("%s came twice", p.ID)
				}
				got[p.ID] = true
			}
			if want >= 0 && len(got) != want {
				t.Errorf("%d objects, want %d", len(got), want)
			}
		})
	}
}

func TestWalkYieldsAllResultsOfASearch(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	req := socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee"}
	results := items(t, socialdata.Walk(t.Context(), e.Client.Search, req))
	if len(results) < 21 || slices.ContainsFunc(results, func(r schema.SearchResult) bool { return r.Object == nil }) {
		t.Errorf("got %d results; want 21 or more, each with an object", len(results))
	}
}

func TestPagesKeepPriceAndCursor(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
	pages := items(t, socialdata.Pages(t.Context(), e.Client.Posts, req))
	for i, page := range pages {
		if page.Meta.CreditsUsed != 1 || page.Meta.RequestID == "" {
			t.Errorf("page %d has the meta %+v; want one credit and a request id", i, page.Meta)
		}
	}
	if len(pages) < 3 || pages[len(pages)-1].Meta.NextCursor != "" {
		t.Fatalf("%d pages, the last with %+v; want 3 or more, and no cursor", len(pages), pages[len(pages)-1].Meta)
	}
	var want []string
	for _, page := range pages[2:] {
		want = append(want, idsOf(page.Data)...)
	}
	req.Cursor = pages[1].Meta.NextCursor
	got := idsOf(items(t, socialdata.Walk(t.Context(), e.Client.Posts, req)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a walk from the cursor of page 2 (-want +got):\n%s", diff)
	}
}

func TestPagesLeaveOutItemsOfEarlierPages(t *testing.T) {
	t.Parallel()
	lists := [][]string{{"a", "b"}, {"b", "c"}, {"a"}, {"d"}}
	page := func(_ context.Context, req socialdata.PostsRequest) (*schema.Envelope[[]schema.Post], error) {
		n, _ := strconv.Atoi(req.Cursor)
		if n == len(lists) {
			return nil, problem.New(problem.RateLimited, "slow down")
		}
		e := &schema.Envelope[[]schema.Post]{Meta: schema.Meta{NextCursor: strconv.Itoa(n + 1)}}
		for _, id := range lists[n] {
			e.Data = append(e.Data, post(id))
		}
		return e, nil
	}
	var got [][]string
	var failed error
	for page, err := range socialdata.Pages(t.Context(), page, socialdata.PostsRequest{}) {
		if failed = err; err == nil {
			got = append(got, idsOf(page.Data))
		}
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}, {}, {"d"}}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if !errors.Is(failed, problem.RateLimited) {
		t.Errorf("the walk ends with %v; want %s", failed, problem.RateLimited)
	}
	calls := 0
	for page, err := range socialdata.Pages(t.Context(), page, socialdata.PostsRequest{}) {
		if calls++; err != nil || len(page.Data) != 2 {
			t.Errorf("the first page is %v, %v; want two posts", page, err)
		}
		break
	}
	if calls != 1 {
		t.Errorf("%d pages were read; want one, since the caller broke off", calls)
	}
}

func TestAWalkUnderAnIdempotencyKeyIsChargedOnce(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma", ReadOptions: socialdata.ReadOptions{IdempotencyKey: "nightly-export-2026-11-01"}}
	read := func() []string { return idsOf(items(t, socialdata.Walk(t.Context(), e.Client.Posts, req))) }
	first := read()
	paid, err := e.Ledger.Balance(t.Context(), e.Key.Account)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, read()); diff != "" {
		t.Errorf("the same list (-first +second):\n%s", diff)
	}
	if after, err := e.Ledger.Balance(t.Context(), e.Key.Account); err != nil || after != paid || paid == 1000 {
		t.Errorf("the balance is %d, then %d, %v; want less than 1000, and the same", paid, after, err)
	}
}
