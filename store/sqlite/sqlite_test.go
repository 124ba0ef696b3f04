package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/sqlstore"
)

func TestInvalidFilesAreRefused(t *testing.T) {
	t.Parallel()
	with := func(statements string) func(path string) error {
		return func(path string) error {
			db, err := Open(t.Context(), Config{Path: path})
			if err != nil {
				return err
			}
			return errors.Join(script(path, statements), db.Close())
		}
	}
	missing := filepath.Join("none", "test.db")
	for _, tt := range []struct {
		name, path string
		prepare    func(path string) error
		want       error // nil for any
		names      bool  // the path
	}{
		{"a file of a newer version", "test.db", with("INSERT INTO schema_versions VALUES (1000, 0)"), sqlstore.ErrNewer, true},
		{"a file of before the first release", "test.db", with("PRAGMA application_id = 1935958388"), ErrForeign, true},
		{"a database of another program", "test.db", with("PRAGMA application_id = 1"), ErrForeign, true},
		{"a database without our mark", "test.db", func(path string) error {
			return script(path, "CREATE TABLE theirs (a)")
		}, ErrForeign, false},
		{"a file that is not a database", "test.db", func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("these are no pages of a database", 1000)), 0o600)
		}, nil, false},
		{"a missing directory", missing, func(string) error { return nil }, os.ErrNotExist, false},
		{"no path", "", func(string) error { return nil }, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := tt.path
			if path != "" {
				path = filepath.Join(t.TempDir(), path)
			}
			if err := tt.prepare(path); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), Config{Path: path})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || tt.names && !strings.Contains(err.Error(), path) {
				t.Errorf("Open = %v; want the error %v, with the path: %t", err, tt.want, tt.names)
			}
		})
	}
}

func TestAPathMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%20&é.db")
	db := openDB(t, Config{Path: path})
	addAccount(t, db, "acct", 5)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v; want it for its owner alone", info.Mode())
	}
}

func TestOneProcessServes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	addAccount(t, db, "acct", 10)
	if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, ErrInUse) {
		t.Errorf("a second server: %v; want ErrInUse", err)
	}
	admin := openDB(t, Config{Path: path, Admin: true})
	if got, err := admin.Ledger().Balance(t.Context(), "acct"); got != 10 || err != nil {
		t.Errorf("Balance beside the server = %d, %v; want 10", got, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := openDB(t, Config{Path: path})
	if got, err := again.Ledger().Balance(t.Context(), "acct"); got != 10 || err != nil {
		t.Errorf("Balance = %d, %v; want 10", got, err)
	}
}

func TestAFullDiskRefusesChargesAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 1000)
	limit := func(pages string) {
		t.Helper()
		if err := pragma(db, "max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite raises it to the current number
	who := credits.Spender{Account: "acct", Key: "key"}
	reason := strings.Repeat("fills a page sooner ", 50)
	charged := int64(0)
	// The hold of a charge that cannot be written still exists, and can be settled when there is space again.
	var hold credits.Hold
	for {
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
		if err == nil {
			hold = holds[0]
			_, err = db.Ledger().Settle(t.Context(), hold, credits.Charge{Amount: 1, Operation: reason})
		}
		if err == nil {
			charged++
			hold = credits.Hold{}
			continue
		}
		if !errors.Is(err, sqlstore.ErrFull) || !unavailable(err) {
			t.Errorf("a charge on a full disk = %v; want sqlstore.ErrFull, unavailable", err)
		}
		break
	}
	held := hold.Amount
	if got, err := db.Ledger().Balance(t.Context(), "acct"); got != 1000-charged-held || err != nil {
		t.Errorf("Balance = %d, %v; want %d", got, err, 1000-charged-held)
	}
	wantAudit(t, db)
	limit("1000000")
	if held == 0 {
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
		if err != nil {
			t.Fatal(err)
		}
		hold = holds[0]
	}
	if got, err := db.Ledger().Settle(t.Context(), hold, credits.Charge{Amount: 1}); got.Balance != 1000-charged-1 ||
		err != nil {
		t.Errorf("Settle with room again = %d, %v; want %d", got.Balance, err, 1000-charged-1)
	}
	if got := wantAudit(t, db).Credits; got != 1000-charged-1 {
		t.Errorf("the entries add up to %d; want %d", got, 1000-charged-1)
	}
}

func TestAReadOnlyFileRefusesChargesAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 10)
	queryOnly := func(on string) {
		t.Helper()
		if err := pragma(db, "query_only = "+on); err != nil {
			t.Fatal(err)
		}
	}
	holds, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 1)
	if err != nil {
		t.Fatal(err)
	}
	queryOnly("on")
	if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1}); !errors.Is(err, sqlstore.ErrReadOnly) {
		t.Errorf("Settle = %v; want ErrReadOnly", err)
	}
	if _, err := db.Ledger().Grant(t.Context(), "acct", 1, ""); !errors.Is(err, sqlstore.ErrReadOnly) {
		t.Errorf("Grant = %v; want ErrReadOnly", err)
	}
	if got := wantAudit(t, db).Credits; got != 10 {
		t.Errorf("the entries add up to %d; want 10", got)
	}
	if err := db.Writable(t.Context()); !errors.Is(err, sqlstore.ErrReadOnly) || !unavailable(err) {
		t.Errorf("Writable = %v; want ErrReadOnly, unavailable", err)
	}
	queryOnly("off")
	if err := db.Writable(t.Context()); err != nil {
		t.Errorf("Writable = %v", err)
	}
	if got, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1}); got.Balance != 9 || err != nil {
		t.Errorf("Settle = %d, %v; want 9", got.Balance, err)
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	if err := tamper(db, "INSERT INTO schema_versions VALUES (1000, 0)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("Ping = %v once a newer program has been here; want ErrNewer", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("Ping of a closed file = nil; want an error")
	}
}

// pragma sets one of the connection that writes.
func pragma(db *DB, text string) error {
	return db.runner.run(&task{outside: func(c *sql.Conn) error {
		_, err := c.ExecContext(context.Background(), "PRAGMA "+text)
		return err
	}})
}

// script runs statements in a file.
func script(path, text string) error {
	c, err := sql.Open("sqlite", dsn(path, "_busy_timeout=5000"))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(context.Background(), text)
	return errors.Join(err, c.Close())
}

// unavailable reports whether an error says that the call may succeed later.
func unavailable(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}
