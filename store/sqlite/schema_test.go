package sqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/records"
)

// TestAFileOfTheFirstVersionGoesOn opens a file that was written before entries had a clock and records an owner.
func TestAFileOfTheFirstVersionGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	grant := credits.Entry{Account: "acct_1", Kind: credits.Granted, Amount: 10, At: now}.Next(credits.Entry{})
	charge := credits.Entry{Account: "acct_1", Kind: credits.Charged, Amount: -3, Key: "key_1", Hold: "hold_1", IdempotencyKey: "a", At: now}.Next(grant)
	err = errors.Join(
		c.script(migrations[0]),
		c.script("PRAGMA application_id = 1935958388; PRAGMA user_version = 1"),
		c.script("INSERT INTO accounts VALUES (1, 'acct_1', 'first', 0)"),
		c.script("UPDATE totals SET entries = 2, credits = 7; INSERT INTO records VALUES (1, 'old', x'76616c7565', 9000000000000000000)"),
	)
	for _, e := range []credits.Entry{grant, charge} {
		_, ierr := c.exec("INSERT INTO entries VALUES (NULL, 1, ?, ?, ?, ?, ?, '', '', '', '', '', ?, ?, ?, ?)",
			e.Seq, string(e.Kind), e.Amount, e.Balance, e.Key, e.Hold, e.IdempotencyKey, e.At.UnixMicro(), e.Hash[:])
		err = errors.Join(err, ierr)
	}
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, Config{Path: path, Now: func() time.Time { return now.Add(time.Hour) }, FlushEvery: time.Hour})
	wantAudit(t, db)
	if r, err := db.Ledger().Settle(t.Context(), credits.Hold{ID: "hold_1", Spender: credits.Spender{Account: "acct_1"}}, credits.Charge{}); err != nil || r.Charged != 3 {
		t.Errorf("Settle of an old hold = %+v, %v; want a charge of 3", r, err)
	}
	who := credits.Spender{Account: "acct_1", Key: "key_1", DayCap: new(int64(4))}
	spend(t, db.Ledger(), who, 1, credits.Charge{IdempotencyKey: "a"}) // charged already
	spend(t, db.Ledger(), who, 1, credits.Charge{})
	if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	r, err := db.Records().Get(t.Context(), "old")
	if err != nil || string(r.Value) != "value" || r.Version == 0 {
		t.Errorf("Get = %+v, %v", r, err)
	}
	if _, err := db.Records().Put(t.Context(), records.Record{Key: "old", Owner: "acct_1", Version: r.Version}, time.Hour); err != nil {
		t.Error(err)
	}
	if got := wantAudit(t, db).Entries; got != 3 {
		t.Errorf("%d entries; want 3", got)
	}
}

// TestAFileOfTheSecondVersionGoesOn opens a file that was written before there was a journal.
func TestAFileOfTheSecondVersionGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c, err := openConn(dsn(path, writerParams))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		c.script(migrations[0]), c.script(migrations[1]),
		c.script("PRAGMA application_id = 1935958388; PRAGMA user_version = 2"),
		c.script("INSERT INTO accounts VALUES (1, 'acct_1', 'first', 0); INSERT INTO spending VALUES (1, 'key_1', 5, 20000, 5)"),
		c.script("UPDATE totals SET entries = 101, credits = 1000 - 300"),
	)
	last := credits.Entry{Account: "acct_1", Kind: credits.Granted, Amount: 1000, At: now}.Next(credits.Entry{})
	for i := range 101 {
		_, ierr := c.exec("INSERT INTO entries VALUES (NULL, 1, ?, ?, ?, ?, ?, '', ?, ?, '', '', ?, '', ?, ?, NULL)",
			last.Seq, string(last.Kind), last.Amount, last.Balance, last.Key, last.Platform, last.RequestID, last.Hold,
			last.At.UnixMicro(), last.Hash[:])
		err = errors.Join(err, ierr)
		last = credits.Entry{
			Account: "acct_1", Kind: credits.Charged, Amount: -3, Key: "key_1", Platform: []string{"x", "github"}[i%2],
			RequestID: fmt.Sprint("req_", i), Hold: fmt.Sprint("hold_", i), At: now,
		}.Next(last)
	}
	err = errors.Join(err, c.script("UPDATE spending SET total = 300, day = 20777, today = 300"))
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, Config{Path: path, Now: func() time.Time { return now.Add(time.Hour) }, FlushEvery: time.Hour})
	wantAudit(t, db)
	who := credits.Spender{Account: "acct_1", Key: "key_1", TotalCap: new(int64(310))}
	if r, err := db.Ledger().Settle(t.Context(), credits.Hold{ID: "hold_7", Spender: who}, credits.Charge{}); err != nil || r.Charged != 3 {
		t.Errorf("Settle of an old hold = %+v, %v; want a charge of 3", r, err)
	}
	spend(t, db.Ledger(), who, 10, credits.Charge{Platform: "x", RequestID: "req_8"})
	if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1); !errors.Is(err, credits.ErrCap) {
		t.Errorf("Reserve above the cap = %v; want ErrCap", err)
	}
	for _, tt := range []struct {
		q    credits.Query
		want int
	}{{credits.Query{}, 102}, {credits.Query{Platform: "x"}, 51}, {credits.Query{RequestID: "req_8"}, 2}, {credits.Query{Before: 3}, 2}} {
		tt.q.Account, tt.q.Limit = "acct_1", 1000
		for _, state := range []string{"in the journal", "folded"} {
			if found, err := db.Ledger().Entries(t.Context(), tt.q); err != nil || len(found) != tt.want {
				t.Errorf("%+v with one entry %s: %d entries, %v; want %d", tt.q, state, len(found), err, tt.want)
			}
			fold(t, db)
		}
	}
	if got := wantAudit(t, db).Entries; got != 102 {
		t.Errorf("%d entries; want 102", got)
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
