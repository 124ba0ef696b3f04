package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// become changes the schema as another program would.
func become(t *testing.T, db *DB, statements string) {
	t.Helper()
	if _, err := db.pool.Exec(t.Context(), db.sql(statements), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
}

// until waits until done returns true.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			t.Fatal("the test has ended")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestWhichSchemasAreServed(t *testing.T) {
	t.Parallel()
	own := len(migrations)
	tests := []struct {
		name       string
		version    int
		compatible bool
		want       error
	}{
		{"its own", own, true, nil},
		{"its own, which earlier programs cannot serve", own, false, nil},
		{"the next one, compatible", own + 1, true, nil},
		{"the next one, not compatible", own + 1, false, ErrNewer},
		{"the one after that, however compatible", own + 2, true, ErrNewer},
		{"the previous one", own - 1, true, ErrOlder},
		{"none", 0, false, ErrOlder},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := serves(tt.version, tt.compatible); !errors.Is(err, tt.want) {
				t.Errorf("version %d: %v; want %v", tt.version, err, tt.want)
			}
		})
	}
}

// TestASchemaThatAnotherProgramChangesIsWatched lets a newer program migrate the schema while a replica serves it.
func TestASchemaThatAnotherProgramChangesIsWatched(t *testing.T) {
	t.Parallel()
	next := len(migrations) + 1
	for _, compatible := range []bool{true, false} {
		t.Run(fmt.Sprintf("compatible %v", compatible), func(t *testing.T) {
			t.Parallel()
			cfg := newSchema(t)
			cfg.look = 10 * time.Millisecond
			db := openDB(t, cfg)
			addAccount(t, db, "acct", 10)
			become(t, db, fmt.Sprintf("INSERT INTO @migrations VALUES (%d, %v); "+
				"ALTER TABLE @entries ADD COLUMN later BIGINT", next, compatible))
			if compatible {
				if err := db.Ping(t.Context()); err != nil {
					t.Errorf("Ping: %v", err)
				}
				if n, err := db.Ledger().Balance(t.Context(), "acct"); n != 10 || err != nil {
					t.Errorf("Balance = %d, %v", n, err)
				}
				again := openDB(t, cfg) // an old replica that restarts meanwhile
				if n, err := again.Ledger().Balance(t.Context(), "acct"); n != 10 || err != nil {
					t.Errorf("Balance of another = %d, %v", n, err)
				}
				return
			}
			until(t, func() bool { return db.unserved() != nil })
			_, err := db.Ledger().Balance(t.Context(), "acct")
			if says, ok := errors.AsType[interface {
				error
				Unavailable() bool
			}](err); !ok || !says.Unavailable() || !errors.Is(err, ErrNewer) {
				t.Errorf("Balance: %v; want ErrNewer, unavailable", err)
			}
			if _, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Minute, 1); !errors.Is(err,
				ErrNewer) {
				t.Errorf("Reserve: %v; want ErrNewer", err)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, ErrNewer) {
				t.Errorf("Ping: %v; want ErrNewer", err)
			}
			if _, err := Open(t.Context(), cfg); !errors.Is(err, ErrNewer) {
				t.Errorf("Open: %v; want ErrNewer", err)
			}
			become(t, db, fmt.Sprintf("DELETE FROM @migrations WHERE version = %d", next)) // as a restored backup would
			until(t, func() bool { return db.unserved() == nil })
			if n, err := db.Ledger().Balance(t.Context(), "acct"); n != 10 || err != nil {
				t.Errorf("Balance = %d, %v", n, err)
			}
		})
	}
}

// TestAMissingColumnChecksTheVersion checks that the reason is reported immediately, and not seconds later.
func TestAMissingColumnChecksTheVersion(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.look = time.Hour
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 10)
	become(t, db, fmt.Sprintf("INSERT INTO @migrations VALUES (%d, false); "+
		"ALTER TABLE @accounts RENAME COLUMN balance TO money", len(migrations)+1))
	if _, err := db.Ledger().Balance(t.Context(), "acct"); !errors.Is(err, ErrNewer) {
		t.Errorf("Balance: %v; want ErrNewer", err)
	}
	become(t, db, "ALTER TABLE @accounts RENAME COLUMN money TO balance")
	if _, err := db.Ledger().Balance(t.Context(), "acct"); !errors.Is(err, ErrNewer) {
		t.Errorf("Balance of a schema that may not be served: %v; want ErrNewer", err)
	}
}

// TestEarlyMigrationsAreNotCompatible opens a schema whose list of migrations only has versions.
func TestEarlyMigrationsAreNotCompatible(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	db := openDB(t, cfg)
	become(t, db, "ALTER TABLE @migrations DROP COLUMN compatible")
	if version, compatible, err := db.version(context.Background(), db.pool); version != len(migrations) || compatible ||
		err != nil {
		t.Errorf("version = %d, %v, %v", version, compatible, err)
	}
	openDB(t, cfg)
}
