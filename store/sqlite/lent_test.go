package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

func TestWriterSharesTheConnectionThatWrites(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 100)
	pool := db.Writer()
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := t.Context()
	if _, err := pool.ExecContext(ctx, "CREATE TABLE theirs (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	for range 20 { // transactions of others and charges, at the same time
		tasks.Go(func() {
			tx, err := pool.BeginTx(ctx, nil)
			if err != nil {
				t.Error(err)
				return
			}
			var n int64
			err = tx.QueryRowContext(ctx, "SELECT count(*) FROM theirs").Scan(&n)
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT INTO theirs VALUES (?1)", n)
			}
			if err := errors.Join(err, tx.Commit()); err != nil {
				t.Error(err)
			}
		})
		tasks.Go(func() {
			holds, err := db.Ledger().Reserve(ctx, credits.Spender{Account: "acct"}, time.Minute, 1)
			if err == nil {
				_, err = db.Ledger().Settle(ctx, holds[0], credits.Charge{Amount: 1})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	tasks.Wait()
	var n, sum int64
	if err := db.Readers().QueryRowContext(ctx, "SELECT count(*), sum(n) FROM theirs").Scan(&n, &sum); err != nil {
		t.Fatal(err)
	}
	if n != 20 || sum != 190 {
		t.Errorf("%d rows that add up to %d; want 20, 190: each transaction sees the one before", n, sum)
	}
	if got, err := db.Ledger().Balance(ctx, "acct"); got != 80 || err != nil {
		t.Errorf("Balance = %d, %v; want 80", got, err)
	}
}

func TestATransactionOfTheWriterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 1)
	pool := db.Writer()
	defer func() { _ = pool.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE theirs (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	waiting, stop := context.WithCancel(t.Context())
	stop()
	if _, err := pool.ExecContext(waiting, "DROP TABLE theirs"); !errors.Is(err, context.Canceled) {
		t.Errorf("a statement whose caller has left = %v; want context.Canceled", err)
	}
	cancel()
	addAccount(t, db, "second", 1) // has to wait for the connection
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE theirs (n INTEGER)"); err != nil {
		t.Errorf("the first transaction was not undone: %v", err)
	}
}

func TestWriterIsClosedWithTheFile(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	pool := db.Writer()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE theirs (n INTEGER)"); err == nil {
		t.Error("a statement succeeded after Close")
	}
}
