package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

type (
	states  = map[platform.ID]schema.PlatformState
	ids     = []platform.ID
	charges = []enginetest.Charge
)

func searchAll(
	t *testing.T, c *socialdata.Client, req socialdata.SearchAcrossRequest,
) *schema.Envelope[[]schema.SearchResult] {
	t.Helper()
	if req.Query == "" {
		req.Query = "coffee"
	}
	got, err := c.SearchAcross(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantStates(t *testing.T, want, got states) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func wantCharges(t *testing.T, e *enginetest.Engine, want ...enginetest.Charge) {
	t.Helper()
	got := e.Charges(t)
	for _, list := range []charges{got, want} {
		slices.SortFunc(list, func(a, b enginetest.Charge) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	if diff := gocmp.Diff(append(charges{}, want...), got); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

func TestAFanOutAndASearchShareTheCache(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	one := func(id platform.ID, query, cursor string) *schema.Envelope[[]schema.SearchResult] {
		got, err := e.Client.Search(t.Context(),
			socialdata.SearchRequest{Platform: id, Query: query, Cursor: cursor, Kind: schema.PostResult})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := func(query string) *schema.Envelope[[]schema.SearchResult] {
		return searchAll(t, e.Client,
			socialdata.SearchAcrossRequest{Query: query, Kind: schema.PostResult, Wait: 3 * time.Second})
	}
	one(platform.TikTok, "tea", "")
	if got := all("tea"); got.Meta.Cache != schema.Miss {
		t.Error("half of it was a miss")
	}
	if got := one(platform.X, "tea", ""); got.Meta.Cache != schema.Hit {
		t.Error("the fan-out has not warmed the search")
	}
	e.Clock.Advance(time.Minute)
	if got := all("tea"); got.Meta.Cache != schema.Hit || got.Meta.DataAgeS != 60 {
		t.Errorf("%s, %d s old", got.Meta.Cache, got.Meta.DataAgeS)
	}
	// The same for the second page: both have the same position.
	first := all("milk")
	second := searchAll(t, e.Client,
		socialdata.SearchAcrossRequest{Query: "milk", Kind: schema.PostResult, Cursor: first.Meta.NextCursor})
	if second.Meta.Cache != schema.Miss {
		t.Error("page two was not a miss")
	}
	for _, id := range (ids{platform.TikTok, platform.X}) {
		if got := one(id, "milk", one(id, "milk", "").Meta.NextCursor); got.Meta.Cache != schema.Hit {
			t.Errorf("page two of %s is another entry", id)
		}
	}
}

func TestResultsAreFused(t *testing.T) {
	t.Parallel()
	same := enginetest.By("w", "same", 1) // on both, at different ranks
	onA := []schema.SearchResult{
		enginetest.By("a", "a1", 5), enginetest.By("b", "a2", -1), enginetest.By("c", "a3", 3), same,
	}
	onB := []schema.SearchResult{enginetest.By("d", "b1", 4), same, enginetest.By("e", "b3", 6)}
	tests := []struct {
		name string
		req  socialdata.SearchAcrossRequest
		want []string
	}{
		{
			"by rank, ties in the order of the platforms",
			socialdata.SearchAcrossRequest{Platforms: ids{platform.TikTok, platform.X}},
			[]string{"a1", "b1", "a2", "same", "a3", "b3"},
		},
		{
			"the caller's order decides ties",
			socialdata.SearchAcrossRequest{Platforms: ids{platform.X, platform.TikTok, platform.X}},
			[]string{"b1", "a1", "same", "a2", "b3", "a3"},
		},
		{
			"newest first, without a time last",
			socialdata.SearchAcrossRequest{Platforms: ids{platform.TikTok, platform.X}, Sort: "recent"},
			[]string{"same", "a3", "b1", "a1", "b3", "a2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 5 { // whichever answers first
				e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, onA...)),
					enginetest.Searcher(platform.X, enginetest.Lists(10, onB...)))
				got := searchAll(t, e.Client, tt.req)
				if diff := gocmp.Diff(tt.want, enginetest.IDs(got.Data)); diff != "" {
					t.Errorf("order (-want +got):\n%s", diff)
				}
				wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK}, got.Meta.Platforms)
				wantCharges(t, e, enginetest.Charged(1, "search", "tiktok", "MISS"), enginetest.Charged(1, "search", "x", "MISS"))
				if got.Meta.CreditsUsed != 2 || got.Meta.CreditsRemaining != 998 || got.Meta.JobID != "" ||
					got.Meta.NextCursor != "" {
					t.Errorf("meta is %+v", got.Meta)
				}
			}
		})
	}
}

