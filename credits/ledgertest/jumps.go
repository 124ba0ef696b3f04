package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
)

// jumps are the jumps of a bad clock, forward and back. In the end it is a day later.
var jumps = []time.Duration{
	time.Second, -2 * time.Second, time.Hour, -3 * time.Hour, month, -month, -month, 2 * time.Hour, month, 26 * time.Hour, -time.Hour,
	-time.Hour + time.Second,
}

// testClockJumps charges from several goroutines while the clock jumps, and checks that each charge is made once, and
// that the entries are sound.
func testClockJumps(t *testing.T, open OpenTimed) {
	t.Helper()
	const callers, rounds, balance = 4, 24, 10_000
	clock := NewClock()
	began := clock.Now()
	l := open(t, balance, clock.Now)
	call := func(id string) error {
		holds, err := l.Reserve(t.Context(), who, time.Minute, 3)
		if err != nil {
			return err
		}
		charge := credits.Charge{Amount: 2, IdempotencyKey: id, Late: true} // it may have expired by now
		for again := range 2 {
			r, err := l.Settle(t.Context(), holds[0], charge)
			for errors.Is(err, credits.ErrExpired) { // the clock has jumped in between: nothing was charged
				r, err = l.Settle(t.Context(), holds[0], charge)
			}
			if err != nil || r.Charged != 2 || r.Earlier != (again == 1) {
				return fmt.Errorf("settling %s returned %+v, %w", id, r, err)
			}
		}
		return nil
	}
	var clients sync.WaitGroup
	failed := make(chan error, callers)
	for caller := range callers {
		clients.Go(func() {
			for round := range rounds {
				if err := call(fmt.Sprint(caller, " ", round)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for range 2 {
		for _, d := range jumps {
			clock.Advance(d)
			if n, err := l.Balance(t.Context(), Account); err != nil || n < balance-callers*rounds*(2+3) || n > balance {
				t.Errorf("Balance during the jumps = %d, %v", n, err)
			}
		}
	}
	clients.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if got, want := clock.Now().Sub(began), 2*day; got != want {
		t.Errorf("the clock has moved by %v; want %v", got, want)
	}
	clock.Advance(month) // all holds have expired
	wantBalance(t, l, balance-callers*rounds*2)
	all := entries(t, l, credits.Query{Limit: 1000})
	if len(all) != 1+callers*rounds {
		t.Errorf("%d entries; want %d", len(all), 1+callers*rounds)
	}
	checkChain(t, all)
}

// testHoldsUnderJumps checks that a hold expires when the clock reaches its time, whatever it has shown before, and not
// earlier.
func testHoldsUnderJumps(t *testing.T, open OpenTimed) {
	t.Helper()
	tests := []struct {
		name    string
		before  time.Duration   // when the hold is made
		jumps   []time.Duration // after that
		balance int64           // at the end, of 10
	}{
		{"set back", 0, []time.Duration{-month}, 6},
		{"set back, and then on time again", 0, []time.Duration{-month, month + time.Hour - 1}, 6},
		{"set back, and past its time", 0, []time.Duration{-month, month + time.Hour}, 10},
		{"made under a clock that was ahead", month, []time.Duration{-month, month + time.Hour}, 10},
		{"past its time for a moment", 0, []time.Duration{time.Hour, -1, 1}, 10},
		{"back and forth within its time", 0, []time.Duration{time.Minute, -2 * time.Minute, time.Minute}, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock := NewClock()
			l := open(t, 10, clock.Now)
			clock.Advance(tt.before)
			hold := reserve(t, l, 4)[0]
			for _, d := range tt.jumps {
				clock.Advance(d)
			}
			wantBalance(t, l, tt.balance)
			r, err := l.Settle(t.Context(), hold, credits.Charge{Amount: 3})
			want, wanted := credits.Receipt{Balance: 7, Charged: 3}, error(nil)
			if tt.balance == 10 {
				want, wanted = credits.Receipt{}, credits.ErrExpired
			}
			if diff := cmp.Diff(want, r); !errors.Is(err, wanted) || err == nil && diff != "" {
				t.Errorf("Settle = %v; want %v (-want +got):\n%s", err, wanted, diff)
			}
			wantBalance(t, l, 10-want.Charged)
			checkChain(t, entries(t, l, credits.Query{}))
		})
	}
}

// testKeysUnderJumps repeats a call with one idempotency key while the clock jumps: it is charged once a day by the
// clock.
func testKeysUnderJumps(t *testing.T, open OpenTimed) {
	t.Helper()
	clock := NewClock()
	l := open(t, 100, clock.Now)
	steps := []struct {
		jump    time.Duration
		earlier bool
	}{
		{0, false},
		{23 * time.Hour, true},
		{-46 * time.Hour, true},
		{-month, true},
		{month + 23*time.Hour, true},
		{day - 1, true},
		{1, false}, // a day after the first
		{-1, true},
		{day, true},
		{1, false},
	}
	for i, s := range steps {
		clock.Advance(s.jump)
		if r := receipt(t, l, reserve(t, l, 2)[0], credits.Charge{Amount: 2, IdempotencyKey: "a"}); r.Charged != 2 || r.Earlier != s.earlier {
			t.Errorf("step %d: %+v; want one that is earlier: %v", i, r, s.earlier)
		}
	}
	wantCharges(t, l, 2, 2, 2)
	wantBalance(t, l, 94)
	checkChain(t, entries(t, l, credits.Query{}))
}
