package socialdata_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// timeline is an upstream's list of posts, page by page, with their ages in hours; negative for an unknown time.
type timeline struct {
	pages  [][]timed
	failAt int // page that fails, from 1; 0 for none
	asked  []int
}

type timed struct{ id, hours int }

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func hoursAgo(n int) time.Time { return noon.Add(-time.Duration(n) * time.Hour) }

func (l *timeline) read(_ context.Context, _, token string) (providers.Page[schema.Post], error) {
	at, _ := strconv.Atoi(token)
	l.asked = append(l.asked, at)
	var page providers.Page[schema.Post]
	if at+1 == l.failAt {
		return page, &providers.Error{Kind: providers.ErrUnavailable, Detail: "down"}
	}
	for _, row := range l.pages[at] {
		p := post(strconv.Itoa(row.id))
		p.CreatedAt = nil
		if row.hours >= 0 {
			p.CreatedAt = new(hoursAgo(row.hours))
		}
		page.Items = append(page.Items, p)
	}
	if at+1 < len(l.pages) {
		page.Next = strconv.Itoa(at + 1)
	}
	return page, nil
}

func (l *timeline) engine(tb testing.TB) *enginetest.Engine {
	tb.Helper()
	return enginetest.New(tb, enginetest.Config{Providers: []providers.Provider{{
		Name: "timeline", Platform: platform.GitHub, Source: schema.Own, Posts: l.read,
		Filters: map[providers.Op]providers.Filters{providers.OpPosts: providers.NewestFirst()},
	}}, Options: []socialdata.Option{socialdata.WithEnricher(enginetest.Enricher())}})
}

// tens returns a timeline of pages of ten posts, one an hour.
func tens(pages int) *timeline {
	l := &timeline{}
	for n := range pages {
		var page []timed
		for i := range 10 {
			page = append(page, timed{n*10 + i, n*10 + i})
		}
		l.pages = append(l.pages, page)
	}
	return l
}

var ofA = socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}

func idsOf(posts []schema.Post) []string {
	ids := []string{}
	for _, p := range posts {
		ids = append(ids, p.ID)
	}
	return ids
}

func numbers(from, to int) []string {
	ids := []string{}
	for n := from; n < to; n++ {
		ids = append(ids, strconv.Itoa(n))
	}
	return ids
}

func walked(t interface{ Fatal(...any) }, c *socialdata.Client, req socialdata.PostsRequest) (ids []string, credits int64) {
	ids = []string{}
	for page, err := range socialdata.Pages(context.Background(), c.Posts, req) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, idsOf(page.Data)...)
		credits += page.Meta.CreditsUsed
	}
	return ids, credits
}

// TestPagesInOneCallEqualSinglePages walks a hostile list one page a call and several pages a call: the rows are the
// same, in the same order, each once, and cost the same.
func TestPagesInOneCallEqualSinglePages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := &timeline{}
		for range rapid.IntRange(1, 14).Draw(rt, "pages") {
			var page []timed
			for _, id := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 8).Draw(rt, "rows") {
				page = append(page, timed{id, 1})
			}
			l.pages = append(l.pages, page)
		}
		want, price := walked(rt, l.engine(t).Client, ofA)
		several := ofA
		several.Pages = rapid.IntRange(2, 10).Draw(rt, "together")
		e := l.engine(t)
		got, cost := walked(rt, e.Client, several)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("rows (-one by one +%d pages a call):\n%s", several.Pages, diff)
		}
		if cost != price || 1000-e.Balance(t) != cost {
			rt.Fatalf("costs %d, and %d one by one; the ledger has %d", cost, price, 1000-e.Balance(t))
		}
		// Again, from the cache.
		again, cost := walked(rt, e.Client, several)
		if diff := cmp.Diff(want, again); diff != "" || cost != price {
			rt.Fatalf("from the cache for %d (-one by one):\n%s", cost, diff)
		}
	})
}