func TestAtMostThreeOfAnAuthorAreOnTheFirstPage(t *testing.T) {
	t.Parallel()
	var loud []schema.SearchResult
	for i := range 6 {
		loud = append(loud, enginetest.By("loud", fmt.Sprint("loud", i), i))
	}
	loud = append(loud, enginetest.By("quiet", "quiet", 9))
	for _, size := range []int{7, 4} { // on one page of the platform, and on two
		t.Run(fmt.Sprint("pages of ", size), func(t *testing.T) {
			t.Parallel()
			e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(size, loud...)))
			first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{})
			n := 0
			for _, r := range first.Data {
				if strings.HasPrefix(r.Shared().ID, "loud") {
					n++
				}
			}
			if n != 3 {
				t.Errorf("%d of one author on the first page: %v", n, enginetest.IDs(first.Data))
			}
			got := enginetest.IDs(first.Data)
			for cursor := first.Meta.NextCursor; cursor != ""; {
				page := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Cursor: cursor})
				got = append(got, enginetest.IDs(page.Data)...)
				cursor = page.Meta.NextCursor
			}
			want := enginetest.IDs(loud)
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(want, got) {
				t.Errorf("the walk gave %v, want %v", got, want)
			}
			if again := searchAll(t, e.Client,
				socialdata.SearchAcrossRequest{}); again.Meta.NextCursor != first.Meta.NextCursor {
				t.Error("the same page from the cache has another cursor")
			}
		})
	}
}

func TestHeldBackResultsAreFree(t *testing.T) {
	t.Parallel()
	var loud []schema.SearchResult
	for i := range 5 {
		loud = append(loud, enginetest.By("loud", fmt.Sprint("loud", i), i))
	}
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, loud...)))
	first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{})
	enriched := socialdata.SearchAcrossRequest{Query: "coffee", Cursor: first.Meta.NextCursor}
	enriched.Enrich = socialdata.Arabic
	_, err := e.Client.SearchAcross(t.Context(), enriched)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "the same include_raw and enrich")
	second := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Cursor: first.Meta.NextCursor})
	if got := enginetest.IDs(second.Data); !slices.Equal(got, []string{"loud3", "loud4"}) ||
		second.Meta.CreditsUsed != 0 || e.Balance(t) != 999 {
		t.Errorf("%v for %d credits, %d left", got, second.Meta.CreditsUsed, e.Balance(t))
	}
	other, _ := e.Account(t, "another", 10)
	_, err = e.Client.As(other).SearchAcross(t.Context(),
		socialdata.SearchAcrossRequest{Query: "coffee", Cursor: first.Meta.NextCursor})
	enginetest.WantProblem(t, err, problem.InvalidRequest, "cursor expired")
}

func TestACombinedCursorWalksEveryPlatformToItsEnd(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(3, enginetest.Some("t", 10)...)),
		enginetest.Searcher(platform.X, enginetest.Lists(4, enginetest.Some("x", 5)...)),
		enginetest.Searcher(platform.YouTube,
			func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
				return providers.Page[schema.SearchResult]{}, providers.Unavailable(nil, "down")
			}))
	reached := []states{}
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Cursor: cursor})
		for _, id := range enginetest.IDs(got.Data) {
			if seen[id] {
				t.Errorf("%s was returned twice", id)
			}
			seen[id] = true
		}
		reached = append(reached, got.Meta.Platforms)
		if cursor = got.Meta.NextCursor; cursor == "" || pages > 10 {
			break
		}
	}
	if len(seen) != 15 {
		t.Errorf("%d results, want 15", len(seen))
	}
	ok := schema.OK
	want := []states{
		{platform.TikTok: ok, platform.X: ok, platform.YouTube: schema.Failed}, // which fails
		{platform.TikTok: ok, platform.X: ok}, {platform.TikTok: ok}, {platform.TikTok: ok},
	}
	if diff := gocmp.Diff(want, reached); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	if e.Balance(t) != 1000-6 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
}

