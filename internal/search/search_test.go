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
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
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

// wantMeta checks what a search used, and whether a part of it is pending.
func wantMeta(t *testing.T, m schema.Meta, used int64, pending bool) {
	t.Helper()
	if m.CreditsUsed != used || (m.JobID != "") != pending {
		t.Errorf("%d credits used, job %q; want %d, pending: %t", m.CreditsUsed, m.JobID, used, pending)
	}
}

func wantResults(t *testing.T, got []schema.SearchResult, want int) {
	t.Helper()
	if len(got) != want {
		t.Errorf("%d results, want %d", len(got), want)
	}
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
			socialdata.SearchRequest{Platform: id, Query: query, Page: socialdata.Page{Cursor: cursor}, Kind: schema.PostResult})
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
		t.Errorf("%s, %d s old; want a hit, 60 s old", got.Meta.Cache, got.Meta.DataAgeS)
	}
	// The same for the second page: both have the same position.
	first := all("milk")
	second := searchAll(t, e.Client,
		socialdata.SearchAcrossRequest{Query: "milk", Kind: schema.PostResult, Page: socialdata.Page{Cursor: first.Meta.NextCursor}})
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
					t.Errorf("meta is %+v, want 2 credits used of 1000, no job, no cursor", got.Meta)
				}
			}
		})
	}
}

func TestResultsBeyondAnAuthorsThirdComeLast(t *testing.T) {
	t.Parallel()
	loud := []schema.SearchResult{
		enginetest.By("loud", "l0", 0), enginetest.By("loud", "l1", 1), enginetest.By("unknown", "u0", 2),
		enginetest.By("loud", "l2", 3), enginetest.By("loud", "l3", 4), enginetest.By("unknown", "u1", 5),
		enginetest.By("loud", "l4", 6), enginetest.By("unknown", "u2", 7), enginetest.By("unknown", "u3", 8),
		enginetest.By("quiet", "q0", 9),
	}
	for name, tt := range map[string]struct {
		size int // of the platform's pages
		sort string
		want [][]string // pages
	}{
		"on one page": {10, "", [][]string{{"l0", "l1", "u0", "l2", "u1", "u2", "u3", "q0", "l3", "l4"}}},
		"of each page by itself": {7, "", [][]string{
			{"l0", "l1", "u0", "l2", "u1", "l3", "l4"}, {"u2", "u3", "q0"},
		}},
		"not newest first": {10, "recent", [][]string{{"l0", "l1", "u0", "l2", "l3", "u1", "l4", "u2", "u3", "q0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(tt.size, loud...)))
			var got [][]string
			req := socialdata.SearchAcrossRequest{Sort: tt.sort}
			for {
				page := searchAll(t, e.Client, req)
				got = append(got, enginetest.IDs(page.Data))
				if again := searchAll(t, e.Client, req); again.Meta.NextCursor != page.Meta.NextCursor {
					t.Error("the same page from the cache has another cursor")
				}
				if req.Cursor = page.Meta.NextCursor; req.Cursor == "" {
					break
				}
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
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
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Page: socialdata.Page{Cursor: cursor}})
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
	e.WantBalance(t, 1000-6)
}

func TestAResultOfTwoPlatformsIsReturnedOnceAcrossPages(t *testing.T) {
	t.Parallel()
	same := enginetest.By("w", "same", 1)
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok,
		enginetest.Lists(2, append(enginetest.Some("t", 2), same)...)), enginetest.Searcher(platform.X,
		enginetest.Lists(2, append([]schema.SearchResult{same}, enginetest.Some("x", 3)...)...)))
	var got []string
	for cursor := ""; ; {
		page := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Page: socialdata.Page{Cursor: cursor}})
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
					for _, p := range page.Items { // of three authors, some of whom have more than three
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
				t.Fatalf("call %d: %v, want at most 100 that succeed", calls, err)
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
		got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Page: socialdata.Page{Cursor: cursor}})
		n += len(got.Data)
		if cursor = got.Meta.NextCursor; cursor == "" {
			break
		}
		if len(cursor) > 8192 {
			t.Fatalf("a cursor has %d characters, want at most 8192", len(cursor))
		}
	}
	if want := 90 * (len(all) - 1); n != want { // the sandbox is searched only if it is the only platform
		t.Errorf("%d results, want %d", n, want)
	}
}

func TestASearchReportsPlatformsThatFail(t *testing.T) {
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
				t.Errorf("%s: %d results for %d credits, want some for 3", word, len(got.Data), got.Meta.CreditsUsed)
			}
		}
		synctest.Wait() // for the releases of what has failed
		e.WantBalance(t, 1000-5*3)
	})
}

