package postgres

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// TestANewerSchemaIsDetected lets a newer program migrate the schema while a replica serves it.
func TestANewerSchemaIsDetected(t *testing.T) {
	t.Parallel()
	next := sqlstore.Version + 1
	for _, compatible := range []bool{true, false} {
		t.Run(fmt.Sprintf("compatible %v", compatible), func(t *testing.T) {
			t.Parallel()
			cfg := newSchema(t)
			cfg.checkEvery = 10 * time.Millisecond
			db := openDB(t, cfg)
			addAccount(t, db, "acct", 10)
			script(t, db, fmt.Sprintf("INSERT INTO @schema_versions VALUES (%d, %d); "+
				"ALTER TABLE @entries ADD COLUMN later BIGINT", next, map[bool]int{true: 1}[compatible]))
			if compatible {
				if err := db.Ping(t.Context()); err != nil {
					t.Errorf("Ping: %v", err)
				}
				wantBalance(t, db, 10)
				wantBalance(t, openDB(t, cfg), 10) // an old replica that restarts meanwhile
				return
			}
			await.Until(t, "calls to be refused", func() bool { return errors.Is(reading(t, db), sqlstore.ErrNewer) })
			_, err := db.Ledger().Balance(t.Context(), "acct")
			if says, ok := errors.AsType[interface {
				error
				Unavailable() bool
			}](err); !ok || !says.Unavailable() || !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Balance: %v; want sqlstore.ErrNewer, unavailable", err)
			}
			if _, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Minute, 1); !errors.Is(err,
				sqlstore.ErrNewer) {
				t.Errorf("Reserve: %v; want ErrNewer", err)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Ping: %v; want ErrNewer", err)
			}
			if _, err := Open(t.Context(), cfg); !errors.Is(err, sqlstore.ErrNewer) {
				t.Errorf("Open: %v; want ErrNewer", err)
			}
			script(t, db, fmt.Sprintf("DELETE FROM @schema_versions WHERE version = %d", next)) // as a restored backup would
			await.Until(t, "calls to be served again", func() bool { return reading(t, db) == nil })
			wantBalance(t, db, 10)
		})
	}
}

// TestAMissingColumnChecksTheVersion checks that the reason is reported immediately, and not seconds later.
func TestAMissingColumnChecksTheVersion(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.checkEvery = time.Hour
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 10)
	script(t, db, fmt.Sprintf("INSERT INTO @schema_versions VALUES (%d, 0); "+
		"ALTER TABLE @accounts RENAME COLUMN balance TO money", sqlstore.Version+1))
	if _, err := db.Ledger().Balance(t.Context(), "acct"); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("Balance: %v; want ErrNewer", err)
	}
	script(t, db, "ALTER TABLE @accounts RENAME COLUMN money TO balance")
	if _, err := db.Ledger().Balance(t.Context(), "acct"); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("Balance of a schema that may not be served: %v; want ErrNewer", err)
	}
}

// reading returns the error of reading a balance.
func reading(t *testing.T, db *DB) error {
	t.Helper()
	_, err := db.Ledger().Balance(t.Context(), "acct")
	return err
}
