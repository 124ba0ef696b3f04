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
