package ledgertest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

func testReserve(t *testing.T, open Open) {
	t.Helper()
	tests := []struct {
		name    string
		balance int64
		amounts []int64
		want    error
		left    int64
	}{
		{"a part of the balance is held", 10, []int64{3}, nil, 7},
		{"several amounts are held together", 10, []int64{3, 2}, nil, 5},
		{"the whole balance can be held", 10, []int64{4, 6}, nil, 0},
		{"one credit too many holds nothing", 10, []int64{4, 7}, credits.ErrInsufficient, 10},
		{"an empty account holds nothing", 0, []int64{1}, credits.ErrInsufficient, 0},
		{"an empty account can hold 0 credits", 0, []int64{0}, nil, 0},
		{"no amounts give no holds", 10, nil, nil, 10},
		{"a negative amount mints nothing", 10, []int64{5, -5}, credits.ErrAmount, 10},
		{"a sum that overflows is refused", 10, []int64{math.MaxInt64, math.MaxInt64}, credits.ErrAmount, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, tt.balance)
			holds, err := l.Reserve(t.Context(), who, ttl, tt.amounts...)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Reserve = %v; want %v", err, tt.want)
			}
			if err == nil && len(holds) != len(tt.amounts) {
				t.Errorf("%d holds for %d amounts", len(holds), len(tt.amounts))
			}
			ids := map[string]bool{"": true}
			for i, h := range holds {
				if h.Amount != tt.amounts[i] || h.Spender.Account != Account || ids[h.ID] {
					t.Errorf("hold %d = %+v; want a new id, %d credits", i, h, tt.amounts[i])
				}
				ids[h.ID] = true
			}
			wantBalance(t, l, tt.left)
		})
	}
	t.Run("an unknown account is refused", func(t *testing.T) {
		t.Parallel()
		l := open(t, 10)
		nobody := credits.Spender{Account: "acct_nobody"}
		if _, err := l.Reserve(t.Context(), nobody, ttl, 0); !errors.Is(err, credits.ErrUnknownAccount) {
			t.Errorf("Reserve = %v; want ErrUnknownAccount", err)
		}
		if _, err := l.Balance(t.Context(), nobody.Account); !errors.Is(err, credits.ErrUnknownAccount) {
			t.Errorf("Balance = %v; want ErrUnknownAccount", err)
		}
		if _, err := l.Entries(t.Context(), credits.Query{Account: nobody.Account}); !errors.Is(
			err, credits.ErrUnknownAccount) {
			t.Errorf("Entries = %v; want ErrUnknownAccount", err)
		}
	})
}

func testSettle(t *testing.T, open Open) {
	t.Helper()
	tests := []struct {
		name    string
		hold    int64
		charge  int64
		want    error
		left    int64
		charges []int64
	}{
		{"the whole hold", 4, 4, nil, 6, []int64{4}},
		{"a part of it, and the rest is released", 4, 1, nil, 9, []int64{1}},
		{"a charge of 0 releases it and writes nothing", 4, 0, nil, 10, nil},
		{"a hold of 0 credits", 0, 0, nil, 10, nil},
		{"more than the hold is refused", 4, 5, credits.ErrAmount, 6, nil},
		{"a negative charge mints nothing", 4, -1, credits.ErrAmount, 6, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, 10)
			r, err := l.Settle(t.Context(), reserve(t, l, tt.hold)[0], credits.Charge{Amount: tt.charge})
			if !errors.Is(err, tt.want) {
				t.Fatalf("Settle = %v; want %v", err, tt.want)
			}
			if err == nil && r.Balance != tt.left {
				t.Errorf("Settle returned a balance of %d; want %d", r.Balance, tt.left)
			}
			wantBalance(t, l, tt.left)
			wantCharges(t, l, tt.charges...)
		})
	}
	t.Run("the balance returned is less the other holds", func(t *testing.T) {
		t.Parallel()
		l := open(t, 10)
		holds := reserve(t, l, 3, 5)
		if got := settle(t, l, holds[0], credits.Charge{Amount: 1}); got != 4 {
			t.Errorf("Settle returned a balance of %d; want 4", got)
		}
	})
	t.Run("a hold that was never made is refused", func(t *testing.T) {
		t.Parallel()
		l := open(t, 10)
		h := reserve(t, l, 1)[0]
		h.ID += "x"
		if _, err := l.Settle(t.Context(), h, credits.Charge{Amount: 1}); !errors.Is(err, credits.ErrExpired) {
			t.Errorf("Settle = %v; want ErrExpired", err)
		}
		wantCharges(t, l)
	})
	t.Run("changes of the hold by the caller are ignored", func(t *testing.T) {
		t.Parallel()
		l := open(t, 10)
		h := reserve(t, l, 1)[0]
		h.Amount = 10
		if _, err := l.Settle(t.Context(), h, credits.Charge{Amount: 10}); !errors.Is(err, credits.ErrAmount) {
			t.Errorf("Settle = %v; want ErrAmount", err)
		}
		wantCharges(t, l)
	})
}

