package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/bookkeeping/bookkeepingtest"
	"github.com/socialdata/socialdata/store/sqlstore/sqlstoretest"
)

func TestBookkeeping(t *testing.T) {
	t.Parallel()
	bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
		t.Helper()
		db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
		return bookkeepingtest.Store{
			Bookkeeper: db, Admin: db.Keys(), Ledger: db.Ledger(),
			Watches: db.Watches(), Records: db.Records(), Blocklist: db.Blocklist(),
		}
	})
}

func TestBooks(t *testing.T) {
	t.Parallel()
	sqlstoretest.RunBooks(t, openBooks)
}

func BenchmarkMove(b *testing.B) { sqlstoretest.BenchmarkMove(b, openBooks) }

func openBooks(tb testing.TB, now func() time.Time) sqlstoretest.Books {
	tb.Helper()
	db := openDB(tb, Config{Path: filepath.Join(tb.TempDir(), "test.db"), Now: now})
	return sqlstoretest.Books{DB: db.DB, Admin: db.Keys(), Script: func(statements string) error {
		return tamper(db, "DROP TRIGGER entries_are_not_changed; DROP TRIGGER entries_are_not_removed;"+
			strings.ReplaceAll(statements, "@", ""))
	}}
}

// wantAudit returns what an audit reports, which must be no problem.
func wantAudit(tb testing.TB, db *DB) bookkeeping.Report {
	tb.Helper()
	r, err := db.Audit(context.WithoutCancel(tb.Context()))
	if err != nil || !r.OK() {
		tb.Errorf("Audit = %q, %v", r.Problems, err)
	}
	return r
}

// spend charges n credits.
func spend(tb testing.TB, l credits.Ledger, who credits.Spender, n int64, c credits.Charge) {
	tb.Helper()
	holds, err := l.Reserve(tb.Context(), who, time.Hour, n)
	if err != nil {
		tb.Fatal(err)
	}
	c.Amount = n
	if _, err := l.Settle(tb.Context(), holds[0], c); err != nil {
		tb.Fatal(err)
	}
}

// tamper runs statements in the file, beside the process that serves it.
func tamper(db *DB, statements string) error { return script(db.path, statements) }

func TestEntriesReceiptsAndLossesCannotBeChangedOrRemoved(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 10)
	if err := db.AcceptLoss(t.Context(), bookkeeping.Loss{}); err != nil {
		t.Fatal(err)
	}
	if err := tamper(db, "INSERT INTO receipts VALUES (1, x'7b7d')"); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"UPDATE entries SET reason = ''", "DELETE FROM entries", "UPDATE losses SET entries = 1", "DELETE FROM losses",
		"UPDATE receipts SET no = 2", "DELETE FROM receipts",
	} {
		if err := tamper(db, script); err == nil || !strings.Contains(err.Error(), "are never") {
			t.Errorf("%s: %v; want that it is refused", script, err)
		}
	}
	wantAudit(t, db)
}

func TestAnImportDoesNotBlockCallers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	admin := openDB(t, Config{Path: path, Admin: true})
	addAccount(t, db, "acct", 10)
	if err := admin.Import(t.Context(), strings.NewReader("")); !errors.Is(err, ErrInUse) {
		t.Errorf("Import beside a server = %v; want ErrInUse", err)
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- db.Import(context.WithoutCancel(t.Context()), r) }()
	if _, err := io.WriteString(w, `{"socialdata":{"version":2}}`); err != nil { // Import has begun to read
		t.Fatal(err)
	}
	spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 1, credits.Charge{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, bookkeeping.ErrImport) {
		t.Errorf("Import of a part = %v; want ErrImport", err)
	}
}

// TestNothingServesTheFileDuringAnImport begins an import by a command and opens the file meanwhile.
func TestNothingServesTheFileDuringAnImport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	admin := openDB(t, Config{Path: path, Admin: true})
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- admin.Import(context.WithoutCancel(t.Context()), r) }()
	if _, err := io.WriteString(w, `{"socialdata":{"version":2}}`); err != nil { // Import has begun to read
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, ErrInUse) {
		t.Errorf("Open during an import = %v; want ErrInUse", err)
	}
	_, err := io.WriteString(w, `{"end":{"accounts":0,"keys":0,"entries":0}}`)
	if err := errors.Join(err, w.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	openDB(t, Config{Path: path})
}

// TestASlowExportLetsTheLogBeReused pauses in the middle of an export, like a pager.
func TestASlowExportLetsTheLogBeReused(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 10)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := db.Export(context.WithoutCancel(t.Context()), w)
		done <- errors.Join(err, w.CloseWithError(err))
	}()
	one := make([]byte, 1)
	if _, err := io.ReadFull(r, one); err != nil { // the export waits for the reader
		t.Fatal(err)
	}
	spend(t, db.Ledger(), credits.Spender{Account: "acct"}, 1, credits.Charge{})
	if left, err := checkpoint(db.log.pool, "PASSIVE"); err != nil || left != 0 {
		t.Errorf("%d pages of the log are left, %v; want none", left, err)
	}
	rest, err := io.ReadAll(r)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	to := openDB(t, Config{Path: filepath.Join(t.TempDir(), "other.db")})
	if err := to.Import(t.Context(), io.MultiReader(bytes.NewReader(one), bytes.NewReader(rest))); err != nil {
		t.Fatal(err)
	}
	if got := wantAudit(t, to).Entries; got > 2 {
		t.Errorf("%d entries came; want 2 at most", got)
	}
}