func TestAResultOfTwoPlatformsIsReturnedOnceAcrossPages(t *testing.T) {
	t.Parallel()
	same := enginetest.By("w", "same", 1)
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok,
		enginetest.Lists(2, append(enginetest.Some("t", 2), same)...)), enginetest.Searcher(platform.X,
		enginetest.Lists(2, append([]schema.SearchResult{same}, enginetest.Some("x", 3)...)...)))
	var got []string
	for cursor := ""; ; {
		page := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Cursor: cursor})
		got = append(got, enginetest.IDs(page.Data)...)
		if cursor = page.Meta.NextCursor; cursor == "" {
			break
		}
	}
	if diff := gocmp.Diff([]string{"t0", "same", "t1", "x0", "x1", "x2"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestAFanOutWalkReturnsEachResultOnceAndEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shown, got := map[string]bool{}, map[string]bool{}
		var upstreams []providers.Provider
		var mu sync.Mutex
		for _, id := range (ids{platform.TikTok, platform.X, platform.YouTube})[:rapid.IntRange(1, 3).Draw(t, "platforms")] {
			h := enginetest.DrawHostile(t)
			upstreams = append(upstreams, enginetest.Searcher(id,
				func(ctx context.Context, _ providers.SearchQuery, token string) (providers.Page[schema.SearchResult], error) {
					mu.Lock()
					defer mu.Unlock()
					page, err := h.Read(ctx, "", token)
					out := providers.Page[schema.SearchResult]{Next: page.Next}
					for _, p := range page.Items { // of three authors, so that some are held back
						shown[p.ID] = true
						n, _ := strconv.Atoi(p.ID)
						out.Items = append(out.Items, enginetest.By(fmt.Sprint("author", n%3), p.ID, n))
					}
					return out, err
				}))
		}
		client, err := socialdata.New(socialdata.WithProviders(upstreams), socialdata.WithEnricher(enginetest.Enricher()))
		if err != nil {
			t.Fatal(err)
		}
		req := socialdata.SearchAcrossRequest{
			Query: "coffee", Sort: rapid.SampledFrom([]string{"", "recent"}).Draw(t, "sort"),
		}
		for calls := 0; ; calls++ {
			page, err := client.SearchAcross(context.Background(), req)
			if err != nil || calls > 100 {
				t.Fatalf("call %d: %v", calls, err)
			}
			for _, r := range page.Data {
				id := r.Shared().ID
				if got[id] {
					t.Fatalf("%s was returned twice", id)
				}
				got[id] = true
			}
			if req.Cursor = page.Meta.NextCursor; req.Cursor == "" {
				break
			}
		}
		if diff := gocmp.Diff(shown, got); diff != "" {
			t.Fatalf("results (-shown +got):\n%s", diff)
		}
	})
}

// TestALongCombinedCursorStaysShort checks the length of a cursor with the position of every platform.
func TestALongCombinedCursorStaysShort(t *testing.T) {
	t.Parallel()
	var all []providers.Provider
	for _, info := range platform.All() {
		results := enginetest.Some(string(info.ID), 90)
		find := enginetest.Lists(30, results...)
		all = append(all, enginetest.Searcher(info.ID,
			func(ctx context.Context, q providers.SearchQuery, token string) (providers.Page[schema.SearchResult], error) {
				token, _, _ = strings.Cut(token, "|")
				page, err := find(ctx, q, token)
				if page.Next != "" {
					page.Next += "|" + strings.Repeat("an upstream with long tokens ", 20)
				}
				return page, err
			}))
	}
	e := enginetest.New(t, enginetest.Config{Providers: all, Credits: 10_000})
	n := 0
	for cursor := ""; ; {
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Cursor: cursor})
		n += len(got.Data)
		if cursor = got.Meta.NextCursor; cursor == "" {
			break
		}
		if len(cursor) > 8192 {
			t.Fatalf("a cursor of %d characters", len(cursor))
		}
	}
	if want := 90 * (len(all) - 1); n != want { // the sandbox is searched only if it is the only platform
		t.Errorf("%d results, want %d", n, want)
	}
}

func TestPartialFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t,
			enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X, platform.LinkedIn)})
		for _, word := range []string{
			"upstream_error_on_x", "timeout_on_x", "not_found_on_x", "panic_on_x", "broken_schema_on_x",
		} {
			got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{
				Query: word, Platforms: ids{platform.TikTok, platform.X, platform.LinkedIn, platform.GitHub},
			})
			wantStates(t, states{
				platform.TikTok: schema.OK, platform.X: schema.Failed, platform.LinkedIn: schema.OK, platform.GitHub: schema.Failed,
			}, got.Meta.Platforms)
			if got.Meta.CreditsUsed != 3 || len(got.Data) == 0 {
				t.Errorf("%s: %d results for %d credits", word, len(got.Data), got.Meta.CreditsUsed)
			}
		}
		synctest.Wait() // for the releases of what has failed
		if e.Balance(t) != 1000-5*3 {
			t.Errorf("%d credits are left", e.Balance(t))
		}
	})
}

func TestAllFail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query string
		req   socialdata.SearchAcrossRequest
		code  problem.Code
		words []string
	}{
		{"upstream_error", socialdata.SearchAcrossRequest{}, problem.PlatformUnavailable, []string{"tiktok", "x"}},
		{"timeout", socialdata.SearchAcrossRequest{}, problem.UpstreamTimeout, []string{"tiktok", "x"}},
		{"timeout", socialdata.SearchAcrossRequest{Platforms: ids{platform.X, platform.GitHub}}, problem.PlatformUnavailable, []string{"x", "github"}},
		{"a", socialdata.SearchAcrossRequest{Platforms: ids{platform.GitHub}}, problem.PlatformUnavailable, []string{"github does not offer GET /v1/github/search"}},
		{"a", socialdata.SearchAcrossRequest{Platforms: ids{platform.GitHub, platform.Kwai}}, problem.PlatformUnavailable, []string{"/v1/{platform}/search", "github, kwai"}},
	}
	for _, tt := range tests {
		t.Run(tt.query+fmt.Sprint(tt.req.Platforms), func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t,
				enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
			tt.req.Query = tt.query
			_, err := e.Client.SearchAcross(t.Context(), tt.req)
			enginetest.WantProblem(t, err, tt.code, tt.words...)
			for e.Balance(t) != 1000 { // the hold of a part that fails is released while the answer is given
				time.Sleep(time.Millisecond)
			}
			if charges := e.Charges(t); len(charges) > 0 {
				t.Errorf("charges %v, want none", charges)
			}
		})
	}
}

func TestAnEmptySearchHasFoundNothing(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Query: "empty"})
	wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK}, got.Meta.Platforms)
	if len(got.Data) != 0 || got.Meta.CreditsUsed != 2 {
		t.Errorf("%d results for %d credits", len(got.Data), got.Meta.CreditsUsed)
	}
}

func TestPlatformsThatAreSearchedByDefault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		all    ids
		enrich socialdata.Enrichment
		want   states
	}{
		{"all that can search, except the sandbox", ids{platform.Mock, platform.TikTok, platform.Reddit}, "", states{platform.TikTok: schema.OK, platform.Reddit: schema.OK}},
		{"only the sandbox", ids{platform.Mock}, "", states{platform.Mock: schema.OK}},
		{"without platforms that may not be enriched", ids{platform.TikTok, platform.Reddit, platform.Spotify}, socialdata.Arabic, states{platform.TikTok: schema.OK}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{Providers: append(enginetest.Sandboxes(mock.Config{}, tt.all...),
				mock.NewFor(platform.Twitch, mock.Config{}).Without("SECRET"))})
			req := socialdata.SearchAcrossRequest{}
			req.Enrich = tt.enrich
			wantStates(t, tt.want, searchAll(t, e.Client, req).Meta.Platforms)
		})
	}
}

func TestAFilterThatOnePlatformDoesNotSupport(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, mock.NewFor(platform.TikTok, mock.Config{}),
		enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 3)...)))
	req := socialdata.SearchAcrossRequest{Lang: "ar", Platforms: ids{platform.TikTok, platform.X}}
	wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Failed},
		searchAll(t, e.Client, req).Meta.Platforms)
	req.Platforms = nil
	wantStates(t, states{platform.TikTok: schema.OK}, searchAll(t, e.Client, req).Meta.Platforms)
	req.Platforms, req.Query = ids{platform.X}, "coffee"
	_, err := e.Client.SearchAcross(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, `"lang"`, "x")
}