func testSettleAgain(t *testing.T, open Open) {
	t.Helper()
	tests := []struct {
		name          string
		first, second int64
		left          int64
		charges       []int64
	}{
		{"the same charge happens once", 3, 3, 7, []int64{3}},
		{"a higher one later changes nothing", 1, 4, 9, []int64{1}},
		{"a charge after a release changes nothing", 0, 4, 10, nil},
		{"a release after a charge changes nothing", 4, 0, 6, []int64{4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, 10)
			h := reserve(t, l, 4)[0]
			for _, n := range []int64{tt.first, tt.second} {
				if got := settle(t, l, h, credits.Charge{Amount: n}); got != tt.left {
					t.Errorf("Settle(%d) returned a balance of %d; want %d", n, got, tt.left)
				}
			}
			wantBalance(t, l, tt.left)
			wantCharges(t, l, tt.charges...)
		})
	}
}

func testCaps(t *testing.T, open Open) {
	t.Helper()
	tests := []struct {
		name       string
		day, total *int64
		spent      int64
		hold       int64
		want       error
	}{
		{"below the daily cap", new(int64(5)), nil, 2, 3, nil},
		{"above the daily cap", new(int64(5)), nil, 2, 4, credits.ErrCap},
		{"below the total cap", nil, new(int64(5)), 2, 3, nil},
		{"above the total cap", nil, new(int64(5)), 2, 4, credits.ErrCap},
		{"the lower of two caps counts", new(int64(9)), new(int64(5)), 2, 4, credits.ErrCap},
		{"a cap of 0 allows nothing", new(int64(0)), nil, 0, 1, credits.ErrCap},
		{"a reached cap still allows what is free", nil, new(int64(2)), 2, 0, nil},
		{"the balance is checked first", nil, new(int64(5)), 2, 100, credits.ErrInsufficient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, 50)
			if tt.spent > 0 {
				spend(t, l, tt.spent, credits.Charge{}) // before the key had a cap: it counts nevertheless
			}
			limited := who
			limited.DayCap, limited.TotalCap = tt.day, tt.total
			_, err := l.Reserve(t.Context(), limited, ttl, tt.hold)
			if !errors.Is(err, tt.want) || (err != nil && errors.Is(err, credits.ErrCap) != errors.Is(tt.want, credits.ErrCap)) {
				t.Errorf("Reserve = %v; want %v", err, tt.want)
			}
		})
	}
	t.Run("open holds count, and released ones no longer", func(t *testing.T) {
		t.Parallel()
		l := open(t, 50)
		limited := who
		limited.TotalCap = new(int64(5))
		first, err := l.Reserve(t.Context(), limited, ttl, 5)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reserve(t.Context(), limited, ttl, 1); !errors.Is(err, credits.ErrCap) {
			t.Errorf("Reserve beside an open hold = %v; want ErrCap", err)
		}
		settle(t, l, first[0], credits.Charge{Amount: 2})
		if _, err := l.Reserve(t.Context(), limited, ttl, 3); err != nil {
			t.Errorf("Reserve of what is left = %v", err)
		}
		if _, err := l.Reserve(t.Context(), limited, ttl, 1); !errors.Is(err, credits.ErrCap) {
			t.Errorf("Reserve above what is left = %v; want ErrCap", err)
		}
	})
	t.Run("another key of the account has its own caps", func(t *testing.T) {
		t.Parallel()
		l := open(t, 50)
		limited := who
		limited.TotalCap = new(int64(5))
		if _, err := l.Reserve(t.Context(), limited, ttl, 5); err != nil {
			t.Fatal(err)
		}
		limited.Key = "key_2"
		if _, err := l.Reserve(t.Context(), limited, ttl, 5); err != nil {
			t.Errorf("Reserve with another key = %v", err)
		}
	})
}

