package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// openDB opens a file until the test ends.
func openDB(tb testing.TB, cfg Config) *DB {
	tb.Helper()
	db, err := Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return db
}

// addAccount makes an account with a known id.
func addAccount(tb testing.TB, db *DB, id string, balance int64) {
	tb.Helper()
	err := db.runner.Write(tb.Context(), func(t sqlstore.Tx) error {
		return t.Exec(
			"INSERT INTO accounts (id, name, created_at, hash) VALUES (?, ?, ?, x'')",
			id,
			id,
			db.cfg.Now().UnixMicro(),
		)
	})
	if err == nil && balance > 0 {
		_, err = db.Ledger().Grant(tb.Context(), id, balance, "to start with")
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func openLedger(t *testing.T, balance int64) credits.Ledger {
	t.Helper()
	return openTimed(t, balance, nil)
}

func openTimed(t *testing.T, balance int64, now func() time.Time) credits.Ledger {
	t.Helper()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now})
	addAccount(t, db, ledgertest.Account, balance)
	t.Cleanup(func() { wantAudit(t, db) })
	return db.Ledger()
}

func TestLedger(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, openLedger)
	ledgertest.RunTimed(t, openTimed)
}

func TestLedgerAgainstTheModel(t *testing.T) {
	t.Parallel()
	ledgertest.RunModel(t, openSubject)
}

func openSubject(t *testing.T, now func() time.Time) ledgertest.Subject {
	t.Helper()
	cfg := Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now}
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	addAccount(t, db, ledgertest.Account, 0)
	return ledgertest.Subject{
		Ledger: db.Ledger(),
		Grant: func(ctx context.Context, n int64) error {
			_, err := db.Ledger().Grant(ctx, ledgertest.Account, n, "")
			return err
		},
		Restart: func() (credits.Ledger, error) {
			if err := db.Close(); err != nil {
				return nil, err
			}
			again, err := Open(t.Context(), cfg)
			if err != nil {
				return nil, err
			}
			db = again
			return db.Ledger(), nil
		},
		Audit: func(ctx context.Context) error {
			r, err := db.Audit(ctx)
			if err == nil && !r.OK() {
				err = errors.New(strings.Join(r.Problems, "\n"))
			}
			return err
		},
		Close: func() error { return db.Close() },
	}
}

// TestAHoldFromBeforeARestartIsChargedOnce settles holds from before a restart, each from many goroutines. All that is
// known of them is what the callers pass.
func TestAHoldFromBeforeARestartIsChargedOnce(t *testing.T) {
	t.Parallel()
	cfg := Config{Path: filepath.Join(t.TempDir(), "test.db")}
	before := openDB(t, cfg)
	addAccount(t, before, "acct", 100)
	holds, err := before.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 4, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, cfg)
	var callers sync.WaitGroup
	for _, h := range holds {
		for range 8 {
			callers.Go(func() {
				r, err := db.Ledger().Settle(t.Context(), h, credits.Charge{Amount: h.Amount, Late: true})
				if err != nil || r.Charged != h.Amount {
					t.Errorf("Settle = %+v, %v; want %d charged", r, err, h.Amount)
				}
			})
		}
	}
	callers.Wait()
	if got, err := db.Ledger().Balance(t.Context(), "acct"); err != nil || got != 91 {
		t.Errorf("Balance = %d, %v; want 91", got, err)
	}
}