func TestAFreshAndEnrichedFanOutIsPaidOnce(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t,
		enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.LinkedIn)})
	req := socialdata.SearchAcrossRequest{}
	req.Fresh, req.Enrich, req.IncludeRaw = true, socialdata.Arabic, true
	got := searchAll(t, e.Client, req)
	if got.Meta.CreditsUsed != 2+4+3 || e.Balance(t) != 1000-9 {
		t.Errorf("used %d, %d left", got.Meta.CreditsUsed, e.Balance(t))
	}
	wantCharges(t, e, enginetest.Charged(2, "search", "tiktok", "MISS"),
		enginetest.Charged(4, "search", "linkedin", "MISS"), enginetest.Charged(3, "search_across", "", ""))
	for _, r := range got.Data {
		if c := r.Shared(); c.Enrichment.Value == nil || len(c.Raw) == 0 {
			t.Errorf("%s has no enrichment or no raw", c.ID)
		}
	}
}

func TestEnrichmentThatFailsOnOnePlatformIsRefunded(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	req := socialdata.SearchAcrossRequest{Query: "fail_enrichment_on_x"}
	req.Enrich = socialdata.Arabic
	got := searchAll(t, e.Client, req)
	if got.Meta.CreditsUsed != 2 || e.Balance(t) != 998 {
		t.Errorf("used %d, %d left", got.Meta.CreditsUsed, e.Balance(t))
	}
	failed := 0
	for _, r := range got.Data {
		if c := r.Shared(); r.EnrichText() != "" && c.Enrichment.Set && c.Enrichment.Value == nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d objects have a null enrichment, want 1", failed)
	}
}

func TestAFanOutThatTheBalanceDoesNotCoverHoldsNothing(t *testing.T) {
	t.Parallel()
	p, calls := enginetest.Searcher(platform.TikTok, nil), enginetest.Counter{}
	p.Search = func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
		calls.Add()
		return providers.Page[schema.SearchResult]{}, nil
	}
	e := enginetest.New(t,
		enginetest.Config{Credits: 2, Providers: []providers.Provider{p, mock.NewFor(platform.LinkedIn, mock.Config{})}})
	_, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "a"})
	enginetest.WantProblem(t, err, problem.InsufficientCredits)
	if e.Balance(t) != 2 || calls.Count() != 0 {
		t.Errorf("%d credits are left after %d calls", e.Balance(t), calls.Count())
	}
}

func TestACursorOfAPlatformWithoutAProvider(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(2, enginetest.Some("t", 5)...)))
	cursor := searchAll(t, e.Client, socialdata.SearchAcrossRequest{}).Meta.NextCursor
	p := enginetest.Searcher(platform.TikTok, enginetest.Lists(2, enginetest.Some("t", 5)...))
	p.Name = "another"
	_, err := enginetest.Of(t, p).Client.SearchAcross(t.Context(),
		socialdata.SearchAcrossRequest{Query: "coffee", Cursor: cursor})
	enginetest.WantProblem(t, err, problem.InvalidRequest, "no longer configured")
}

func TestACombinedCursorIsValidForItsOwnSearchOnly(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(2, enginetest.Some("t", 5)...)),
		enginetest.Searcher(platform.X, enginetest.Lists(2, enginetest.Some("x", 5)...)))
	named := ids{platform.TikTok, platform.X}
	cursor := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Platforms: named}).Meta.NextCursor
	for name, req := range map[string]socialdata.SearchAcrossRequest{
		"another query":     {Query: "tea", Platforms: named},
		"another kind":      {Query: "coffee", Platforms: named, Kind: schema.PostResult},
		"another order":     {Query: "coffee", Platforms: named, Sort: "recent"},
		"other platforms":   {Query: "coffee", Platforms: named[:1]},
		"no platform named": {Query: "coffee"},
		"a language added":  {Query: "coffee", Platforms: named, Lang: "ar"},
	} {
		req.Cursor = cursor
		_, err := e.Client.SearchAcross(t.Context(), req)
		if p := enginetest.WantProblem(t, err, problem.InvalidRequest, `"cursor"`); t.Failed() {
			t.Fatal(name, p.Detail)
		}
	}
	for name, req := range map[string]socialdata.SearchAcrossRequest{
		"patience": {Wait: 20 * time.Second}, "freshness": {Fresh: true, IncludeRaw: true, Enrich: socialdata.Arabic},
	} {
		req.Cursor, req.Platforms, req.Query = cursor, named, "coffee"
		if _, err := e.Client.SearchAcross(t.Context(), req); err != nil {
			t.Errorf("%s binds the cursor: %v", name, err)
		}
	}
}

