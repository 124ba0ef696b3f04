package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/faultnet"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/store"
	"github.com/socialdata/socialdata/store/sqlstore"
)

// TestErrorsAreClassified compares what is made of errors of the driver and of PostgreSQL: those
// that may pass are repeated, and are unavailable in the end; others are defects, or answers.
func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()
	type is struct{ passing, unavailable, unsure bool }
	passes, refused, other := is{passing: true, unavailable: true}, is{unavailable: true}, is{}
	code := func(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code} }
	for _, tt := range []struct {
		err  error
		want is
	}{
		{driver.ErrBadConn, passes},
		{sql.ErrConnDone, passes},
		{sql.ErrTxDone, passes},
		{pgconn.ErrConnClosed, passes},
		{io.EOF, passes},
		{io.ErrUnexpectedEOF, passes},
		{net.ErrClosed, passes},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, passes},
		{syscall.ECONNRESET, passes},
		{fmt.Errorf("failed to deallocate cached statement(s): %w", syscall.EPIPE), passes},
		{&pgconn.ConnectError{Config: &pgconn.Config{}}, passes},
		{code("08006"), passes}, // connection failure
		{code("08P01"), passes}, // a pooler that has lost the server
		{code("25P01"), passes},
		{code("25P02"), passes},
		{code("25P03"), passes},
		{code("26000"), passes},
		{code("40001"), passes},
		{code("40003"), passes},
		{code("40P01"), passes},
		{code("42P05"), passes},
		{code("53200"), passes}, // out of memory
		{code("53300"), passes},
		{code("55P03"), passes},
		{code("57014"), passes},
		{code("57P01"), passes},
		{code("57P02"), passes},
		{code("57P03"), passes},
		{code("57P04"), passes},
		{code("57P05"), passes},
		{code("58030"), passes}, // an error of the disk
		{code("25006"), passes},
		{&pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, passes},
		{code("53100"), refused},
		{fmt.Errorf("%w: %w", sqlstore.ErrNotWritten, io.EOF), passes},
		{code("0A000"), other}, // a feature that it does not have
		{code("22003"), other}, // a number out of range
		{code("23514"), other}, // a check of a column
		{code("42601"), other}, // a syntax error
		{credits.ErrInsufficient, other},
		{records.ErrConflict, other},
		{sql.ErrNoRows, other},
		{context.Canceled, other}, // the caller's: the driver's own is errBroken
		{context.DeadlineExceeded, other},
		{fmt.Errorf("%w: %v", errBroken, context.DeadlineExceeded), passes}, //nolint:errorlint // as in retry
	} {
		got := is{passing: passing(tt.err)}
		if e, ok := errors.AsType[*store.UnavailableError](explain(tt.err)); ok {
			got.unavailable, got.unsure = true, e.Unsure()
		}
		if got != tt.want {
			t.Errorf("%v: %+v; want %+v", tt.err, got, tt.want)
		}
	}
}

