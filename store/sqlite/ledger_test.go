package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/keys"
)

// openFile opens a file until the test ends.
func openFile(tb testing.TB, cfg Config) *DB {
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
	err := db.writer.alone(func(c *conn) error {
		return insertAccount(c, keys.Account{ID: id, Name: id, CreatedAt: db.cfg.Now()})
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
	db := openFile(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now})
	addAccount(t, db, ledgertest.Account, balance)
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
	// Small caches: what was forgotten and read again must come out the same.
	cfg := Config{Path: filepath.Join(t.TempDir(), "test.db"), Now: now, CachedAccounts: 1, CachedKeys: 1}
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