func TestASearchFailsIfAllPlatformsFail(t *testing.T) {
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
		{"a", socialdata.SearchAcrossRequest{Platforms: ids{platform.GitHub}}, problem.PlatformUnavailable, []string{"github does not offer Search"}},
		{"a", socialdata.SearchAcrossRequest{Platforms: ids{platform.GitHub, platform.Kwai}}, problem.PlatformUnavailable, []string{"Search is not offered by", "github, kwai"}},
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

func TestASearchWithoutResultsIsCharged(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{}, platform.TikTok, platform.X)})
	got := searchAll(t, e.Client, socialdata.SearchAcrossRequest{Query: "empty"})
	wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK}, got.Meta.Platforms)
	if len(got.Data) != 0 || got.Meta.CreditsUsed != 2 {
		t.Errorf("%d results for %d credits, want 0 for 2", len(got.Data), got.Meta.CreditsUsed)
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
		t.Errorf("%d credits used, %d left; want 9, 991", got.Meta.CreditsUsed, e.Balance(t))
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
		t.Errorf("%d credits used, %d left; want 2, 998", got.Meta.CreditsUsed, e.Balance(t))
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
		t.Errorf("%d credits are left after %d calls; want 2, 0", e.Balance(t), calls.Count())
	}
}

func TestACursorOfAPlatformWithoutAProvider(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(2, enginetest.Some("t", 5)...)))
	cursor := searchAll(t, e.Client, socialdata.SearchAcrossRequest{}).Meta.NextCursor
	p := enginetest.Searcher(platform.TikTok, enginetest.Lists(2, enginetest.Some("t", 5)...))
	p.Name = "another"
	_, err := enginetest.Of(t, p).Client.SearchAcross(t.Context(),
		socialdata.SearchAcrossRequest{Query: "coffee", Page: socialdata.Page{Cursor: cursor}})
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
			t.Fatalf("%s: the detail is %q", name, p.Detail)
		}
	}
	for name, req := range map[string]socialdata.SearchAcrossRequest{
		"patience": {Wait: 20 * time.Second}, "freshness": {
			ReadOptions: socialdata.ReadOptions{Fresh: true, IncludeRaw: true, Enrich: socialdata.Arabic},
		},
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
		if diff := gocmp.Diff(first.Data, idle.Data); diff != "" || idle.Meta.JobID != id || idle.Meta.CreditsUsed != 1 ||
			time.Since(began) != 0 {
			t.Errorf("a poll without news: %+v (-first +poll)\n%s", idle.Meta, diff)
		}

		close(onX)
		synctest.Wait()
		second := job(t, e.Client, id, 3)
		wantResults(t, second.Data, len(first.Data)+3)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Pending},
			second.Meta.Platforms)
		if second.Meta.JobID != id || second.Meta.CreditsUsed != 2 || second.Meta.CreditsRemaining != 1000-6 ||
			second.Meta.NextCursor != "" {
			t.Errorf("meta is %+v, want job %s, 2 credits used, 994 left, no cursor", second.Meta, id)
		}

		close(onYouTube)
		third := job(t, e.Client, id, 10)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.OK},
			third.Meta.Platforms)
		if third.Meta.JobID != "" || third.Meta.CreditsUsed != 3+3 || third.Meta.CreditsRemaining != 1000-6 {
			t.Errorf("meta is %+v, want no job, 6 credits used, 994 left", third.Meta)
		}

		wantResults(t, third.Data, len(first.Data)+3+2)
		again := job(t, e.Client, id, 0)
		if diff := gocmp.Diff(third, again, cmpopts.IgnoreFields(schema.Meta{}, "RequestID")); diff != "" {
			t.Errorf("another answer when asked again (-third +again):\n%s", diff)
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
		if last.Meta.JobID != "" || last.Meta.CreditsUsed != 2 || last.Meta.CreditsRemaining != 998 {
			t.Errorf("meta is %+v, want no job, 2 credits used, 998 left", last.Meta)
		}
	})
}

