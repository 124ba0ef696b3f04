package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// TestCallsDoNotReadTheWholeTable makes calls whose statements were prepared while the tables were empty, and then adds
// 300,000 entries of another account: a plan for the empty table would read all of them.
func TestCallsDoNotReadTheWholeTable(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 1_000_000)
	addAccount(t, db, "other", 1_000_000_000)
	who := credits.Spender{Account: "acct", Key: "key"}
	made := 0
	calls := map[string]func() error{
		"a charge under an idempotency key": func() error {
			_, err := db.Ledger().
				Charge(t.Context(), who, credits.Charge{Amount: 2, RequestID: "req", IdempotencyKey: fmt.Sprint("once ", made)})
			return err
		},
		"a hold and its settlement": func() error {
			holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
			if err == nil {
				_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 1})
			}
			return err
		},
		"a refund": func() error {
			_, err := db.Ledger().Refund(t.Context(), "acct", 1, "req", "")
			return err
		},
		"the entries of a request": func() error {
			_, err := db.Ledger().Entries(t.Context(), credits.Query{Account: "acct", RequestID: "req"})
			return err
		},
	}
	all := func() {
		t.Helper()
		for _, name := range []string{"a charge under an idempotency key", "a hold and its settlement", "a refund", "the entries of a request"} {
			made++
			if err := calls[name](); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	for range 8 { // from the sixth time on, PostgreSQL may use a generic plan
		all()
	}
	script(t, db, `
		INSERT INTO @entries SELECT (SELECT no FROM @accounts WHERE id = 'other'), 1 + i, 'charge', -1, 1000000 - i, 'key', 'profile', 'x',
			'req' || i, 'HIT', '', 'req' || i || '/x', 'once' || i, 1700000000000000 + i, NULL, '' FROM generate_series(1, 300000) AS i`)
	scans := func() (n int64) {
		t.Helper()
		script(t, db, "SELECT pg_stat_force_next_flush()")
		var tuples int64
		err := db.runner.pool.QueryRow(t.Context(), "SELECT coalesce(seq_tup_read, 0) FROM pg_stat_user_tables WHERE schemaname = $1 "+
			"AND relname = 'entries'", db.schema).
			Scan(&tuples)
		if err != nil {
			t.Fatal(err)
		}
		return tuples
	}
	before := scans()
	for range 8 {
		all()
	}
	time.Sleep(1200 * time.Millisecond) // connections report their statistics at most once a second
	if read := scans() - before; read >= 300_000 {
		t.Errorf("the calls read %d rows in sequence; want less than 300,000", read)
	}
}