// TestSinceReturnsEachPostOnce walks lists that are newest first, with pins, repeats, unknown times and empty pages.
func TestSinceReturnsEachPostOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l, id, hours := &timeline{}, 0, 0
		var before []timed
		for n := range rapid.IntRange(1, 8).Draw(rt, "pages") {
			page := []timed{}
			if len(before) > 0 { // the list has shifted
				page = append(page, before[len(before)-rapid.IntRange(0, min(3, len(before))).Draw(rt, "repeats"):]...)
			}
			for range rapid.IntRange(0, 6).Draw(rt, "rows") {
				hours += rapid.IntRange(0, 5).Draw(rt, "hours")
				row := timed{id, hours}
				if rapid.IntRange(0, 9).Draw(rt, "unknown") == 0 {
					row.hours = -1
				}
				page = append(page, row)
				id++
			}
			if n == 0 {
				for range rapid.IntRange(0, 2).Draw(rt, "pins") {
					page = append([]timed{{1000 + id, 500 + id}}, page...)
					id++
				}
			}
			l.pages, before = append(l.pages, page), page
		}
		bound := rapid.IntRange(0, hours+1).Draw(rt, "since")
		wanted := func(r timed) bool { return r.hours < 0 || r.hours <= bound }
		last, known := len(l.pages), map[int]bool{} // the first page that is new and not wanted; those behind it are not read
		for n, page := range l.pages {
			page = slices.DeleteFunc(slices.Clone(page), func(r timed) bool { return known[r.id] })
			if len(page) > 0 && !slices.ContainsFunc(page, wanted) {
				last = n
				break
			}
			for _, r := range page {
				known[r.id] = true
			}
		}
		want := map[string]bool{}
		for _, page := range l.pages[:last] {
			for _, r := range page {
				if wanted(r) {
					want[strconv.Itoa(r.id)] = true
				}
			}
		}
		req := ofA
		req.Since, req.Pages = hoursAgo(bound), rapid.IntRange(1, 5).Draw(rt, "together")
		ids, _ := walked(rt, l.engine(t).Client, req)
		got := map[string]bool{}
		for _, id := range ids {
			if got[id] {
				rt.Fatalf("%s came twice", id)
			}
			got[id] = true
		}
		for id := range want {
			if !got[id] {
				rt.Fatalf("%s is lost of %v: got %v", id, l.pages, ids)
			}
		}
		for id := range got {
			if !want[id] {
				rt.Fatalf("%s is older than %d hours, or behind the end: %v", id, bound, l.pages)
			}
		}
		if most := slices.Max(l.asked); most > last {
			rt.Fatalf("page %d was read, the walk ends at %d", most, last)
		}
	})
}

func TestPagesInOneAnswer(t *testing.T) {
	t.Parallel()
	l := tens(5)
	e := l.engine(t)
	req := ofA
	req.Pages = 3
	got, err := e.Client.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(numbers(0, 30), idsOf(got.Data)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got.Meta.CreditsUsed != 3 || got.Meta.Cache != schema.Miss || got.Meta.NextCursor == "" {
		t.Errorf("meta %+v; want 3 credits, a miss and a cursor", got.Meta)
	}
	if n := len(e.Charges(t)); n != 1 {
		t.Errorf("%d entries, want one", n)
	}
	// A part of it from the cache is a miss, all of it a hit.
	for pages, want := range map[int]schema.CacheState{2: schema.Hit, 4: schema.Miss} {
		req.Pages = pages
		if got, err = e.Client.Posts(t.Context(), req); err != nil || got.Meta.Cache != want ||
			got.Meta.CreditsUsed != int64(pages) {
			t.Errorf("%d pages: %+v, %v; want a %s for as many credits", pages, got.Meta, err, want)
		}
	}
	// Single pages come from the same entries.
	if got, err = e.Client.Posts(t.Context(), ofA); err != nil || got.Meta.Cache != schema.Hit || len(got.Data) != 10 {
		t.Errorf("one page: %d rows, %+v, %v; want 10 rows and a hit", len(got.Data), got.Meta, err)
	}
	req.Pages = 11
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "pages", "from 1 to 10")
}

