package credits_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
)

func open(t *testing.T, balance int64) credits.Ledger {
	t.Helper()
	return openTimed(t, balance, nil)
}

func openTimed(t *testing.T, balance int64, now func() time.Time) credits.Ledger {
	t.Helper()
	m := credits.NewMemory(credits.MemoryConfig{Now: now})
	m.Open(ledgertest.Account)
	if balance > 0 {
		if _, err := m.Grant(t.Context(), ledgertest.Account, balance, "to start with"); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestHoldsExpireOnTimeIfTheClockIsSetBack checks that holds expire by the monotonic clock.
func TestHoldsExpireOnTimeIfTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	holds, err := open(t, 1).Reserve(t.Context(), credits.Spender{Account: ledgertest.Account}, time.Minute, 1)
	if err != nil || !strings.Contains(holds[0].Expires.String(), " m=") {
		t.Errorf("Reserve = %v, %v; want a time with a monotonic reading", holds, err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, open)
	ledgertest.RunTimed(t, openTimed)
}

func TestMemoryAgainstTheModel(t *testing.T) {
	t.Parallel()
	ledgertest.RunModel(t, openSubject)
}

func openSubject(_ *testing.T, now func() time.Time) ledgertest.Subject {
	m := credits.NewMemory(credits.MemoryConfig{Now: now})
	m.Open(ledgertest.Account)
	return ledgertest.Subject{
		Ledger: m,
		Grant: func(ctx context.Context, n int64) error {
			_, err := m.Grant(ctx, ledgertest.Account, n, "")
			return err
		},
		Close: func() error { return nil },
	}
}
