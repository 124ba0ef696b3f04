package sqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
	"github.com/socialdata/socialdata/watch"
)

func TestAFileIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a file that is up to date does not change
		if err := migrate(c); err != nil {
			t.Fatal(err)
		}
		if version, err := c.number("PRAGMA user_version"); version != currentVersion || err != nil {
			t.Errorf("version %d, %v; want %d", version, err, currentVersion)
		}
	}
	if err := c.script("DELETE FROM compatible"); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int64]error{1: ErrForeign, firstVersion - 1: ErrForeign, currentVersion + 1: ErrNewer} {
		if err := c.script(fmt.Sprint("PRAGMA user_version = ", version)); err != nil {
			t.Fatal(err)
		}
		if err := migrate(c); !errors.Is(err, want) || !strings.Contains(err.Error(), "export") {
			t.Errorf("version %d: %v; want %v, and what to do", version, err, want)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationCountsTheFeedsOfAnOlderFile(t *testing.T) {
	t.Parallel()
	const older = 10 // migrations, which do not count the sizes of feeds
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	statements := append(slices.Clone(migrations[:older]), "PRAGMA application_id = 1935958388",
		fmt.Sprint("PRAGMA user_version = ", firstVersion+older-1))
	for i := range 10 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO changes (account, seq, id, at, monitor, type, body)
			VALUES ('a', %[1]d, 'chg_%[1]d', 1, '', 'new', CAST('{"id":"chg_%[1]d","seq":%[1]d}' AS BLOB))`, i))
	}
	for _, statement := range statements {
		if err := c.script(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path, nil)
	if more, err := db.Watches().Sweep(t.Context(), watch.Limits{Bytes: 60}); more || err != nil {
		t.Fatal(more, err)
	}
	all, err := db.Watches().Changes(t.Context(), watch.Since{Account: "a"})
	if err != nil || len(all) != 2 || all[1].Seq != 9 { // of 24 bytes each
		t.Errorf("of ten changes %+v are left, %v; want the last two", all, err)
	}
}

func TestEntryHashesOfTheFirstVersionAreStillTheSame(t *testing.T) {
	t.Parallel()
	e := credits.Entry{Account: "a", Kind: credits.Granted, Amount: 1, At: time.UnixMicro(7)}.Next(credits.Entry{})
	b := "socialdata entry 1\n" + strings.Repeat("\x00", 32)
	for _, n := range []byte{1, 1, 1, 7} { // seq, amount, balance, time
		b += strings.Repeat("\x00", 7) + string(n)
	}
	for _, s := range []string{"a", "grant", "", "", "", "", "", "", "", ""} {
		b += strings.Repeat("\x00", 7) + string(byte(len(s))) + s
	}
	if want := sha256.Sum256([]byte(b)); e.Hash != want {
		t.Errorf("the hash is %x; want %x", e.Hash, want)
	}
}

func TestAnIdempotencyKeyIsFoundByItsIndex(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	for query, args := range map[string][]any{latestKeyed: {1, "a"}, headsOfAccounts: nil} {
		plans, err := list(t.Context(), db.read, scanPlan, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range plans {
			if strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN e") {
				t.Errorf("%s: %s", query, plan)
			}
		}
	}
}

func scanPlan(row interface{ Scan(...any) error }) (plan string, err error) {
	var id, parent, unused int
	err = row.Scan(&id, &parent, &unused, &plan)
	return plan, err
}

// rowsOf returns how many entries each index has that is not of all entries, and "all" how many there are.
func rowsOf(t *testing.T, db *DB) map[string]int64 {
	t.Helper()
	counted := map[string]int64{}
	err := db.writer.do(&task{outside: true, apply: func(w *writer) error {
		for name, condition := range map[string]string{
			"all": "true", "request": ownRequest, "hold": "hold <> ''", "idempotency": "idempotency_key <> ''",
		} {
			n, err := w.c.number("SELECT count(*) FROM entries WHERE " + condition)
			if err != nil {
				return err
			}
			counted[name] = n
			if name == "all" {
				continue
			}
			// The index has what is counted: SQLite uses a partial index only for a condition that implies its own.
			where, err := w.c.number("SELECT count(*) FROM entries INDEXED BY entries_" + name + " WHERE " + condition)
			if err != nil || where != n {
				return fmt.Errorf("entries_%s has %d of %d entries: %w", name, where, n, err)
			}
		}
		n, err := w.c.number("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'entries'")
		counted["indexes"] = n
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return counted
}

func TestTheEntryOfAHitIsInTwoIndexes(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 100)
	who := credits.Spender{Account: "acct"}
	c := credits.Charge{Amount: 1, Operation: "profile", Platform: "x", RequestID: "req_1", Cache: "HIT"}
	charge := func() error { _, err := db.Ledger().Charge(t.Context(), who, c); return err }
	keyed := func() error {
		c := c
		c.IdempotencyKey = "once"
		_, err := db.Ledger().Charge(t.Context(), who, c)
		return err
	}
	miss := func() error { spend(t, db.Ledger(), who, 1, c); return nil }
	refund := func() error { _, err := db.Ledger().Refund(t.Context(), "acct", 1, "req_1", ""); return err }
	for _, tt := range []struct {
		name string
		add  func() error
		want map[string]int64 // index entries, beside the one of the account
	}{
		{"a hit", charge, map[string]int64{"hold": 1}},
		{"another of the same request", charge, map[string]int64{"hold": 1}},
		{"a hit under an idempotency key", keyed, map[string]int64{"hold": 1, "idempotency": 1}},
		{"a miss", miss, map[string]int64{"hold": 1, "request": 1}},
		{"a refund", refund, map[string]int64{"request": 1}},
	} {
		fold(t, db)
		before := rowsOf(t, db)
		if err := tt.add(); err != nil {
			t.Fatal(err)
		}
		fold(t, db)
		after := rowsOf(t, db)
		for _, index := range []string{"request", "hold", "idempotency"} {
			if got := after[index] - before[index]; got != tt.want[index] || after["indexes"] != 4 {
				t.Errorf("%s has %d entries in the index %s of %d; want %d of 4", tt.name, got, index, after["indexes"],
					tt.want[index])
			}
		}
		if after["all"] != before["all"]+1 {
			t.Errorf("%s wrote %d entries", tt.name, after["all"]-before["all"])
		}
	}
}

// TestEntriesOfAnOlderFileAreFoundByTheirRequest writes entries with the indexes of before, whose holds begin with the
// id of their request only by chance.
func TestEntriesOfAnOlderFileAreFoundByTheirRequest(t *testing.T) {
	t.Parallel()
	const older = 11 // migrations, which have an index of platforms
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	statements := append(slices.Clone(migrations[:older]), "PRAGMA application_id = 1935958388",
		fmt.Sprint("PRAGMA user_version = ", firstVersion+older-1),
		"INSERT INTO accounts (no, id, name, created_at) VALUES (1, 'acct', 'acct', 1)")
	for _, statement := range statements {
		if err := c.script(statement); err != nil {
			t.Fatal(err)
		}
	}
	table, err := newEntryTable(c)
	if err != nil {
		t.Fatal(err)
	}
	last := credits.Entry{}
	var all []credits.Entry
	for i, e := range ledgertest.OldEntries() {
		e.Account, e.At = "acct", time.UnixMicro(int64(i+1)).UTC()
		last = e.Next(last)
		all = append(all, last)
		if err := table.insert(1, last); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path, nil)
	wantAudit(t, db)
	charge := credits.Charge{Amount: 11, Platform: "x", RequestID: "req_1"}
	if _, err := db.Ledger().Charge(t.Context(), credits.Spender{Account: "acct"}, charge); err != nil {
		t.Fatal(err)
	}
	fold(t, db)
	ledgertest.CheckOldEntries(t, db.Ledger(), all)
}