func TestALimitStopsReadingPages(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]struct {
		pages int64
		next  bool
	}{5: {1, false}, 10: {1, false}, 11: {2, false}, 30: {3, true}, 31: {3, true}} {
		e := tens(5).engine(t)
		req := ofA
		req.Pages, req.Limit = 3, limit
		got, err := e.Client.Posts(t.Context(), req)
		if err != nil || len(got.Data) != min(limit, 30) || got.Meta.CreditsUsed != want.pages ||
			(got.Meta.NextCursor != "") != want.next {
			t.Errorf("limit %d: %d rows, %+v, %v; want %+v", limit, len(got.Data), got.Meta, err, want)
		}
	}
}

func TestAFailedPageEndsTheCall(t *testing.T) {
	t.Parallel()
	l := tens(5)
	l.failAt = 3
	e := l.engine(t)
	req := ofA
	req.Pages = 5
	got, err := e.Client.Posts(t.Context(), req)
	if err != nil || len(got.Data) != 20 || got.Meta.CreditsUsed != 2 || got.Meta.NextCursor == "" {
		t.Fatalf("got %d rows, %+v, %v; want 20 rows, 2 credits and a cursor", len(got.Data), got.Meta, err)
	}
	if balance := e.Balance(t); balance != 998 {
		t.Errorf("the balance is %d; want 998", balance)
	}
	l.failAt = 0
	req.Cursor = got.Meta.NextCursor
	if got, err = e.Client.Posts(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(numbers(20, 50), idsOf(got.Data)); diff != "" || got.Meta.NextCursor != "" {
		t.Errorf("the rest (-want +got):\n%s%+v", diff, got.Meta)
	}
	l.failAt = 1
	req = ofA
	req.Pages, req.Fresh = 2, true
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.PlatformUnavailable)
	if balance := e.Balance(t); balance != 995 {
		t.Errorf("the balance is %d after a call that failed; want 995", balance)
	}
}

func TestCursorsIncludeSince(t *testing.T) {
	t.Parallel()
	e := tens(5).engine(t)
	req := ofA
	req.Since = hoursAgo(24)
	first, err := e.Client.Posts(t.Context(), req)
	if err != nil || len(first.Data) != 10 {
		t.Fatalf("got %d rows, %v; want 10", len(first.Data), err)
	}
	req.Cursor = first.Meta.NextCursor
	want := numbers(10, 25)
	for _, since := range []time.Time{{}, req.Since} { // it need not be repeated
		on := req
		on.Since, on.Pages = since, 5
		got, err := e.Client.Posts(t.Context(), on)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, idsOf(got.Data)); diff != "" || got.Meta.NextCursor != "" || got.Meta.CreditsUsed != 3 {
			t.Errorf("rows (-want +got):\n%s%+v", diff, got.Meta)
		}
	}
	req.Since = hoursAgo(23)
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "since")
	// A cursor of a walk without an end has none.
	plain, err := e.Client.Posts(t.Context(), ofA)
	if err != nil {
		t.Fatal(err)
	}
	req.Cursor = plain.Meta.NextCursor
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "since")
}

func TestAWalkStopsAtAnID(t *testing.T) {
	t.Parallel()
	l := tens(5)
	e := l.engine(t)
	req := ofA
	req.StopAtID, req.Pages = "13", 4
	got, err := e.Client.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(numbers(0, 13), idsOf(got.Data)); diff != "" || got.Meta.NextCursor != "" ||
		got.Meta.CreditsUsed != 2 || len(l.asked) != 2 {
		t.Errorf("rows (-want +got):\n%s%+v after %v", diff, got.Meta, l.asked)
	}
	req.Pages = 0
	if ids, _ := walked(t, e.Client, req); !slices.Equal(ids, numbers(0, 13)) {
		t.Errorf("a walk yields %v; want 0 to 12", ids)
	}
	req.StopAtID = post("3").URL
	if ids, _ := walked(t, e.Client, req); !slices.Equal(ids, numbers(0, 3)) {
		t.Errorf("up to a URL, a walk yields %v; want 0 to 2", ids)
	}
}