func testIdempotencyKey(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 10)
	holds := reserve(t, l, 2, 2, 2)
	if got := settle(t, l, holds[0], credits.Charge{Amount: 2, IdempotencyKey: "a", RequestID: "first"}); got != 4 {
		t.Errorf("first charge left %d; want 4", got)
	}
	if got := settle(t, l, holds[1], credits.Charge{Amount: 2, IdempotencyKey: "a", RequestID: "second"}); got != 6 {
		t.Errorf("a repeated charge left %d; want 6", got)
	}
	if got := settle(t, l, holds[2], credits.Charge{Amount: 2, IdempotencyKey: "b"}); got != 6 {
		t.Errorf("another charge left %d; want 6", got)
	}
	wantCharges(t, l, 2, 2)
	settle(t, l, holds[1], credits.Charge{Amount: 2})
	wantCharges(t, l, 2, 2)
}

// testReceipts settles repeatedly: each time the receipt has the first result of the hold, or of the idempotency key.
func testReceipts(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 20)
	holds := reserve(t, l, 4, 4, 4, 4)
	steps := []struct {
		name   string
		hold   int
		charge credits.Charge
		want   credits.Receipt
	}{
		{"a charge", 0, credits.Charge{Amount: 3, IdempotencyKey: "a"}, credits.Receipt{Balance: 5, Charged: 3}},
		{"the same again", 0, credits.Charge{Amount: 3, IdempotencyKey: "a"}, credits.Receipt{Balance: 5, Charged: 3, Earlier: true}},
		{"another amount", 0, credits.Charge{Amount: 4}, credits.Receipt{Balance: 5, Charged: 3, Earlier: true}},
		{"a release after the charge", 0, credits.Charge{}, credits.Receipt{Balance: 5, Charged: 3, Earlier: true}},
		{"its key on another hold", 1, credits.Charge{Amount: 1, IdempotencyKey: "a"}, credits.Receipt{Balance: 9, Charged: 3, Earlier: true}},
		{"that hold again", 1, credits.Charge{Amount: 1, IdempotencyKey: "a"}, credits.Receipt{Balance: 9, Charged: 3, Earlier: true}},
		{"a release", 2, credits.Charge{IdempotencyKey: "a"}, credits.Receipt{Balance: 13}},
		{"a charge after the release", 2, credits.Charge{Amount: 2}, credits.Receipt{Balance: 13, Earlier: true}},
		{"another key", 3, credits.Charge{Amount: 4, IdempotencyKey: "b"}, credits.Receipt{Balance: 13, Charged: 4}},
	}
	for _, s := range steps {
		if diff := cmp.Diff(s.want, receipt(t, l, holds[s.hold], s.charge)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
	wantCharges(t, l, 3, 4)
}

// testTexts checks that texts which cannot be stored unchanged are refused, and that nothing is charged.
func testTexts(t *testing.T, open Open) {
	t.Helper()
	l := open(t, 10)
	hold := reserve(t, l, 4)[0]
	for _, text := range []string{"caf\xe9", "nul\x00", "line\nfeed", "\u0085", strings.Repeat("x", 5000)} {
		for _, c := range []credits.Charge{
			{Operation: text},
			{Platform: text},
			{RequestID: text},
			{Cache: text},
			{IdempotencyKey: text},
		} {
			c.Amount = 1
			if _, err := l.Settle(t.Context(), hold, c); !errors.Is(err, credits.ErrInvalid) {
				t.Errorf("Settle(%+v) = %v; want ErrInvalid", c, err)
			}
		}
	}
	wantBalance(t, l, 6)
	settle(t, l, hold, credits.Charge{Amount: 1, Operation: "<سلمى> & \u00e9"})
	wantCharges(t, l, 1)
}
