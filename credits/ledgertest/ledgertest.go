// Package ledgertest is the suite that every [credits.Ledger] passes.
//
//	func TestLedger(t *testing.T) {
//		ledgertest.Run(t, func(t *testing.T, balance int64) credits.Ledger {
//			return openTemp(t, balance).Ledger()
//		})
//	}
//
// [Run] needs no clock. [RunTimed] tests what depends on one: holds that expire, daily caps, charges that happen once a
// day. [RunModel] compares a ledger with a simple model of it over random sequences of calls.
package ledgertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

// Account is the id of the account that the suites use. No other account may exist.
const Account = "acct_test"

// Open returns a new ledger in which Account has one grant of balance, or exists and has no entries when balance is 0.
// It cleans up through t.
type Open func(t *testing.T, balance int64) credits.Ledger

// OpenTimed is an [Open] of a ledger that reads the time only from now.
type OpenTimed func(t *testing.T, balance int64, now func() time.Time) credits.Ledger

// ttl is longer than any test takes.
const ttl = time.Hour

// Run tests what does not depend on the time.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"reserve", testReserve},
		{"settle", testSettle},
		{"settle again", testSettleAgain},
		{"charge", testCharge},
		{"check", testCheck},
		{"caps", testCaps},
		{"idempotency keys", testIdempotencyKey},
		{"receipts", testReceipts},
		{"texts", testTexts},
		{"entries", testEntries},
		{"requests", testRequests},
		{"chain", testChain},
		{"concurrency", testConcurrency},
		{"gifts", testGifts},
		{"reversals", testReversals},
		{"cancelled context", testCancelled},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

var who = credits.Spender{Account: Account, Key: "key_1"}

func reserve(t *testing.T, l credits.Ledger, amounts ...int64) []credits.Hold {
	t.Helper()
	holds, err := l.Reserve(t.Context(), who, ttl, amounts...)
	if err != nil {
		t.Fatalf("Reserve(%v): %v", amounts, err)
	}
	return holds
}

func settle(t *testing.T, l credits.Ledger, h credits.Hold, c credits.Charge) int64 {
	t.Helper()
	return receipt(t, l, h, c).Balance
}

func receipt(t *testing.T, l credits.Ledger, h credits.Hold, c credits.Charge) credits.Receipt {
	t.Helper()
	r, err := l.Settle(t.Context(), h, c)
	if err != nil {
		t.Fatalf("Settle(%d of %d): %v", c.Amount, h.Amount, err)
	}
	return r
}

// spend charges n for the rest of c.
func spend(t *testing.T, l credits.Ledger, n int64, c credits.Charge) {
	t.Helper()
	c.Amount = n
	settle(t, l, reserve(t, l, n)[0], c)
}

func wantBalance(t *testing.T, l credits.Ledger, want int64) {
	t.Helper()
	got, err := l.Balance(t.Context(), Account)
	if err != nil || got != want {
		t.Errorf("Balance = %d, %v; want %d", got, err, want)
	}
}

func entries(t *testing.T, l credits.Ledger, q credits.Query) []credits.Entry {
	t.Helper()
	q.Account = Account
	found, err := l.Entries(t.Context(), q)
	if err != nil {
		t.Fatalf("Entries(%+v): %v", q, err)
	}
	return found
}

// charges returns the amounts of the account's charges, oldest first.
func charges(t *testing.T, l credits.Ledger) []int64 {
	t.Helper()
	found := []int64{}
	all := entries(t, l, credits.Query{Limit: 10_000})
	for _, e := range slices.Backward(all) {
		if e.Kind == credits.Charged {
			found = append(found, -e.Amount)
		}
	}
	return found
}

func wantCharges(t *testing.T, l credits.Ledger, want ...int64) {
	t.Helper()
	if diff := cmp.Diff(append([]int64{}, want...), charges(t, l)); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

func testCancelled(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 10)
	hold := reserve(t, l, 4)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Reserve(ctx, who, ttl, 1); err == nil {
		t.Error("Reserve with a cancelled context succeeded")
	}
	if _, err := l.Settle(ctx, hold, credits.Charge{Amount: 4}); err == nil {
		t.Error("Settle with a cancelled context succeeded")
	}
	if c, ok := l.(credits.Charger); ok {
		if _, err := c.Charge(ctx, who, credits.Charge{Amount: 1}); err == nil {
			t.Error("Charge with a cancelled context succeeded")
		}
	}
	wantBalance(t, l, 6)
	settle(t, l, hold, credits.Charge{Amount: 4})
	wantCharges(t, l, 4)
}