func TestSinceNeedsAListThatIsNewestFirst(t *testing.T) {
	t.Parallel()
	unordered := enginetest.Posts(platform.GitHub, "unordered", tens(2).read)
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{unordered}})
	req := ofA
	req.Since = noon
	_, err := e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "since")
	req.Since, req.StopAtID = time.Time{}, "3"
	_, err = e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "stop_at_id")
	if n := len(e.Charges(t)); n != 0 {
		t.Errorf("%d calls were charged; want none", n)
	}
	for _, o := range socialdata.Operations() {
		if newest := o.Name == "posts" || o.Name == "reels" || o.Redirects; o.Has("stop_at_id") != newest {
			t.Errorf("%s has stop_at_id: %t; want %t", o.Name, !newest, newest)
		}
	}
}

// TestEstimatesAndTheLedgerAgreeOnPages compares the estimate of a call with what is held and charged for it.
func TestEstimatesAndTheLedgerAgreeOnPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e := tens(rapid.IntRange(1, 12).Draw(rt, "there")).engine(t)
		pages := rapid.IntRange(1, 10).Draw(rt, "pages")
		fresh, enrich := rapid.Bool().Draw(rt, "fresh"), rapid.Bool().Draw(rt, "enrich")
		path, req := "/v1/github/posts?handle=a&pages="+strconv.Itoa(pages), ofA
		req.Pages, req.Fresh = pages, fresh
		base, most := int64(1), int64(pages)
		if fresh {
			path, most, base = path+"&fresh=true", most*2, 2
		}
		if enrich {
			req.Enrich = socialdata.Arabic
			path, most = path+"&enrich=arabic", most+3
		}
		estimate, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: path})
		if err != nil || estimate.Data.Credits.Most != most || estimate.Data.Cache != schema.Miss {
			rt.Fatalf("estimate %+v, %v; want at most %d", estimate, err, most)
		}
		if req.MaxCredits = most - 1; req.MaxCredits > 0 {
			if _, err = e.Client.Posts(t.Context(), req); !errors.Is(err, problem.InsufficientCredits) {
				rt.Fatalf("with max_credits=%d: %v; want %s", most-1, err, problem.InsufficientCredits)
			}
		}
		req.MaxCredits = most
		got, err := e.Client.Posts(t.Context(), req)
		if err != nil {
			rt.Fatal(err)
		}
		want := int64((len(got.Data)+9)/10) * base
		if enrich {
			want += 3
		}
		if got.Meta.CreditsUsed != want || e.Balance(t) != 1000-want || want > most {
			rt.Fatalf("costs %d, the balance is %d; want %d", got.Meta.CreditsUsed, e.Balance(t), want)
		}
		if estimate, err = e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: path}); err != nil ||
			(estimate.Data.Cache == schema.Hit) == fresh {
			rt.Fatalf("then the estimate is %+v, %v; want a hit: %t", estimate, err, !fresh)
		}
	})
}

func TestEachPageCountsInTheRateLimit(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Rate: keys.Rate{Capacity: 5, Refill: 0.001}})
	front := socialdata.FrontEnd(e.Client)
	call := enginetest.Call("handle", "ann", "pages", "3")
	call.Platform = "mock"
	call.More = func(ctx context.Context, n int) error {
		_, err := front.AdmitMore(ctx, n)
		return err
	}
	for i, want := range []error{nil, nil, problem.RateLimited} {
		if _, err := front.Do(t.Context(), socialdata.Operation("posts"), call); !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
}
