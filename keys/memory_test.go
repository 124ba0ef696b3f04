package keys_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
)

func TestMemoryOpensAccountsWithCredits(t *testing.T) {
	t.Parallel()
	keystest.RunOpening(t, func(*testing.T) (keys.Admin, keystest.Ledger) {
		ledger := credits.NewMemory(credits.MemoryConfig{})
		return keys.NewMemory(keys.MemoryConfig{Ledger: ledger}), ledger
	})
}

func TestMemoryWithoutALedgerGivesNoCredits(t *testing.T) {
	t.Parallel()
	m := keys.NewMemory(keys.MemoryConfig{})
	if _, err := m.OpenAccount(t.Context(), "first", 1, ""); err == nil {
		t.Error("an account was given credits without a ledger")
	}
	if all, err := m.Accounts(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("Accounts = %v, %v; want none", all, err)
	}
}

func open(*testing.T) keystest.Store { return keys.NewMemory(keys.MemoryConfig{}) }

func openLimiter(_ *testing.T, now func() time.Time) keys.Limiter {
	return keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: now})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	keystest.Run(t, open)
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	keystest.RunLimiter(t, openLimiter)
}

func TestLimiterIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: func() time.Time { return now }, Keys: 10})
	r := keys.Rate{Capacity: 1, Refill: 1}
	for i := range 1000 {
		if _, err := l.Take(t.Context(), fmt.Sprint("key_", i), r, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Peek(t.Context(), fmt.Sprint("other_", i), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Len(); got != 10 {
		t.Errorf("%d keys are remembered; want 10", got)
	}
	if a, err := l.Take(t.Context(), "key_999", r, 1); err != nil || a.OK {
		t.Errorf("the last key was forgotten, and not the first: %+v, %v", a, err)
	}
}
