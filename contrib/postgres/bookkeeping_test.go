package postgres

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping/bookkeepingtest"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/store/sqlstore/sqlstoretest"
)

func TestBookkeeping(t *testing.T) {
	t.Parallel()
	newSchema(t)
	bookkeepingtest.Run(t, func(t *testing.T) bookkeepingtest.Store {
		t.Helper()
		db := openDB(t, newSchema(t))
		return bookkeepingtest.Store{
			Bookkeeper: db, Admin: db.Keys(), Ledger: db.Ledger(),
			Watches: db.Watches(), Records: db.Records(), Blocklist: db.Blocklist(),
		}
	})
}

func TestBooks(t *testing.T) {
	t.Parallel()
	newSchema(t)
	sqlstoretest.RunBooks(t, openBooks)
}

func BenchmarkMove(b *testing.B) { sqlstoretest.BenchmarkMove(b, openBooks) }

func openBooks(tb testing.TB, now func() time.Time) sqlstoretest.Books {
	tb.Helper()
	cfg := newSchema(tb)
	cfg.Now = now
	db := openDB(tb, cfg)
	return sqlstoretest.Books{DB: db.DB, Admin: db.Keys(), Script: func(statements string) error {
		return run(tb.Context(), db, statements)
	}}
}

// TestADeploymentMovesFromSQLiteAndBack exports a file, imports it, and checks that both export the same, and that the
// heads agree which were written before the move.
func TestADeploymentMovesFromSQLiteAndBack(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	openFile := func() *sqlite.DB {
		file, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "t.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	file := openFile()
	a, err := file.Keys().OpenAccount(t.Context(), "متجر <&>", 100, "opening balance")
	if err != nil {
		t.Fatal(err)
	}
	_, k, err := file.Keys().
		CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live, DayCap: new(int64(8))})
	if err != nil {
		t.Fatal(err)
	}
	who := credits.Spender{Account: a.ID, Key: k.ID, DayCap: k.DayCap}
	once := credits.Charge{Amount: 5, RequestID: "req_1", IdempotencyKey: "once"}
	if _, err := file.Ledger().Charge(t.Context(), who, once); err != nil {
		t.Fatal(err)
	}
	var heads, exported, again bytes.Buffer
	if err := file.Heads(t.Context(), &heads); err != nil {
		t.Fatal(err)
	}
	if err := file.Export(t.Context(), &exported); err != nil {
		t.Fatal(err)
	}
	if err := db.Import(t.Context(), bytes.NewReader(exported.Bytes())); err != nil {
		t.Fatal(err)
	}
	if r, err := db.AuditAgainst(t.Context(), &heads); err != nil || !r.OK() || r.Entries != 2 {
		t.Errorf("AuditAgainst = %+v, %v; want two entries and no problem", r, err)
	}
	if err := db.Export(t.Context(), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exported.String(), again.String()); diff != "" {
		t.Errorf("export (-SQLite +PostgreSQL):\n%s", diff)
	}
	if err := openFile().Import(t.Context(), &again); err != nil {
		t.Errorf("the way back: %v", err)
	}
	if r, err := db.Ledger().Charge(t.Context(), who, once); err != nil || !r.Earlier {
		t.Errorf("a charge that was made before the move = %+v, %v; want the earlier one", r, err)
	}
	if _, err := db.Keys().Lookup(t.Context(), k.Hash); err != nil {
		t.Errorf("Lookup: %v", err)
	}
}