// TestABrokenDatabaseIsUnavailable provokes errors in a database behind a network, while the caller has time. No call
// gives an error that says nothing, and none says that nothing was written when that is not known.
func TestABrokenDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context, db *DB, _ *faultnet.Proxy) error {
		_, err := db.Records().Get(ctx, "job/1")
		if errors.Is(err, records.ErrAbsent) {
			return nil
		}
		return err
	}
	add := func(ctx context.Context, db *DB, _ *faultnet.Proxy) error {
		_, _, err := db.Records().Add(ctx, records.Record{Key: "job/1", Value: []byte("x")}, time.Hour)
		return err
	}
	reserve := func(ctx context.Context, db *DB, _ *faultnet.Proxy) error {
		_, err := db.Ledger().Reserve(ctx, credits.Spender{Account: "acct"}, time.Hour, 1)
		return err
	}
	// write makes a transaction of two statements, and calls between after the first in each attempt.
	type call func(context.Context, *DB, *faultnet.Proxy) error
	write := func(between func(attempt int, t sqlstore.Tx, p *faultnet.Proxy)) call {
		return func(ctx context.Context, db *DB, p *faultnet.Proxy) error {
			attempt := 0
			return db.runner.Write(ctx, func(t sqlstore.Tx) error {
				attempt++
				var one int
				if err := t.Query([]any{&one}, nil, "SELECT 1"); err != nil {
					return err
				}
				between(attempt, t, p)
				return t.Exec("UPDATE "+db.schema+".accounts SET name = name WHERE id = $1", "acct")
			})
		}
	}
	nothing := func(*faultnet.Proxy, *DB) {}
	cut := func(p *faultnet.Proxy, _ *DB) { p.Cut() }
	refuse := func(p *faultnet.Proxy, _ *DB) { p.Refuse(true); p.Cut() }
	freeze := func(p *faultnet.Proxy, _ *DB) { p.Cut(); p.Freeze(true) }
	for _, tt := range []struct {
		name   string
		param  string // of the DSN
		before func(p *faultnet.Proxy, db *DB)
		call   call
		works  bool // it is repeated, and succeeds
		unsure bool
	}{
		{"all connections were cut, and new ones are refused: a read", "", refuse, get, false, false},
		{"the same: a record", "", refuse, add, false, false},
		{"the same: a hold", "", refuse, reserve, false, false},
		{"all connections were cut: a read", "", cut, get, true, false},
		{"all connections were cut: a hold", "", cut, reserve, true, false},
		{"a frozen network, with a time limit for connecting: a read", "connect_timeout=1", freeze, get, false, false},
		{"the same: a hold", "connect_timeout=1", freeze, reserve, false, false},
		{"reset within each transaction", "", nothing, write(func(_ int, _ sqlstore.Tx, p *faultnet.Proxy) {
			p.Cut()
		}), false, true}, // the commit is sent with the last statement
		{"reset within a transaction", "", nothing, write(func(attempt int, _ sqlstore.Tx, p *faultnet.Proxy) {
			if attempt == 1 {
				p.Cut()
			}
		}), true, false},
		{
			"a statement fails, and the next one is in the same transaction", "", nothing,
			write(func(attempt int, t sqlstore.Tx, _ *faultnet.Proxy) {
				if attempt == 1 {
					_ = t.Query(nil, nil, "SELECT 1/0")
				}
			}), true, false,
		},
		{"the server process is terminated", "", nothing, write(func(_ int, t sqlstore.Tx, _ *faultnet.Proxy) {
			_ = t.Query(nil, nil, "SELECT pg_terminate_backend(pg_backend_pid())")
		}), false, false},
		{"prepared statements are gone", "pool_max_conns=1", func(p *faultnet.Proxy, db *DB) {
			for range 2 { // so that it is prepared
				_ = get(context.Background(), db, p)
			}
			_, _ = db.runner.pool.Exec(context.Background(), "DEALLOCATE ALL")
		}, get, true, false},
		{"a table was changed", "pool_max_conns=1", func(p *faultnet.Proxy, db *DB) {
			_ = get(context.Background(), db, p)
			_, _ = db.runner.pool.Exec(context.Background(), db.sql("ALTER TABLE @records ALTER COLUMN version TYPE numeric"))
		}, get, true, false},
		{"it is closed", "", func(_ *faultnet.Proxy, db *DB) { _ = db.Close() }, reserve, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := newSchema(t)
			addAccount(t, openDB(t, cfg), "acct", 10)
			cfg, proxy := throughProxy(t, cfg)
			if tt.param != "" {
				cfg = withParam(cfg, tt.param)
			}
			cfg.FlushEvery, cfg.checkEvery = time.Hour, time.Hour
			db := openDB(t, cfg)
			if !tt.works {
				db.runner.patience = 300 * time.Millisecond
			}
			tt.before(proxy, db)
			err := tt.call(t.Context(), db, proxy)
			e, unavailable := errors.AsType[*store.UnavailableError](err)
			switch {
			case tt.works && err != nil:
				t.Errorf("got %v; want it repeated", err)
			case !tt.works && (!unavailable || e.Unsure() && !tt.unsure):
				t.Errorf("got %v; want that it is unavailable", err)
			}
			proxy.Refuse(false)
			proxy.Freeze(false)
		})
	}
}
