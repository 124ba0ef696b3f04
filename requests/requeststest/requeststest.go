// Package requeststest is the test suite for implementations of [requests.Store].
//
//	func TestRequests(t *testing.T) {
//		requeststest.Run(t, func(t *testing.T) requests.Store { return openTemp(t).Requests() })
//	}
package requeststest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/requests"
)

// Open returns a new store without requests. It cleans up through t.
type Open func(t *testing.T) requests.Store

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, s requests.Store){
		"the log": testLog, "trimming": testTrim, "usage": testUsage, "folding": testFold, "folding at once": testFoldAtOnce,
		"many at once": testAddAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// sample returns the nth of several requests that differ in the fields by which queries select.
func sample(n int) requests.Request {
	r := requests.Request{
		At: start.Add(time.Duration(n) * time.Second), ID: fmt.Sprint("req_", n), Account: []string{"acct_a", "acct_b"}[n%2],
		Key: fmt.Sprint("key_", n%3), Operation: []string{"profile", "posts"}[n%2],
		Platform: []string{"github", "", "mock"}[n%3],
		Source:   "api", Status: 200, Cache: "MISS", Credits: int64(n % 4), Took: time.Duration(n) * time.Millisecond,
		Held: 9, Providers: []requests.Provider{
			{Name: "github", Calls: 2, Took: time.Duration(n) * time.Millisecond, Status: 503, Cause: "upstream unavailable: status 503"},
			{Name: "own", Cause: "passed over"},
		},
	}
	if n%5 == 0 {
		r.Status, r.Code, r.Cache, r.Credits, r.Providers = 404, "not_found", "", 0, nil
		r.Detail, r.Upstream = "there is no account …", 410
	}
	return r
}

func add(t *testing.T, s requests.Store, batch ...requests.Request) {
	t.Helper()
	counted := requests.Tallies{}
	for i := range batch {
		counted.Count(&batch[i])
	}
	if err := s.Add(t.Context(), batch, counted.List()); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, s requests.Store, q requests.Query) []requests.Request {
	t.Helper()
	got, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func testLog(t *testing.T, s requests.Store) {
	t.Helper()
	const n = 30
	var all []requests.Request // oldest first
	for i := 0; i < n; i += 10 {
		var batch []requests.Request
		for j := range 10 {
			batch = append(batch, sample(i+j))
		}
		add(t, s, batch...)
		all = append(all, batch...)
	}
	got := list(t, s, requests.Query{})
	if len(got) != n {
		t.Fatalf("%d requests are listed; want %d", len(got), n)
	}
	for i := range got {
		all[n-1-i].Seq = got[i].Seq
		if i > 0 && got[i].Seq >= got[i-1].Seq {
			t.Fatalf("Seq %d follows %d; want newest first", got[i].Seq, got[i-1].Seq)
		}
	}
	middle := all[n/2].Seq
	for _, q := range []requests.Query{
		{},
		{Account: "acct_a"},
		{Key: "key_1"},
		{Operation: "posts", Platform: "mock"},
		{ID: "req_7"},
		{ID: "req_none"},
		{Status: 404},
		{Before: middle},
		{After: middle},
		{Before: middle, Limit: 3},
		{Account: "acct_b", Limit: 2},
		{After: all[n-1].Seq},
	} {
		var want []requests.Request
		for i := n - 1; i >= 0 && (q.Limit == 0 || len(want) < q.Limit); i-- {
			if q.Selects(&all[i]) {
				want = append(want, all[i])
			}
		}
		if diff := cmp.Diff(want, list(t, s, q)); diff != "" {
			t.Errorf("List(%+v) (-want +got):\n%s", q, diff)
		}
	}
}

func testTrim(t *testing.T, s requests.Store) {
	t.Helper()
	for i := range 20 {
		add(t, s, sample(i))
	}
	now := start.Add(20 * time.Second)
	trim := func(b requests.Bounds, want int) {
		t.Helper()
		if err := s.Trim(t.Context(), b, now); err != nil {
			t.Fatal(err)
		}
		got := list(t, s, requests.Query{})
		if len(got) != want || want > 0 && got[0].ID != "req_19" {
			t.Errorf("%d requests are left within %+v; want the newest %d", len(got), b, want)
		}
	}
	trim(requests.Bounds{}, 20)
	trim(requests.Bounds{Most: 8}, 8)
	trim(requests.Bounds{Life: 5 * time.Second}, 4) // older requests than five seconds are removed
	add(t, s, requests.Request{At: start.AddDate(0, 0, 3), ID: "later", Account: "acct_a", Status: 200})
	if got := sums(t, s, requests.SumQuery{By: []requests.Dimension{requests.ByDay}}); len(got) != 2 {
		t.Errorf("the usage of %d days; want 2, whatever has left the log", len(got))
	}
	now = start.AddDate(0, 0, 3)
	if err := s.Trim(t.Context(), requests.Bounds{Days: 3}, now); err != nil {
		t.Fatal(err)
	}
	if got := sums(t, s, requests.SumQuery{By: []requests.Dimension{requests.ByDay}}); len(got) != 1 {
		t.Errorf("the usage of %d days; want that of the last three, in which there is one", len(got))
	}
}

func sums(t *testing.T, s requests.Store, q requests.SumQuery) []requests.Rollup {
	t.Helper()
	got, err := s.Sums(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return requests.Rollups(got)
}

func testUsage(t *testing.T, s requests.Store) {
	t.Helper()
	day := requests.DayOf(start)
	for i := range 30 {
		r := sample(i)
		r.At = r.At.AddDate(0, 0, i%2)
		add(t, s, r)
	}
	dropped := requests.Tallies{}
	lost := sample(0)
	dropped.Drop(&lost)
	sent := requests.Upstream{Requests: 2, Credits: 30}
	dropped.Send(start, "github", "profile", "vendor", sent)
	if err := s.Add(t.Context(), nil, dropped.List()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		q     requests.SumQuery
		wants map[requests.Place][3]int64 // free, failed, dropped
	}{
		{requests.SumQuery{}, map[requests.Place][3]int64{{}: {6, 6, 1}}},
		{requests.SumQuery{By: []requests.Dimension{requests.ByDay}}, map[requests.Place][3]int64{{Day: day}: {6, 3, 1}, {Day: day + 1}: {0, 3, 0}}},
		{
			requests.SumQuery{By: []requests.Dimension{requests.ByKey}, Account: "acct_a"},
			map[requests.Place][3]int64{{Key: "key_0"}: {2, 1, 1}, {Key: "key_1"}: {3, 1, 0}, {Key: "key_2"}: {1, 1, 0}},
		},
		{requests.SumQuery{Since: day + 1, By: []requests.Dimension{requests.ByAccount, requests.ByOperation}}, map[requests.Place][3]int64{{}: {}, {Account: "acct_b", Operation: "posts"}: {0, 3, 0}}},
		{requests.SumQuery{Until: day + 1, Platform: "mock", Operation: "profile", Key: "key_2"}, map[requests.Place][3]int64{{}: {1, 1, 0}}},
		{requests.SumQuery{Account: "acct_c"}, map[requests.Place][3]int64{}},
		{requests.SumQuery{Platform: "mock\x00"}, map[requests.Place][3]int64{}},
		{requests.SumQuery{Key: "key_\xff"}, map[requests.Place][3]int64{}},
	} {
		got := map[requests.Place][3]int64{}
		for _, r := range sums(t, s, tt.q) {
			if r.Errors["not_found"] != r.Failed {
				t.Errorf("%+v: errors %v of %d failed calls", tt.q, r.Errors, r.Failed)
			}
			got[r.Place] = [3]int64{r.Free, r.Failed, r.Dropped}
		}
		if diff := cmp.Diff(tt.wants, got); diff != "" {
			t.Errorf("%+v: free, failed, dropped (-want +got):\n%s", tt.q, diff)
		}
	}
	for _, r := range sums(t, s, requests.SumQuery{By: []requests.Dimension{requests.ByPlatform}, NoAccount: true}) {
		calls := int64(0)
		for _, hour := range r.Hours {
			calls += hour.Calls
		}
		if r.Calls != 0 || r.Dropped != 0 || calls != 10 {
			t.Errorf("%q without accounts: %+v", r.Platform, r)
		}
	}
	for _, r := range sums(t, s, requests.SumQuery{By: []requests.Dimension{requests.ByDay}}) {
		want := map[int64]requests.Upstream{day: sent}[r.Day]
		if r.Upstreams["vendor"] != want {
			t.Errorf("on day %d, upstreams were sent %+v; want %+v", r.Day-day, r.Upstreams, want)
		}
	}
}

// charges counts n entries of 2 credits.
func charges(n int) []requests.Tally {
	counted := requests.Tallies{}
	for range n {
		counted.Entry(&credits.Entry{
			Account: "acct_a", Key: "key_1", Kind: credits.Charged, Amount: -2, Platform: "mock", Cache: "HIT", At: start,
		})
	}
	return counted.List()
}

func testFold(t *testing.T, s requests.Store) {
	t.Helper()
	folded := func(want int64) {
		t.Helper()
		if got, err := s.Folded(t.Context(), "acct_a"); got != want || err != nil {
			t.Errorf("Folded = %d, %v; want %d", got, err, want)
		}
	}
	folded(0)
	for _, step := range []struct{ after, through int64 }{{0, 3}, {3, 5}} {
		if err := s.Fold(t.Context(), "acct_a", step.after, step.through, charges(int(step.through-step.after))); err != nil {
			t.Fatal(err)
		}
		folded(step.through)
	}
	for _, after := range []int64{0, 3, 6} {
		if err := s.Fold(t.Context(), "acct_a", after, 9, charges(1)); !errors.Is(err, requests.ErrFolded) {
			t.Errorf("Fold after %d = %v; want ErrFolded", after, err)
		}
	}
	folded(5)
	got := sums(t, s, requests.SumQuery{Account: "acct_a"})
	if len(got) != 1 || got[0].Paid != 5 || got[0].Credits != 10 || got[0].Hits != 5 || got[0].Calls != 5 {
		t.Errorf("five entries are %+v", got)
	}
}

// testFoldAtOnce folds the same entries concurrently: each counts once.
func testFoldAtOnce(t *testing.T, s requests.Store) {
	t.Helper()
	ledger := credits.NewMemory(credits.MemoryConfig{})
	if _, err := ledger.Grant(t.Context(), "acct_a", 1000, "test"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := ledger.Charge(t.Context(), credits.Spender{Account: "acct_a"},
					credits.Charge{Amount: 3, Operation: "profile"}); err != nil {
					t.Error(err)
				}
				if err := requests.Fold(t.Context(), s, ledger, "acct_a", time.Time{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := sums(t, s, requests.SumQuery{}); len(got) != 1 || got[0].Paid != 80 || got[0].Credits != 240 {
		t.Errorf("80 charges of 3 credits are %+v", got)
	}
}

func testAddAtOnce(t *testing.T, s requests.Store) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 10 {
				batch := make([]requests.Request, 25)
				counted := requests.Tallies{}
				for j := range batch {
					batch[j] = sample(5 * (w*1000 + i*25 + j))
					counted.Count(&batch[j])
				}
				if err := s.Add(t.Context(), batch, counted.List()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := list(t, s, requests.Query{}); len(got) != 1000 {
		t.Errorf("%d requests are in the log; want 1000", len(got))
	}
	if got := sums(t, s, requests.SumQuery{}); len(got) != 1 || got[0].Failed != 1000 {
		t.Errorf("1000 failed calls are %+v", got)
	}
}
