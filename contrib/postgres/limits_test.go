package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// TestChargesAreDurableWhateverTheRoleSays notes the end of the log when entries are committed, and compares it with
// what is on the disk when the call returns.
func TestChargesAreDurableWhateverTheRoleSays(t *testing.T) {
	t.Parallel()
	db := openDB(t, withParam(newSchema(t), "synchronous_commit=off"))
	script(t, db, `
		CREATE TABLE @ends (lsn pg_lsn);
		CREATE FUNCTION @note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO @ends VALUES (pg_current_wal_insert_lsn()); RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER durable AFTER INSERT ON @entries
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION @note()`)
	durable := func(what string, err error) {
		t.Helper()
		var flushed bool
		if err == nil {
			err = db.runner.pool.QueryRow(t.Context(), db.sql("SELECT pg_current_wal_flush_lsn() > max(lsn) FROM @ends")).
				Scan(&flushed)
		}
		if err != nil || !flushed {
			t.Errorf("%s is durable: %t, %v; want true", what, flushed, err)
		}
	}
	addAccount(t, db, "acct", 100)
	who := credits.Spender{Account: "acct"}
	for range 20 {
		_, err := db.Ledger().Charge(t.Context(), who, credits.Charge{Amount: 1})
		durable("a charge", err)
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 2)
		if err == nil {
			_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 2})
		}
		durable("a settled hold", err)
	}
	wantBalance(t, db, 40)
	if found, err := db.Warnings(t.Context()); err != nil || len(found) == 0 ||
		!strings.HasPrefix(found[0], "synchronous_commit is off") {
		t.Errorf("Warnings = %q, %v; want one of synchronous_commit", found, err)
	}
}

// TestTimeoutsOfTheRoleAreRepeated lets a charge wait for a lock longer than the role's lock and statement timeouts: it
// is tried again while there is time, and then fails because the database is unavailable.
func TestTimeoutsOfTheRoleAreRepeated(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"lock_timeout=500ms", "statement_timeout=500ms"} {
		for _, released := range []bool{true, false} {
			cfg := newSchema(t)
			other := openDB(t, cfg)
			addAccount(t, other, "acct", 100)
			failed := &failures{}
			cfg = withParam(cfg, limit)
			cfg.Tracer, cfg.Patience = failed, 10*time.Second
			if !released {
				cfg.Patience = time.Second
			}
			db := openDB(t, cfg)
			tx, _ := interfere(t, other, "acct")
			done := make(chan error, 1)
			go func() {
				_, err := db.Ledger().Charge(context.WithoutCancel(t.Context()), credits.Spender{Account: "acct"},
					credits.Charge{Amount: 1})
				done <- err
			}()
			await.Until(t, "a time-out", func() bool { return failed.with(lockTimeout)+failed.with(statementTimeout) > 0 })
			if !released {
				var says interface{ Unavailable() bool }
				if err := <-done; !errors.As(err, &says) || !says.Unavailable() {
					t.Errorf("%s: Charge = %v; want that the database cannot be used now", limit, err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := int64(100)
			if released {
				if err := <-done; err != nil {
					t.Errorf("%s: Charge = %v", limit, err)
				}
				want = 99
			}
			wantBalance(t, other, want)
		}
	}
}

// TestACancelledCallReturns keeps the account locked: one charge is in progress, the other waits for it
// and is withdrawn.
func TestACancelledCallReturns(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	other, db := openDB(t, cfg), openDB(t, cfg)
	addAccount(t, db, "acct", 100)
	who := credits.Spender{Account: "acct"}
	tx, awaited := interfere(t, other, "acct")
	charge := func(id string, amount int64) (context.CancelFunc, chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := db.Ledger().Charge(ctx, who, credits.Charge{ID: id, Amount: amount})
			done <- err
		}()
		return cancel, done
	}
	leave, first := charge("first", 1)
	awaited()
	leaveToo, second := charge("second", 10)
	time.Sleep(50 * time.Millisecond) // so that it is most likely queued; if not, it is refused, which is the same
	leaveToo()
	if err := <-second; !errors.Is(err, context.Canceled) || errors.Is(err, sqlstore.ErrUnsure) {
		t.Errorf("the waiting call = %v; want %v", err, context.Canceled)
	}
	leave()
	if err := <-first; !errors.Is(err, sqlstore.ErrUnsure) {
		t.Errorf("the call in progress = %v; want %v", err, sqlstore.ErrUnsure)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	receipt, err := db.Ledger().Settle(t.Context(), credits.Hold{ID: "first", Spender: who}, credits.Charge{})
	if err != nil || receipt.Charged != 1 {
		t.Errorf("the call in progress returned %+v, %v; want one credit charged", receipt, err)
	}
	_, err = db.Ledger().Settle(t.Context(), credits.Hold{ID: "second", Spender: who}, credits.Charge{})
	if !errors.Is(err, credits.ErrExpired) {
		t.Errorf("the waiting call returned %v; want %v", err, credits.ErrExpired)
	}
	wantBalance(t, db, 99)
	wantAudit(t, db)
}
