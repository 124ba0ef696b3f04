package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// dsnVariable names the variable with the DSN of the tests' database. They make schemas of their own in it, and remove
// them.
const dsnVariable = "SOCIALDATA_TEST_POSTGRES"

// newSchema returns a configuration with a schema for the test only.
func newSchema(tb testing.TB) Config {
	tb.Helper()
	dsn := os.Getenv(dsnVariable)
	if dsn == "" {
		tb.Skipf("%s is not set: give it the DSN of a PostgreSQL database, such as postgres://root@127.0.0.1/test",
			dsnVariable)
	}
	schema := "socialdata_test_" + strings.ToLower(rand.Text())
	tb.Cleanup(func() {
		ctx := context.Background()
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			tb.Error(err)
			return
		}
		_, err = c.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		if err = errors.Join(err, c.Close(ctx)); err != nil {
			tb.Error(err)
		}
	})
	return Config{DSN: dsn, Schema: schema, lease: 20 * time.Millisecond}
}

// openDB opens a replica until the test ends.
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
		return t.Exec("INSERT INTO "+db.schema+".accounts (id, name, created_at, hash) VALUES ($1, $1, 0, '')", id)
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
	cfg := newSchema(t)
	cfg.Now = now
	db := openDB(t, cfg)
	addAccount(t, db, ledgertest.Account, balance)
	t.Cleanup(func() {
		if err := auditOf(context.WithoutCancel(t.Context()), db); err != nil {
			t.Errorf("audit: %v", err)
		}
	})
	return db.Ledger()
}

func TestLedger(t *testing.T) {
	t.Parallel()
	newSchema(t)
	ledgertest.Run(t, openLedger)
	ledgertest.RunTimed(t, openTimed)
}

func TestLedgerAgainstTheModel(t *testing.T) {
	t.Parallel()
	newSchema(t)
	ledgertest.RunModel(t, openSubject)
}

func openSubject(t *testing.T, now func() time.Time) ledgertest.Subject {
	t.Helper()
	cfg := newSchema(t)
	cfg.Now = now
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
		Audit:     func(ctx context.Context) error { return auditOf(ctx, db) },
		HoldsLast: true,
		Close:     func() error { return db.Close() },
	}
}

// auditOf returns the findings of an audit as an error.
func auditOf(ctx context.Context, db *DB) error {
	r, err := db.Audit(ctx)
	if err == nil && !r.OK() {
		err = errors.New(strings.Join(r.Problems, "\n"))
	}
	return err
}

func TestNoErrorShowsThePassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"",
		"postgres://root:hunter2@127.0.0.1:port/test",
		"postgres://root:hunter2@127.0.0.1/test?sslmode=perhaps",
		"postgres://root:hunter2@127.0.0.1/test?pool_max_conns=many",
		"postgres://root:hunter2@127.0.0.1:1/test?connect_timeout=1",
		"postgres://root:hunter2@[::1/test",
		"host=127.0.0.1 password='hunter2",
		"host=127.0.0.1 port=1 password=hunter2 connect_timeout=1",
		"password hunter2",
	} {
		_, err := Open(t.Context(), Config{DSN: dsn, Patience: time.Millisecond})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%q) = %v; want an error without the password", dsn, err)
		}
	}
}

// sql returns a statement with the schema in place of each @.
func (db *DB) sql(text string) string { return strings.ReplaceAll(text, "@", db.schema+".") }
