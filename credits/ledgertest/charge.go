package ledgertest

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

// charger returns a new ledger that charges in one step, or skips the test.
func charger(t *testing.T, open Open, balance int64) credits.Charger {
	t.Helper()
	l, ok := open(t, balance).(credits.Charger)
	if !ok {
		t.Skip("the ledger is not a credits.Charger: the engine holds and settles")
	}
	return l
}

// spending is an amount that is requested beside a hold of 4 on a balance of 10, and the expected result.
type spending struct {
	name   string
	who    credits.Spender
	amount int64
	want   error
}

func spendings() []spending {
	day, total := who, who
	day.DayCap, total.TotalCap = new(int64(5)), new(int64(5))
	return []spending{
		{"a part of what can be spent", who, 3, nil},
		{"all that can be spent", who, 6, nil},
		{"one credit more than can be spent beside the holds", who, 7, credits.ErrInsufficient},
		{"nothing", who, 0, nil},
		{"a negative amount mints nothing", who, -1, credits.ErrAmount},
		{"more than any balance", who, math.MaxInt64, credits.ErrAmount},
		{"without a key", credits.Spender{Account: Account}, 2, nil},
		{"all that the daily cap leaves beside the holds", day, 1, nil},
		{"more than the daily cap leaves", day, 2, credits.ErrCap},
		{"all that the total cap leaves beside the holds", total, 1, nil},
		{"more than the total cap leaves", total, 2, credits.ErrCap},
		{"the balance is checked before the cap", total, 100, credits.ErrInsufficient},
		{"an unknown account", credits.Spender{Account: "acct_nobody"}, 1, credits.ErrUnknownAccount},
	}
}

func testCheck(t *testing.T, open Open) {
	t.Helper()
	for _, tt := range spendings() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, ok := open(t, 10).(credits.Checker)
			if !ok {
				t.Skip("the ledger is not a credits.Checker: the engine holds and releases")
			}
			ledger := l.(credits.Ledger)
			hold := reserve(t, ledger, 4)[0] // by who, whose key has the caps
			for range 2 {                    // it holds nothing
				if err := l.Check(t.Context(), tt.who, tt.amount); !errors.Is(err, tt.want) || errors.Is(err, credits.ErrCap) != errors.Is(tt.want, credits.ErrCap) {
					t.Errorf("Check = %v; want %v", err, tt.want)
				}
			}
			wantBalance(t, ledger, 6)
			settle(t, ledger, hold, credits.Charge{})
			wantBalance(t, ledger, 10)
			wantCharges(t, ledger)
			if tt.want != nil || tt.amount <= 0 {
				return
			}
			if _, err := ledger.Reserve(t.Context(), tt.who, ttl, tt.amount); err != nil {
				t.Errorf("the amount that was checked cannot be held: %v", err)
			}
		})
	}
}

