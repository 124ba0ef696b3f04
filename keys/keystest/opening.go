package keystest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Ledger is a ledger that can grant credits.
type Ledger interface {
	credits.Ledger
	credits.Granter
}

// OpenBoth returns new accounts and the ledger that they spend from. It cleans up through t.
type OpenBoth func(t *testing.T) (keys.Admin, Ledger)

// RunOpening tests the one method of a [keys.Admin] that moves credits.
func RunOpening(t *testing.T, open OpenBoth) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, accounts keys.Admin, l Ledger)
	}{
		{"an account begins with its credits", testOpening},
		{"an account is opened with its credits or not at all", testOpeningRefused},
		{"one of many concurrent calls gets a name", testOpeningConcurrently},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			accounts, l := open(t)
			topic.test(t, accounts, l)
		})
	}
}

func testOpening(t *testing.T, accounts keys.Admin, l Ledger) {
	t.Helper()
	for name, n := range map[string]int64{"none": 0, "some": 7, "most": credits.MaxBalance} {
		a, err := accounts.OpenAccount(t.Context(), name, n, "to begin with")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.Balance(t.Context(), a.ID); got != n || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, n)
		}
		entries, err := l.Entries(t.Context(), credits.Query{Account: a.ID})
		if n == 0 {
			if len(entries) > 0 || err != nil {
				t.Errorf("Entries = %+v, %v; want none", entries, err)
			}
			continue
		}
		if err != nil || len(entries) != 1 {
			t.Fatalf("Entries = %+v, %v; want one", entries, err)
		}
		if e := entries[0]; e.Kind != credits.Granted || e.Amount != n || e.Reason != "to begin with" ||
			e.Follows(credits.Entry{}) != nil {
			t.Errorf("the entry is %+v", e)
		}
		if n < credits.MaxBalance {
			continue
		}
		if _, err := l.Grant(t.Context(), a.ID, 1, ""); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("Grant above what can be counted = %v; want ErrAmount", err)
		}
	}
	a, err := accounts.Account(t.Context(), "some")
	if err != nil {
		t.Fatal(err)
	}
	holds, err := l.Reserve(t.Context(), credits.Spender{Account: a.ID}, time.Hour, 7)
	if err != nil {
		t.Fatalf("a new account cannot spend what it began with: %v", err)
	}
	charge := credits.Charge{Amount: 3, RequestID: "req_1"}
	if r, err := l.Settle(t.Context(), holds[0], charge); r.Balance != 4 || err != nil {
		t.Errorf("Settle = %+v, %v; want a balance of 4", r, err)
	}
	testRefunds(t, l, a.ID)
}

// testRefunds refunds some of the 3 credits that req_1 was charged, of 7.
func testRefunds(t *testing.T, l Ledger, account string) {
	t.Helper()
	refundable := func(request string, want int64) {
		t.Helper()
		if got, err := credits.Refundable(t.Context(), l, account, request); got != want || err != nil {
			t.Errorf("Refundable(%q) = %d, %v; want %d", request, got, err, want)
		}
	}
	refundable("req_1", 3)
	refundable("req_2", 0)
	refundable("", 0)
	for _, n := range []int64{0, -1, credits.MaxBalance} {
		if _, err := l.Refund(t.Context(), account, n, "req_1", ""); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("Refund of %d = %v; want ErrAmount", n, err)
		}
	}
	for _, text := range []string{"caf\xe9", "a\nb"} {
		if _, err := l.Refund(t.Context(), account, 1, text, ""); !errors.Is(err, credits.ErrInvalid) {
			t.Errorf("Refund of the request %q = %v; want ErrInvalid", text, err)
		}
		if _, err := l.Grant(t.Context(), account, 1, text); !errors.Is(err, credits.ErrInvalid) {
			t.Errorf("Grant for %q = %v; want ErrInvalid", text, err)
		}
	}
	if _, err := l.Refund(t.Context(), "acct_none", 1, "req_1", ""); !errors.Is(err, credits.ErrUnknownAccount) {
		t.Errorf("Refund to no account = %v; want ErrUnknownAccount", err)
	}
	if got, err := l.Refund(t.Context(), account, 2, "req_1", "sorry"); got != 6 || err != nil {
		t.Errorf("Refund = %d, %v; want 6", got, err)
	}
	refundable("req_1", 1)
	entries, err := l.Entries(t.Context(), credits.Query{Account: account, RequestID: "req_1", Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Kind != credits.Refunded || entries[0].Amount != 2 || entries[0].Reason != "sorry" {
		t.Errorf("Entries = %+v, %v; want the refund", entries, err)
	}
}

func testOpeningRefused(t *testing.T, accounts keys.Admin, l Ledger) {
	t.Helper()
	first, err := accounts.OpenAccount(t.Context(), "first", 5, "")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		n      int64
		reason string
		ctx    context.Context
		want   error
	}{
		{"first", 3, "", t.Context(), keys.ErrTaken},
		{first.ID, 3, "", t.Context(), keys.ErrTaken},
		{" second", 3, "", t.Context(), keys.ErrInvalid},
		{"second", -1, "", t.Context(), credits.ErrAmount},
		{"second", credits.MaxBalance + 1, "", t.Context(), credits.ErrAmount},
		{"second", 3, "caf\xe9", t.Context(), credits.ErrInvalid},
		{"second", 3, "a\nb", t.Context(), credits.ErrInvalid},
		{"second", 3, "", ended, context.Canceled},
	}
	for _, tt := range tests {
		if _, err := accounts.OpenAccount(tt.ctx, tt.name, tt.n, tt.reason); !errors.Is(err, tt.want) {
			t.Errorf("OpenAccount(%q, %d, %q) = %v; want %v", tt.name, tt.n, tt.reason, err, tt.want)
		}
	}
	if all, err := accounts.Accounts(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d accounts are there, %v; want 1", len(all), err)
	}
	if got, err := l.Balance(t.Context(), first.ID); got != 5 || err != nil {
		t.Errorf("Balance of the first = %d, %v; want 5", got, err)
	}
}

func testOpeningConcurrently(t *testing.T, accounts keys.Admin, l Ledger) {
	t.Helper()
	const tries = 8
	var opened atomic.Int64
	var wg sync.WaitGroup
	for i := range tries {
		wg.Go(func() {
			switch _, err := accounts.OpenAccount(t.Context(), "shop", int64(1+i), fmt.Sprint(i)); {
			case err == nil:
				opened.Add(1)
			case !errors.Is(err, keys.ErrTaken):
				t.Errorf("OpenAccount = %v; want ErrTaken", err)
			}
		})
	}
	wg.Wait()
	all, err := accounts.Accounts(t.Context())
	if err != nil || len(all) != 1 || opened.Load() != 1 {
		t.Fatalf("%d calls opened the account, there are %d, %v; want 1", opened.Load(), len(all), err)
	}
	entries, err := l.Entries(t.Context(), credits.Query{Account: all[0].ID})
	if err != nil || len(entries) != 1 || entries[0].Reason != fmt.Sprint(entries[0].Amount-1) {
		t.Errorf("Entries = %+v, %v; want one grant", entries, err)
	}
}
