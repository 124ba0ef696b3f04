package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		want         error
	}{
		{"a file of a newer version", "PRAGMA user_version = 1000", ErrNewer},
		{"a database of another program", "PRAGMA application_id = 1", ErrForeign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.db")
			db, err := Open(t.Context(), Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(tamper(db, tt.script), db.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, tt.want) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("Open = %v; want %v, with the path", err, tt.want)
			}
		})
	}
	t.Run("a database without our mark", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "test.db")
		c, err := openConn(dsn(path, ""))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.script("CREATE TABLE theirs (a)"), c.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Config{Path: path}); !errors.Is(err, ErrForeign) {
			t.Errorf("Open = %v; want ErrForeign", err)
		}
	})
	t.Run("a file that is not a database", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "test.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("these are no pages of a database", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Config{Path: path}); err == nil {
			t.Error("Open succeeded")
		}
	})
	t.Run("a missing directory", func(t *testing.T) {
		t.Parallel()
		if _, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "none", "test.db")}); !errors.Is(err,
			os.ErrNotExist) {
			t.Errorf("Open = %v; want os.ErrNotExist", err)
		}
	})
	t.Run("no path", func(t *testing.T) {
		t.Parallel()
		if _, err := Open(t.Context(), Config{}); err == nil {
			t.Error("Open succeeded")
		}
	})
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
		t.Errorf("the file can be read by %v", info.Mode())
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
	who := credits.Spender{Account: "acct"}
	if _, err := admin.Ledger().Reserve(t.Context(), who, time.Hour, 1); !errors.Is(err, ErrAdmin) {
		t.Errorf("Reserve = %v; want ErrAdmin", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := openDB(t, Config{Path: path})
	if got, err := again.Ledger().Balance(t.Context(), "acct"); got != 10 || err != nil {
		t.Errorf("Balance = %d, %v; want 10", got, err)
	}
}

func TestChangesOfAnotherProcessApplyToTheNextCall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	server := openDB(t, Config{Path: path})
	admin := openDB(t, Config{Path: path, Admin: true})
	ctx := t.Context()
	a, err := admin.Keys().CreateAccount(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	secret, k, err := admin.Keys().CreateKey(ctx,
		keys.NewKey{Account: "first", Environment: keys.Live, TotalCap: new(int64(20))})
	if err != nil {
		t.Fatal(err)
	}
	h, err := keys.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: a.ID, Key: k.ID, TotalCap: k.TotalCap}
	for range 5 {
		if _, err := server.Keys().Lookup(ctx, h); err != nil {
			t.Fatalf("Lookup: %v", err)
		}
		if _, err := server.Ledger().Reserve(ctx, who, time.Hour, 1); !errors.Is(err, credits.ErrInsufficient) {
			t.Fatalf("Reserve before the grant = %v; want ErrInsufficient", err)
		}
		if got, err := admin.Ledger().Grant(ctx, a.ID, 3, "more"); got != 3 || err != nil {
			t.Fatalf("Grant = %d, %v; want 3", got, err)
		}
		if got, err := server.Ledger().Balance(ctx, a.ID); got != 3 || err != nil {
			t.Fatalf("Balance = %d, %v; want 3", got, err)
		}
		spend(t, server.Ledger(), who, 2, credits.Charge{})
		holds, err := server.Ledger().Reserve(ctx, who, time.Hour, 1)
		if err != nil {
			t.Fatal(err)
		}
		// A grant between Reserve and Settle is in the ledger before the charge.
		if got, err := admin.Ledger().Grant(ctx, a.ID, 5, "sorry"); got != 6 || err != nil {
			t.Fatalf("Grant = %d, %v; want 6", got, err)
		}
		if got, err := server.Ledger().Settle(ctx, holds[0], credits.Charge{Amount: 1}); got.Balance != 5 || err != nil {
			t.Fatalf("Settle = %d, %v; want 5", got.Balance, err)
		}
		if got, err := admin.Ledger().Balance(ctx, a.ID); got != 5 || err != nil {
			t.Fatalf("Balance beside the server = %d, %v; want 5", got, err)
		}
		spend(t, server.Ledger(), credits.Spender{Account: a.ID, Key: "another"}, 5, credits.Charge{})
		wantAudit(t, admin)
	}
	if _, err := admin.Ledger().Grant(ctx, a.ID, 100, "more"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Ledger().Reserve(ctx, who, time.Hour, 6); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	if _, err := admin.Keys().Revoke(ctx, k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Keys().Lookup(ctx, h); !errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup after another process revoked the key = %v; want ErrUnknown", err)
	}
}

func TestAReopenedFileContinues(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDB(t, Config{Path: path})
	ctx := t.Context()
	a, err := db.Keys().CreateAccount(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	_, k, err := db.Keys().CreateKey(ctx, keys.NewKey{Account: a.ID, Environment: keys.Live, DayCap: new(int64(8))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Grant(ctx, a.ID, 100, ""); err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: a.ID, Key: k.ID, DayCap: k.DayCap}
	holds, err := db.Ledger().Reserve(ctx, who, time.Hour, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	charge := credits.Charge{Amount: 3, IdempotencyKey: "a"}
	if _, err := db.Ledger().Settle(ctx, holds[0], charge); err != nil {
		t.Fatal(err)
	}
	used := time.Now().UTC().Truncate(time.Microsecond)
	db.Keys().Touch(k.ID, used)
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Settle(ctx, holds[1], charge); err == nil {
		t.Error("a closed file was charged")
	}

	db = openDB(t, Config{Path: path})
	if got, err := db.Ledger().Settle(ctx, holds[0], charge); got.Balance != 97 || err != nil {
		t.Errorf("settling a charged hold again = %d, %v; want 97", got.Balance, err)
	}
	if _, err := db.Ledger().Settle(ctx, holds[1], charge); !errors.Is(err, credits.ErrExpired) {
		t.Errorf("settling a hold that was open = %v; want ErrExpired", err)
	}
	spend(t, db.Ledger(), who, 5, charge) // its key was used: charges nothing
	if got, err := db.Ledger().Balance(ctx, a.ID); got != 97 || err != nil {
		t.Errorf("Balance = %d, %v; want 97", got, err)
	}
	if _, err := db.Ledger().Reserve(ctx, who, time.Hour, 6); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	got, err := db.Keys().Key(ctx, k.ID)
	if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(used) {
		t.Errorf("last used %v, %v; want %v", got.LastUsedAt, err, used)
	}
	wantAudit(t, db)
}

func TestAFullDiskRefusesChargesAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 1000)
	limit := func(pages string) {
		t.Helper()
		if err := db.writer.alone(func(c *conn) error { return c.script("PRAGMA max_page_count = " + pages) }); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite raises it to the current number
	who := credits.Spender{Account: "acct", Key: "key"}
	reason := strings.Repeat("fills a page sooner ", 50)
	charged := int64(0)
	for {
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1, Operation: reason})
		if err == nil {
			charged++
			continue
		}
		if !errors.Is(err, ErrFull) {
			t.Errorf("Settle on a full disk = %v; want ErrFull", err)
		}
		// The hold still exists, and can be settled when there is space again.
		if got, err := db.Ledger().Balance(t.Context(), "acct"); got != 1000-charged-1 || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, 1000-charged-1)
		}
		wantAudit(t, db)
		limit("1000000")
		if got, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1}); got.Balance != 1000-charged-1 ||
			err != nil {
			t.Errorf("Settle with room again = %d, %v; want %d", got.Balance, err, 1000-charged-1)
		}
		break
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
		err := db.writer.do(&task{outside: true, apply: func(w *writer) error { // its transaction could not begin
			return w.c.script("PRAGMA query_only = " + on)
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	holds, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 1)
	if err != nil {
		t.Fatal(err)
	}
	queryOnly("on")
	if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Settle = %v; want ErrReadOnly", err)
	}
	if _, err := db.Ledger().Grant(t.Context(), "acct", 1, ""); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Grant = %v; want ErrReadOnly", err)
	}
	if got := wantAudit(t, db).Credits; got != 10 {
		t.Errorf("the entries add up to %d; want 10", got)
	}
	queryOnly("off")
	if got, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1}); got.Balance != 9 || err != nil {
		t.Errorf("Settle = %d, %v; want 9", got.Balance, err)
	}
}

