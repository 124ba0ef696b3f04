package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/bookkeeping/bookkeepingtest"
	"github.com/socialdata/socialdata/store/sqlite"
)

// filled is what fill needs of a store.
type filled interface {
	OpenAccount(ctx context.Context, name string, n int64, reason string) (keys.Account, error)
	CreateKey(ctx context.Context, n keys.NewKey) (string, keys.Key, error)
	Revoke(ctx context.Context, id string) (keys.Key, error)
}

// fill makes three accounts with keys and entries, and returns a key with a daily cap of 8 that has spent 5 today.
func fill(t *testing.T, s filled, l credits.Ledger) keys.Key {
	t.Helper()
	var capped keys.Key
	for _, name := range []string{"<shop> & café", "متجر", "empty"} {
		a, err := s.OpenAccount(t.Context(), name, 100, "opening balance")
		if err != nil {
			t.Fatal(err)
		}
		_, k, err := s.CreateKey(t.Context(), keys.NewKey{
			Account: a.ID, Name: "web", Environment: keys.Live, DayCap: new(int64(8)),
			Rate: &keys.Rate{Capacity: 5, Refill: 0.5},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, old, err := s.CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Test})
		if err == nil {
			_, err = s.Revoke(t.Context(), old.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == "empty" {
			continue
		}
		if capped.ID == "" {
			capped = k
		}
		for i, n := range []int64{2, 3} {
			holds, err := l.Reserve(t.Context(), credits.Spender{Account: a.ID, Key: k.ID, DayCap: k.DayCap}, time.Hour, n)
			if err == nil {
				_, err = l.Settle(t.Context(), holds[0], credits.Charge{
					Amount: n, Operation: "profile", Platform: "github", RequestID: name, Cache: "MISS",
					IdempotencyKey: []string{"", name + " once"}[i],
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return capped
}

func openFile(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "t.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// balances returns the balances of all accounts, by name.
func balances(t *testing.T, s interface {
	Accounts(ctx context.Context) ([]keys.Account, error)
}, l credits.Ledger,
) map[string]int64 {
	t.Helper()
	all, err := s.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, a := range all {
		if found[a.Name], err = l.Balance(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func exportOf(t *testing.T, db interface {
	Export(ctx context.Context, w io.Writer) error
},
) string {
	t.Helper()
	var b bytes.Buffer
	if err := db.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBookkeeping(t *testing.T) {
	t.Parallel()
	newSchema(t)
	bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
		t.Helper()
		db := openDB(t, newSchema(t))
		return bookkeepingtest.Store{Bookkeeper: db, Admin: db.Keys(), Ledger: db.Ledger()}
	})
}

func TestBookkeepingInShards(t *testing.T) {
	t.Parallel()
	newSchema(t)
	bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
		t.Helper()
		s := openShards(t, newSchema(t), newSchema(t))
		return bookkeepingtest.Store{Bookkeeper: s, Admin: s.Keys(), Ledger: s.Ledger()}
	})
}

// TestADeploymentMovesFromSQLiteAndBack exports a file, imports it into PostgreSQL, and checks that everything is the
// same, against heads that were written before the move: balances, caps, idempotency keys, revocations and the chains
// of hashes.
func TestADeploymentMovesFromSQLiteAndBack(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	file := openFile(t)
	capped := fill(t, file.Keys(), file.Ledger())
	exported := exportOf(t, file)
	var heads bytes.Buffer
	if err := file.Heads(t.Context(), &heads); err != nil {
		t.Fatal(err)
	}
	if err := db.Import(t.Context(), strings.NewReader(exported)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(balances(t, file.Keys(), file.Ledger()), balances(t, db.Keys(), db.Ledger())); diff != "" {
		t.Errorf("balances (-SQLite +PostgreSQL):\n%s", diff)
	}
	report, err := db.AuditAgainst(t.Context(), &heads)
	want := bookkeeping.Report{Accounts: 3, Keys: 6, Entries: 7, Credits: 290}
	if diff := cmp.Diff(want, report); diff != "" || err != nil {
		t.Errorf("audit (-want +got), %v:\n%s", err, diff)
	}
	if diff := cmp.Diff(exported, exportOf(t, db)); diff != "" {
		t.Errorf("export (-SQLite +PostgreSQL):\n%s", diff)
	}
	if err := openFile(t).Import(t.Context(), strings.NewReader(exportOf(t, db))); err != nil {
		t.Errorf("the way back: %v", err)
	}
	if err := db.Import(t.Context(), strings.NewReader(exported)); !errors.Is(err, bookkeeping.ErrExists) {
		t.Errorf("a second import = %v; want ErrExists", err)
	}

	who := credits.Spender{Account: capped.Account, Key: capped.ID, DayCap: capped.DayCap}
	if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 4); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above what is left of the cap = %v; want ErrCap", err)
	}
	holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 3)
	if err != nil {
		t.Fatal(err)
	}
	charge := credits.Charge{Amount: 3, IdempotencyKey: "<shop> & café once"}
	if r, err := db.Ledger().Settle(t.Context(), holds[0], charge); err != nil || !r.Earlier {
		t.Errorf("a charge that was made before the move = %+v, %v; want the earlier one", r, err)
	}
	if _, err := db.Keys().Lookup(t.Context(), capped.Hash); err != nil {
		t.Errorf("Lookup: %v", err)
	}
	wantAudit(t, db)
}

func TestImportTakesAllOrNothing(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	other := openDB(t, newSchema(t))
	fill(t, other.Keys(), other.Ledger())
	whole := exportOf(t, other)
	lines := strings.SplitAfter(whole, "\n")
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", "", bookkeeping.ErrImport},
		{"the end is missing", strings.Join(lines[:len(lines)-2], ""), bookkeeping.ErrImport},
		{"an entry is missing", strings.Join(append(append([]string{}, lines[:10]...), lines[11:]...), ""), credits.ErrBroken},
		{"another amount", strings.Replace(whole, `"amount":-2,"balance":98`, `"amount":-1,"balance":99`, 1), credits.ErrBroken},
		{"data after the end", whole + "{}", bookkeeping.ErrImport},
	}
	for _, tt := range tests {
		if err := db.Import(t.Context(), strings.NewReader(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: Import = %v; want %v", tt.name, err, tt.want)
		}
	}
	if r, err := db.Audit(t.Context()); err != nil || r.Accounts+r.Keys+r.Entries != 0 || !r.OK() {
		t.Errorf("a part was imported: %+v, %v", r, err)
	}
}

func TestAuditFindsTampering(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, change, want string
		heads              bool // found only with the earlier heads
	}{
		{"an amount", "UPDATE @entries SET amount = -1 WHERE seq = 2", "is not", false},
		{"a balance and what depends on it", "UPDATE @entries SET amount = 90, balance = 90 WHERE seq = 1", "hash", false},
		{"a text", "UPDATE @entries SET operation = 'posts' WHERE seq = 2", "another hash", false},
		{"an entry in the middle is gone", "DELETE FROM @entries WHERE seq = 2", "follows entry 1", false},
		{"the last entries are gone", "DELETE FROM @entries WHERE seq = 3", "ends with entry 2", false},
		{
			"an entry after the last", `
			INSERT INTO @entries SELECT account, seq + 1, kind, amount, balance + amount, key, operation, platform, request_id,
				cache, reason, '', idempotency_key, at, clock, hash
			FROM @entries WHERE seq = 3`, "and 1 more follow it", false,
		},
		{
			"an entry far after the end of an account without entries", `
			INSERT INTO @accounts (id, name, created_at) VALUES ('acct_new', 'new', 0);
			INSERT INTO @entries SELECT a.no, 1000 + e.seq, kind, amount, e.balance, key, operation, platform, request_id, cache, reason,
				'', idempotency_key, e.at, clock, e.hash
			FROM @entries e JOIN @accounts a ON a.id = 'acct_new' WHERE e.account = (SELECT min(no) FROM @accounts)`,
			"acct_new ends with entry 0, and 3 more follow it", false,
		},
		{"an account's balance", "UPDATE @accounts SET balance = balance + 1", "but its record says entry", false},
		{"an entry of an unknown account", "UPDATE @entries SET account = -5 WHERE seq = 3 AND account = (SELECT min(no) FROM @accounts)", "account number -5", false},
		{"what is held", "UPDATE @accounts SET held = 1", "holds add up to", false},
		{"what a key has spent", "UPDATE @spending SET today = 0, total = 0", "spent 5 in all", false},
		{
			"the last entries with all traces", `
			DELETE FROM @entries WHERE seq = 3; UPDATE @spending SET today = 2, total = 2 WHERE total > 0;
			UPDATE @accounts a SET seq = e.seq, balance = e.balance, at = e.at, hash = e.hash
			FROM @entries e WHERE e.account = a.no AND e.seq = 2`, "has fewer now", true,
		},
		{"a revoked key that is valid again", "UPDATE @keys SET revoked_at = NULL", "was revoked when the heads were written", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, newSchema(t))
			fill(t, db.Keys(), db.Ledger())
			var heads bytes.Buffer
			if err := db.Heads(t.Context(), &heads); err != nil {
				t.Fatal(err)
			}
			wantAudit(t, db)
			conn, err := db.pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = conn.Conn().PgConn().Exec(t.Context(), db.sql(tt.change)).ReadAll()
			conn.Release()
			if err != nil {
				t.Fatal(err)
			}
			alone, err := db.Audit(t.Context())
			if err != nil || alone.OK() != tt.heads {
				t.Errorf("audit without heads = %+v, %v", alone, err)
			}
			r, err := db.AuditAgainst(t.Context(), &heads)
			if err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), tt.want) {
				t.Errorf("audit = %q, %v; want a problem that says %q", r.Problems, err, tt.want)
			}
		})
	}
	t.Run("invalid heads", func(t *testing.T) {
		t.Parallel()
		db := openDB(t, newSchema(t))
		if _, err := db.AuditAgainst(t.Context(), strings.NewReader("{}\n")); !errors.Is(err, bookkeeping.ErrHeads) {
			t.Errorf("AuditAgainst = %v; want ErrHeads", err)
		}
	})
}
