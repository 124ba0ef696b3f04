package sqlite

import (
	"path/filepath"
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