// TestAJobWhoseRecordIsErasedMayBeMadeTwice repeats a search with a key after its record was erased, while the first run
// is still reading: both runs end.
func TestAJobWhoseRecordIsErasedMayBeMadeTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		key := "0123456789abcdef"
		req := enginetest.Keyed(enginetest.Call("query", "tea", "wait_s", "1"), key)
		for range 2 {
			a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"), req)
			if err != nil || a.Meta.JobID == "" {
				t.Fatalf("got %+v, %v; want a job", a, err)
			}
			if err := e.Records.Delete(t.Context(), calls.RecordKey(a.Meta.JobID), 0); err != nil {
				t.Fatal(err)
			}
		}
		close(onX)
		close(onYouTube)
		time.Sleep(time.Minute)
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
			t.Errorf("%d results after %v, job %q; want 3 after 6s, none", len(got.Data), took, got.Meta.JobID)
		}
		// And until the end if no results come.
		never := enginetest.Of(t, enginetest.Late(enginetest.Searcher(platform.X, nil), nil))
		began = time.Now()
		_, err := never.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "a", Wait: 1 * time.Second})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "x")
		took := time.Since(began)
		synctest.Wait() // until the hold is released
		if left := never.Balance(t); took != 14*time.Second || left != 1000 {
			t.Errorf("after %v, %d credits are left; want 14s, 1000", took, left)
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
		whole := job(t, e.Client, first.Meta.JobID, 5) // where "same" has its best rank
		got := [][]string{enginetest.IDs(first.Data), enginetest.IDs(whole.Data)}
		if diff := gocmp.Diff([][]string{{"t1", "same"}, {"same", "t1", "x1"}}, got); diff != "" {
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
		wantResults(t, got.Data, len(first.Data)+3)
		if got.Meta.JobID == "" {
			t.Error("the job is at its end")
		}
		e.Clock.Advance(16 * time.Second)
		got = job(t, client, first.Meta.JobID, 1)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.OK, platform.YouTube: schema.Failed},
			got.Meta.Platforms)
		if got.Meta.JobID != "" {
			t.Error("the job is not at its end")
		}
		wantResults(t, got.Data, len(first.Data)+3)
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
		e.WantBalance(t, 1000)
	})
}

func TestARunningSearchIsStreamed(t *testing.T) {
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
		err := socialdata.FrontEnd(e.Client).Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "upstream_error"),
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
			t.Errorf("meta is %+v, want 2 credits used, a cursor, no job", meta)
		}
		wantCharges(t, e, enginetest.Charged(1, "search", "tiktok", "MISS"), enginetest.Charged(1, "search", "x", "MISS"))
	})
}

func TestAStreamedSearchFailsWithAProblem(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for name, c := range map[string]operation.Call{
		"a missing query":    enginetest.Call(),
		"an idempotency key": {Params: map[string][]string{"query": {"a"}}, IdempotencyKey: "0123456789abcdef"},
		"a forged cursor":    enginetest.Call("query", "a", "cursor", "x"),
	} {
		err := socialdata.FrontEnd(e.Client).Stream(t.Context(), socialdata.Operation("search_across"), c,
			func(operation.Event) bool { t.Error(name, "gives an event"); return true })
		enginetest.WantProblem(t, err, problem.InvalidRequest)
	}
	err := socialdata.FrontEnd(e.Client).Stream(t.Context(), socialdata.Operation("search_across"), enginetest.Call("query", "upstream_error"),
		func(operation.Event) bool { return true })
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	e.WantBalance(t, 1000)
}

// TestAPollElsewhereReadsTheRecordOnceASecond waits for the end of a search that another process makes.
func TestAPollElsewhereReadsTheRecordOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &counting{Store: e.Records}
		makes, asks := over(t, e, nil, nil, twoPlatforms()...), over(t, e, nil, store, twoPlatforms()...)
		id := searchAll(t, makes, socialdata.SearchAcrossRequest{Wait: time.Second}).Meta.JobID
		time.Sleep(500 * time.Millisecond)
		before, began := store.n.Count(), time.Now()
		got := job(t, asks, id, 10) // the search ends after 3.5 seconds
		if took := time.Since(began); took != 4*time.Second || got.Meta.JobID != "" || got.Meta.CreditsUsed != 2 {
			t.Errorf("after %v the answer is %+v; want 4s, 2 credits used, no job", took, got.Meta)
		}
		if n := store.n.Count() - before; n != 6 { // with the one for the answer
			t.Errorf("%d reads in four seconds, want 6", n)
		}
		other, _ := e.Account(t, "another", 10)
		_, err := asks.As(other).Job(t.Context(), socialdata.JobRequest{ID: id, Wait: 10 * time.Second})
		enginetest.WantProblem(t, err, problem.NotFound)
	})
}

// counting counts the reads of a store of records.
type counting struct {
	records.Store
	n enginetest.Counter
}

func (c *counting) Get(ctx context.Context, key string) (records.Record, error) {
	c.n.Add()
	return c.Store.Get(ctx, key)
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
			t.Errorf("Close = %v, %d credits are left; want 999", err, e.Balance(t))
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
