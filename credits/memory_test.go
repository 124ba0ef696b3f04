package credits_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/records/recordstest"
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

// TestAHoldFromARecordDoesNotKeepOthersOpen settles a hold with the time of day that a record has of it, before the
// clock is set back again.
func TestAHoldFromARecordDoesNotKeepOthersOpen(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := credits.NewMemory(credits.MemoryConfig{Now: func() time.Time { return now }})
	if _, err := m.Grant(t.Context(), "account", 10, "for a test"); err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: "account"}
	if _, err := m.Reserve(t.Context(), who, time.Minute, 4); err != nil {
		t.Fatal(err)
	}
	now = recordstest.Ahead(now, -8*time.Second)
	holds, err := m.Reserve(t.Context(), who, time.Minute, 1)
	if err != nil {
		t.Fatal(err)
	}
	holds[0].Expires = holds[0].Expires.Round(0)
	if _, err := m.Settle(t.Context(), holds[0], credits.Charge{}); err != nil {
		t.Fatal(err)
	}
	now = recordstest.Ahead(now.Add(2*time.Minute), -time.Hour)
	if free, err := m.Balance(t.Context(), "account"); err != nil || free != 10 {
		t.Errorf("%d credits can be spent of 10, %v", free, err)
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