func TestEveryQueryOfEntriesIsServedByIndexes(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	now := time.Now()
	const hold = "entries_hold (hold>? AND hold<?)"
	tests := []struct {
		name string
		q    credits.Query
		want []string
	}{
		{"all", credits.Query{}, []string{"entries_account (account=?)"}},
		{"before", credits.Query{Before: 5}, []string{"entries_account (account=? AND seq<?)"}},
		{
			"time",
			credits.Query{Since: now.Add(-time.Hour), Until: now},
			[]string{"entries_account (account=? AND seq>? AND seq<?)"},
		},
		{"platform", credits.Query{Platform: "x", Before: 5}, []string{"entries_account (account=? AND seq<?)"}},
		{"platform and time", credits.Query{Platform: "x", Since: now}, []string{"entries_account (account=? AND seq>?)"}},
		{"request", credits.Query{RequestID: "r"}, []string{"entries_request (request_id=? AND account=?)", hold}},
		{
			"request on a platform, before",
			credits.Query{RequestID: "r", Platform: "x", Before: 5},
			[]string{"entries_request (request_id=? AND account=? AND seq<?)", hold},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tx, err := db.read.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it only ends a snapshot
			query, args, err := selectEntries(t.Context(), tx, 1, tt.q)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := list(t.Context(), db.read, scanPlan, "EXPLAIN QUERY PLAN "+query, args...)
			if err != nil {
				t.Fatal(err)
			}
			searches, sorts := []string{}, 0
			for _, step := range plan {
				if index, ok := strings.CutPrefix(step, "SEARCH entries USING INDEX "); ok {
					searches = append(searches, index)
				} else if strings.Contains(step, "SCAN") {
					t.Errorf("%s scans: %q", query, step)
				} else if strings.Contains(step, "TEMP B-TREE") {
					sorts++
				}
			}
			if diff := cmp.Diff(tt.want, searches); diff != "" || sorts != len(tt.want)-1 { // those of one request are sorted
				t.Errorf("%s is planned as %q (-want +got):\n%s", query, plan, diff)
			}
		})
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
	if err := tamper(db, "PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, ErrNewer) {
		t.Errorf("Ping = %v once a newer program has been here; want ErrNewer", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("a closed file answers")
	}
}
