package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/credits"
)

func testEntries(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 100)
	for i := range 6 {
		spend(t, l, int64(i+1), credits.Charge{
			Operation: "profile", Platform: []string{"github", "x"}[i%2], RequestID: fmt.Sprintf("req_%d", i/2), Cache: "MISS",
		})
	}
	tests := []struct {
		name string
		q    credits.Query
		want []int64 // seq
	}{
		{"all, newest first", credits.Query{}, []int64{7, 6, 5, 4, 3, 2, 1}},
		{"a limit", credits.Query{Limit: 2}, []int64{7, 6}},
		{"before a place", credits.Query{Before: 4}, []int64{3, 2, 1}},
		{"a page", credits.Query{Before: 6, Limit: 2}, []int64{5, 4}},
		{"nothing before the first", credits.Query{Before: 1}, []int64{}},
		{"a platform", credits.Query{Platform: "x"}, []int64{7, 5, 3}},
		{"a platform, paged", credits.Query{Platform: "x", Before: 7, Limit: 1}, []int64{5}},
		{"a request", credits.Query{RequestID: "req_1"}, []int64{5, 4}},
		{"a request on a platform", credits.Query{RequestID: "req_1", Platform: "github"}, []int64{4}},
		{"a request that was not", credits.Query{RequestID: "req_9"}, []int64{}},
		{"a platform that was not", credits.Query{Platform: "bluesky"}, []int64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := []int64{}
			for _, e := range entries(t, l, tt.q) {
				got = append(got, e.Seq)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("every filter selects the entries that match", func(t *testing.T) {
		t.Parallel()
		all := entries(t, l, credits.Query{})
		times, seqs := []time.Time{{}}, []int64{0}
		for _, e := range all {
			times, seqs = append(times, e.At, e.At.Add(time.Microsecond)), append(seqs, e.Seq)
		}
		for _, q := range filters(times, seqs) {
			want := []int64{}
			q.Account = Account
			for _, e := range all {
				if q.Selects(e) && len(want) < q.Limit {
					want = append(want, e.Seq)
				}
			}
			got := []int64{}
			for _, e := range entries(t, l, q) {
				got = append(got, e.Seq)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", q, diff)
			}
		}
	})
	t.Run("an entry has every field of its charge", func(t *testing.T) {
		t.Parallel()
		want := []credits.Entry{{
			Seq: 3, Account: Account, Kind: credits.Charged, Amount: -2, Balance: 97, Key: who.Key, Operation: "profile",
			Platform: "x", RequestID: "req_0", Cache: "MISS",
		}}
		got := entries(t, l, credits.Query{RequestID: "req_0", Platform: "x"})
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(credits.Entry{}, "Hold", "At", "Hash")); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		if got[0].Hold == "" || got[0].At.IsZero() {
			t.Errorf("entry %+v has no hold or no time", got[0])
		}
	})
	t.Run("there are a hundred without a limit", func(t *testing.T) {
		t.Parallel()
		l := open(t, 200)
		for range 101 {
			spend(t, l, 1, credits.Charge{})
		}
		if got := len(entries(t, l, credits.Query{})); got != 100 {
			t.Errorf("%d entries; want 100", got)
		}
	})
}

// filters returns queries of many kinds.
func filters(times []time.Time, seqs []int64) (all []credits.Query) {
	for n := range 300 {
		pick := func(step, of int) int { return n / step % of }
		all = append(all, credits.Query{
			Platform:  []string{"", "x", "github", "bluesky"}[pick(1, 4)],
			RequestID: []string{"", "", "req_1", "req_9"}[pick(4, 4)],
			Limit:     []int{1, 2, 100}[pick(5, 3)],
			Since:     times[pick(7, len(times))], Until: times[pick(3, len(times))], Before: seqs[pick(2, len(seqs))],
		})
	}
	return all
}

// testChain proves the entries as an audit does, and checks that a changed one is found.
func testChain(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 100)
	for i := range 5 {
		spend(t, l, int64(i+1), credits.Charge{Operation: "posts", RequestID: fmt.Sprint(i), IdempotencyKey: fmt.Sprint("once", i)})
	}
	all := entries(t, l, credits.Query{})
	checkChain(t, all)
	changes := map[string]func(e *credits.Entry){
		"amount":          func(e *credits.Entry) { e.Amount, e.Balance = e.Amount-1, e.Balance-1 },
		"key":             func(e *credits.Entry) { e.Key += "x" },
		"operation":       func(e *credits.Entry) { e.Operation = "profile" },
		"request id":      func(e *credits.Entry) { e.RequestID += "0" },
		"time":            func(e *credits.Entry) { e.At = e.At.Add(1000) },
		"hold":            func(e *credits.Entry) { e.Hold = "" },
		"idempotency key": func(e *credits.Entry) { e.IdempotencyKey = "" },
		"hash":            func(e *credits.Entry) { e.Hash[0]++ },
	}
	for what, change := range changes {
		e := all[2]
		change(&e)
		broken := e.Follows(all[3])
		if broken == nil {
			broken = all[1].Follows(e)
		}
		if !errors.Is(broken, credits.ErrBroken) {
			t.Errorf("a changed %s is not found: %v", what, broken)
		}
	}
}

// checkChain fails t unless all, newest first, is the complete chain of an account.
func checkChain(t *testing.T, all []credits.Entry) {
	t.Helper()
	last := credits.Entry{}
	for _, e := range slices.Backward(all) {
		if err := e.Follows(last); err != nil {
			t.Fatal(err)
		}
		last = e
	}
}

// testConcurrency lets many callers reserve more than the balance.
func testConcurrency(t *testing.T, open Open) {
	t.Helper()
	const balance, callers, calls = 300, 16, 40
	l := open(t, balance)
	var charged, refused atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for call := range calls {
				holds, err := l.Reserve(t.Context(), who, ttl, 2, 1)
				if errors.Is(err, credits.ErrInsufficient) {
					refused.Add(1)
					continue
				}
				if err != nil {
					t.Errorf("Reserve: %v", err)
					return
				}
				n := int64((caller + call) % 3)
				for i, n := range []int64{n, 0} {
					// Two at the same time: one of them charges.
					var both sync.WaitGroup
					for range 2 {
						both.Go(func() {
							r, err := l.Settle(t.Context(), holds[i], credits.Charge{Amount: n})
							if err != nil || r.Balance < 0 {
								t.Errorf("Settle = %d, %v", r.Balance, err)
							}
						})
					}
					both.Wait()
					charged.Add(n)
				}
			}
		})
	}
	wg.Wait()
	wantBalance(t, l, balance-charged.Load())
	all := entries(t, l, credits.Query{Limit: 10_000})
	checkChain(t, all)
	if refused.Load() == 0 || all[0].Balance != balance-charged.Load() {
		t.Errorf("%d refused, balance %d; want some, %d", refused.Load(), all[0].Balance, balance-charged.Load())
	}
}
