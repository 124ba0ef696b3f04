package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/socialdata/socialdata/credits"
)

// testGifts grants and refunds, repeatedly and concurrently. A ledger that is not a [credits.Granter] is skipped.
func testGifts(t *testing.T, open Open) {
	t.Helper()
	ledger := open(t, 100)
	l, ok := ledger.(credits.Granter)
	if !ok {
		t.Skip("no credits.Granter")
	}
	spend(t, ledger, 10, credits.Charge{RequestID: "req_1"})
	spend(t, ledger, 10, credits.Charge{RequestID: "req_2"})

	grant := credits.Gift{Account: Account, Kind: credits.Granted, Amount: 5, Reason: "paid", Key: "invoice 7"}
	refund := credits.Gift{Account: Account, Kind: credits.Refunded, Amount: 4, RequestID: "req_1", Reason: "sorry", Key: "ticket 1"}
	for range 2 {
		if n, err := l.Give(t.Context(), grant); err != nil || n != 85 {
			t.Errorf("Give = %d, %v; want 85", n, err)
		}
	}
	for range 2 {
		if n, err := l.Give(t.Context(), refund); err != nil || n != 89 {
			t.Errorf("Give back = %d, %v; want 89", n, err)
		}
	}
	other := grant
	other.Amount = 6
	if _, err := l.Give(t.Context(), other); !errors.Is(err, credits.ErrGiven) {
		t.Errorf("Give of another amount under the key = %v; want ErrGiven", err)
	}
	for _, tt := range []struct {
		request string
		n       int64
	}{{"req_1", 7}, {"req_3", 1}, {"", 1}} {
		if _, err := l.Refund(t.Context(), Account, tt.n, tt.request, ""); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("Refund of %d of %q = %v; want ErrAmount", tt.n, tt.request, err)
		}
	}
	const callers = 16
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := map[string]int64{}
	for i := range callers {
		for what, g := range map[string]credits.Gift{
			"refunds of any part":   {Kind: credits.Refunded, Amount: 3, RequestID: "req_2"},
			"refunds under one key": {Kind: credits.Refunded, Amount: 2, RequestID: "req_1", Key: "ticket 2"},
			"grants under one key":  {Kind: credits.Granted, Amount: 7, Key: "invoice 8"},
			"grants":                {Kind: credits.Granted, Amount: 1, Key: fmt.Sprint("invoice of ", i)},
		} {
			g.Account = Account
			wg.Go(func() {
				_, err := l.Give(t.Context(), g)
				if err != nil && (g.RequestID != "req_2" || !errors.Is(err, credits.ErrAmount)) {
					t.Errorf("%s: %v", what, err)
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					given[what] += g.Amount
				}
			})
		}
	}
	wg.Wait()
	if given["refunds of any part"] != 9 {
		t.Errorf("%d credits of a charge of 10 were given back in parts of 3; want 9", given["refunds of any part"])
	}
	wantBalance(t, ledger, 89+9+2+7+callers)
	for request, want := range map[string]int64{"req_1": 4, "req_2": 1} {
		if n, err := credits.Refundable(t.Context(), ledger, Account, request); err != nil || n != want {
			t.Errorf("Refundable(%s) = %d, %v; want %d", request, n, err, want)
		}
	}
	checkChain(t, entries(t, ledger, credits.Query{Limit: 1000}))
}