// pendingWorld is a search of three platforms, two of which are late.
func pendingWorld(t *testing.T, opts enginetest.Config) (*enginetest.Engine, chan struct{}, chan struct{}) {
	t.Helper()
	onX, onYouTube := make(chan struct{}), make(chan struct{})
	opts.Providers = []providers.Provider{
		mock.NewFor(platform.TikTok, mock.Config{}),
		enginetest.Late(enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 3)...)), onX),
		enginetest.Late(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), onYouTube),
	}
	return enginetest.New(t, opts), onX, onYouTube
}

func job(t *testing.T, c *socialdata.Client, id string, wait int) *schema.Envelope[[]schema.SearchResult] {
	t.Helper()
	got, err := c.Job(t.Context(), socialdata.JobRequest{ID: id, Wait: time.Duration(wait) * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLatePlatformsBecomeAJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		began := time.Now()
		req := socialdata.SearchAcrossRequest{Wait: 2 * time.Second}
		req.Enrich = socialdata.Arabic
		first := searchAll(t, e.Client, req)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the first answer took %v, want 2s", took)
		}
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Pending, platform.YouTube: schema.Pending},
			first.Meta.Platforms)
		if first.Meta.JobID == "" || first.Meta.CreditsUsed != 1 || first.Meta.CreditsRemaining != 1000-6 {
			t.Errorf("meta is %+v; one is settled, and five more are held", first.Meta)
		}
		id := first.Meta.JobID

		began = time.Now()
		idle := job(t, e.Client, id, 0)
		if len(idle.Data) != 0 || idle.Meta.JobID != id || idle.Meta.CreditsUsed != 0 || time.Since(began) != 0 {
			t.Errorf("a poll without news: %+v", idle)
		}

		close(onX)
		synctest.Wait()
		second := job(t, e.Client, id, 3)
		if diff := gocmp.Diff([]string{"x0", "x1", "x2"}, enginetest.IDs(second.Data)); diff != "" {
			t.Errorf("the news (-want +got):\n%s", diff)
		}
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Pending},
			second.Meta.Platforms)
		if second.Meta.JobID != id || second.Meta.CreditsUsed != 1 || second.Meta.CreditsRemaining != 1000-6 {
			t.Errorf("meta is %+v", second.Meta)
		}
		if again := job(t, e.Client, id, 0); len(again.Data) != 0 || again.Meta.CreditsUsed != 0 {
			t.Errorf("the next poll at once: %+v", again)
		}

		close(onYouTube)
		third := job(t, e.Client, id, 10)
		if diff := gocmp.Diff([]string{"y0", "y1"}, enginetest.IDs(third.Data)); diff != "" {
			t.Errorf("the rest (-want +got):\n%s", diff)
		}
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.OK},
			third.Meta.Platforms)
		if third.Meta.JobID != "" || third.Meta.CreditsUsed != 1+3 || third.Meta.CreditsRemaining != 1000-6 {
			t.Errorf("meta is %+v", third.Meta)
		}

		want := len(first.Data) + 3 + 2
		for range 2 {
			whole := job(t, e.Client, id, 0)
			if len(whole.Data) != want || whole.Meta.CreditsUsed != 0 || whole.Meta.JobID != "" {
				t.Errorf("the whole has %d results for %d credits, want %d for none", len(whole.Data), whole.Meta.CreditsUsed, want)
			}
		}
		wantCharges(t, e, enginetest.Charged(1, "search", "tiktok", "MISS"), enginetest.Charged(1, "search", "x", "MISS"),
			enginetest.Charged(1, "search", "youtube", "MISS"), enginetest.Charged(3, "search_across", "", ""))

		// It is stored for 15 minutes after its end, however often it is read.
		synctest.Wait() // until the search has ended here, and is read from its record
		e.Clock.Advance(14 * time.Minute)
		job(t, e.Client, id, 0)
		e.Clock.Advance(time.Minute)
		_, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: id})
		enginetest.WantProblem(t, err, problem.NotFound)
	})
}

func TestALatePlatformMayFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, _ := pendingWorld(t, enginetest.Config{})
		first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		close(onX)
		last := job(t, e.Client, first.Meta.JobID, 25)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Failed},
			last.Meta.Platforms)
		if last.Meta.JobID != "" || last.Meta.CreditsUsed != 1 || last.Meta.CreditsRemaining != 998 {
			t.Errorf("meta is %+v", last.Meta)
		}
	})
}

func TestTheFirstAnswerWaitsForResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		onX := make(chan struct{})
		e := enginetest.Of(t, enginetest.Late(enginetest.Searcher(platform.X,
			enginetest.Lists(10, enginetest.Some("x", 3)...)), onX),
			enginetest.Searcher(platform.TikTok,
				func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
					return providers.Page[schema.SearchResult]{}, providers.Unavailable(nil, "down")
				}))
		began := time.Now()
		time.AfterFunc(6*time.Second, func() { close(onX) })
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		if took := time.Since(began); took != 6*time.Second || len(got.Data) != 3 || got.Meta.JobID != "" {
			t.Errorf("%d results after %v", len(got.Data), took)
		}
		// And until the end if no results come.
		never := enginetest.Of(t, enginetest.Late(enginetest.Searcher(platform.X, nil), nil))
		began = time.Now()
		_, err := never.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "a", Wait: 1 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "x")
		took := time.Since(began)
		synctest.Wait() // until the hold is released
		if left := never.Balance(t); took != 14*time.Second || left != 1000 {
			t.Errorf("after %v, %d credits are left", took, left)
		}
	})
}

func TestAJobHasNoDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		onX := make(chan struct{})
		same := enginetest.By("w", "same", 1)
		e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.By("a", "t1", 1), same)),
			enginetest.Late(enginetest.Searcher(platform.X, enginetest.Lists(10, same, enginetest.By("b", "x1", 2))), onX))
		first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		close(onX)
		rest := job(t, e.Client, first.Meta.JobID, 5)
		whole := job(t, e.Client, first.Meta.JobID, 0) // where "same" has its best rank
		got := [][]string{enginetest.IDs(first.Data), enginetest.IDs(rest.Data), enginetest.IDs(whole.Data)}
		if diff := gocmp.Diff([][]string{{"t1", "same"}, {"x1"}, {"same", "t1", "x1"}}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestAJobBelongsToItsAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		id := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
		other, _ := e.Account(t, "another", 10)
		want := ""
		refused := func(id string) {
			t.Helper()
			_, err := e.Client.As(other).Job(t.Context(), socialdata.JobRequest{ID: id})
			if p := enginetest.WantProblem(t, err, problem.NotFound); want != "" && p.Detail != want {
				t.Errorf("detail %q differs from %q", p.Detail, want)
			} else {
				want = p.Detail
			}
		}
		refused("job_unknown")
		refused(id) // in progress
		close(onX)
		close(onYouTube)
		job(t, e.Client, id, 5)
		synctest.Wait()
		refused(id) // complete
		e.Clock.Advance(time.Hour)
		refused(id) // expired
		_, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: id})
		enginetest.WantProblem(t, err, problem.NotFound, want)
	})
}

func TestAJobSurvivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, _ := pendingWorld(t, enginetest.Config{})
		first := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		close(onX)
		synctest.Wait()
		// For another process with the same records, YouTube is pending, until the deadline.
		after, err := socialdata.New(socialdata.WithRecords(e.Records), socialdata.WithClock(e.Clock.Now),
			socialdata.WithEnricher(enginetest.Enricher()))
		if err != nil {
			t.Fatal(err)
		}
		client := after.As(e.Key)
		got := job(t, client, first.Meta.JobID, 1)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Pending},
			got.Meta.Platforms)
		if len(got.Data) != 3 || got.Meta.JobID == "" {
			t.Errorf("%d results, job %q", len(got.Data), got.Meta.JobID)
		}
		e.Clock.Advance(16 * time.Second)
		got = job(t, client, first.Meta.JobID, 1)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Failed},
			got.Meta.Platforms)
		if got.Meta.JobID != "" {
			t.Error("the job is not at its end")
		}
		if got = job(t, client, first.Meta.JobID, 0); len(got.Data) != len(first.Data)+3 {
			t.Errorf("the whole has %d results, want %d", len(got.Data), len(first.Data)+3)
		}
	})
}