func testCharge(t *testing.T, open Open) {
	t.Helper()
	for _, tt := range spendings() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := charger(t, open, 10)
			hold := reserve(t, l, 4)[0] // by who, whose key has the caps
			spendable := int64(6)
			r, err := l.Charge(t.Context(), tt.who, credits.Charge{Amount: tt.amount, RequestID: "req_1"})
			if !errors.Is(err, tt.want) || errors.Is(err, credits.ErrCap) != errors.Is(tt.want, credits.ErrCap) {
				t.Fatalf("Charge = %v; want %v", err, tt.want)
			}
			if err == nil {
				spendable -= tt.amount
				if diff := cmp.Diff(credits.Receipt{Balance: spendable, Charged: tt.amount}, r); diff != "" {
					t.Errorf("receipt (-want +got):\n%s", diff)
				}
			}
			wantBalance(t, l, spendable)
			if err != nil || tt.amount == 0 {
				wantCharges(t, l)
			} else {
				wantCharges(t, l, tt.amount)
			}
			settle(t, l, hold, credits.Charge{})
			wantBalance(t, l, spendable+4)
		})
	}
	t.Run("the entry says what it was for", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 10)
		c := credits.Charge{
			Amount: 2, Operation: "profile", Platform: "github", RequestID: "req_1", Cache: "HIT", IdempotencyKey: "once", ID: "chg_1",
		}
		if _, err := l.Charge(t.Context(), who, c); err != nil {
			t.Fatal(err)
		}
		got := entries(t, l, credits.Query{})
		if len(got) != 2 {
			t.Fatalf("%d entries; want the grant and the charge", len(got))
		}
		if err := got[0].Follows(got[1]); err != nil {
			t.Error(err)
		}
		want := c.Entry(credits.Hold{ID: "chg_1", Spender: who}, got[0].At)
		want.Seq, want.Balance, want.Hash = 2, 8, got[0].Hash
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
	})
	t.Run("the result of a charge is found by its id", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 10)
		if _, err := l.Charge(t.Context(), who, credits.Charge{Amount: 2, ID: "chg_1"}); err != nil {
			t.Fatal(err)
		}
		r := receipt(t, l, credits.Hold{ID: "chg_1", Spender: who}, credits.Charge{})
		if diff := cmp.Diff(credits.Receipt{Balance: 8, Charged: 2, Earlier: true}, r); diff != "" {
			t.Errorf("receipt (-want +got):\n%s", diff)
		}
		_, err := l.Settle(t.Context(), credits.Hold{ID: "chg_2", Spender: who}, credits.Charge{})
		if !errors.Is(err, credits.ErrExpired) {
			t.Errorf("Settle of a charge that was never made = %v; want ErrExpired", err)
		}
		wantCharges(t, l, 2)
	})
	t.Run("an idempotency key is charged once, in one step or in two", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 20)
		c := credits.Charge{Amount: 2, IdempotencyKey: "once"}
		for i, want := range []credits.Receipt{{Balance: 18, Charged: 2}, {Balance: 18, Charged: 2, Earlier: true}} {
			r, err := l.Charge(t.Context(), who, c)
			if diff := cmp.Diff(want, r); diff != "" || err != nil {
				t.Errorf("Charge %d: %v (-want +got):\n%s", i, err, diff)
			}
		}
		spend(t, l, 2, c)
		spend(t, l, 3, credits.Charge{IdempotencyKey: "other"})
		r, err := l.Charge(t.Context(), who, credits.Charge{Amount: 1, IdempotencyKey: "other"})
		if diff := cmp.Diff(credits.Receipt{Balance: 15, Charged: 3, Earlier: true}, r); diff != "" || err != nil {
			t.Errorf("Charge under the key of a settled hold: %v (-want +got):\n%s", err, diff)
		}
		wantCharges(t, l, 2, 3)
	})
	t.Run("an earlier charge with the key is returned even if nothing more can be spent", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 5)
		capped := who
		capped.TotalCap = new(int64(2))
		c := credits.Charge{Amount: 2, IdempotencyKey: "once"}
		for i, tt := range []struct {
			who     credits.Spender
			balance int64
		}{{capped, 3}, {capped, 3}, {who, 0}} {
			if i == 2 {
				spend(t, l, 3, credits.Charge{})
			}
			r, err := l.Charge(t.Context(), tt.who, c)
			want := credits.Receipt{Balance: tt.balance, Charged: 2, Earlier: i > 0}
			if diff := cmp.Diff(want, r); diff != "" || err != nil {
				t.Errorf("Charge %d: %v (-want +got):\n%s", i, err, diff)
			}
		}
		if _, err := l.Charge(t.Context(), who, credits.Charge{Amount: 2, IdempotencyKey: "other"}); !errors.Is(err, credits.ErrInsufficient) {
			t.Errorf("Charge with another key = %v; want ErrInsufficient", err)
		}
		wantCharges(t, l, 2, 3)
	})
	t.Run("a text that cannot be kept is refused", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 10)
		for _, c := range []credits.Charge{{Amount: 1, ID: "line\nfeed"}, {Amount: 1, RequestID: strings.Repeat("x", 5000)}} {
			if _, err := l.Charge(t.Context(), who, c); !errors.Is(err, credits.ErrInvalid) {
				t.Errorf("Charge(%+v) = %v; want ErrInvalid", c, err)
			}
		}
		wantCharges(t, l)
	})
	t.Run("concurrent charges spend the balance and no more", func(t *testing.T) {
		t.Parallel()
		l := charger(t, open, 30)
		var wg sync.WaitGroup
		var charged atomic.Int64
		for range 16 {
			wg.Go(func() {
				r, err := l.Charge(t.Context(), who, credits.Charge{Amount: 4})
				if err != nil && !errors.Is(err, credits.ErrInsufficient) {
					t.Error(err)
				}
				charged.Add(r.Charged)
			})
		}
		wg.Wait()
		if charged.Load() != 28 {
			t.Errorf("%d credits were charged; want 28 of 30", charged.Load())
		}
		wantBalance(t, l, 2)
		wantCharges(t, l, 4, 4, 4, 4, 4, 4, 4)
	})
}