func TestACallerWhoLeavesWithoutAnAnswerPaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _, _ := pendingWorld(t, enginetest.Config{})
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err := e.Client.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "a", Wait: 20 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "stopped waiting")
		time.Sleep(20 * time.Second) // in the bubble: until what is late has ended
		wantCharges(t, e)
		if e.Balance(t) != 1000 {
			t.Errorf("%d credits are left", e.Balance(t))
		}
	})
}

func TestASearchIsWatchedWhileItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		same := enginetest.By("w", "same", 1)
		onX := make(chan struct{})
		e := enginetest.Of(t, enginetest.Searcher(platform.TikTok,
			enginetest.Lists(3, append([]schema.SearchResult{same}, enginetest.Some("t", 4)...)...)),
			enginetest.Late(enginetest.Searcher(platform.X, enginetest.Lists(10, same, enginetest.By("b", "x1", 2))), onX),
			mock.NewFor(platform.YouTube, mock.Config{}))
		var got []string
		time.AfterFunc(time.Second, func() { close(onX) })
		var meta *schema.Meta
		err := e.Client.Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "upstream_error"),
			func(ev operation.Event) bool {
				switch {
				case ev.Meta != nil:
					meta = ev.Meta
					got = append(got, "done")
				case ev.Result != nil:
					got = append(got, resultID(t, ev.Result))
				default:
					got = append(got, string(ev.Platform)+"="+string(ev.State))
				}
				return true
			})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got[:5]) // tiktok and youtube may come in any order
		want := []string{"same", "t0", "t1", "tiktok=ok", "youtube=error", "x=ok", "x1", "done"}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if meta.CreditsUsed != 2 || meta.NextCursor == "" || meta.JobID != "" {
			t.Errorf("meta is %+v", meta)
		}
		wantCharges(t, e, enginetest.Charged(1, "search", "tiktok", "MISS"), enginetest.Charged(1, "search", "x", "MISS"))
	})
}

func TestAWatchedSearchReturnsHeldBackResults(t *testing.T) {
	t.Parallel()
	var loud []schema.SearchResult
	for i := range 5 {
		loud = append(loud, enginetest.By("loud", fmt.Sprint("loud", i), i))
	}
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, loud...)))
	cursor := searchAll(t, e.Client, socialdata.SearchAcrossRequest{}).Meta.NextCursor
	var got []string
	err := e.Client.Stream(t.Context(), socialdata.Operation("search_across"),
		enginetest.Call("query", "coffee", "cursor", cursor), func(ev operation.Event) bool {
			if ev.Result != nil {
				got = append(got, resultID(t, ev.Result))
			}
			return true
		})
	if diff := gocmp.Diff([]string{"loud3", "loud4"}, got); err != nil || diff != "" {
		t.Errorf("%v, results (-want +got):\n%s", err, diff)
	}
}

func TestAWatchedSearchFailsWithAProblem(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for name, c := range map[string]operation.Call{
		"a missing query":    enginetest.Call(),
		"an idempotency key": {Params: map[string][]string{"query": {"a"}}, IdempotencyKey: "0123456789abcdef"},
		"a forged cursor":    enginetest.Call("query", "a", "cursor", "x"),
	} {
		err := e.Client.Stream(t.Context(), socialdata.Operation("search_across"), c,
			func(operation.Event) bool { t.Error(name, "gives an event"); return true })
		enginetest.WantProblem(t, err, problem.InvalidRequest)
	}
	err := e.Client.Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "upstream_error"),
		func(operation.Event) bool { return true })
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
}

func TestConcurrentPollsReportNewResultsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		id := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
		var mu sync.Mutex
		var wg sync.WaitGroup
		credited := int64(0)
		for range 5 {
			wg.Go(func() {
				got, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: id, Wait: 10 * time.Second})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				credited += got.Meta.CreditsUsed
			})
		}
		synctest.Wait()
		close(onX)
		close(onYouTube)
		wg.Wait()
		if credited != 2 {
			t.Errorf("the answers sum to %d credits, want 2", credited)
		}
	})
}

func TestCloseWaitsForCallsInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _, _ := pendingWorld(t, enginetest.Config{})
		searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Client.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v while a search was in progress", err)
		}
		if err := e.Client.Close(t.Context()); err != nil || e.Balance(t) != 999 {
			t.Errorf("%v, %d credits are left", err, e.Balance(t))
		}
	})
}

func resultID(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var o struct{ ID string }
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o.ID
}
