package postgres

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// TestTheClockOfAReplicaIsNotUsed lets a replica whose clock is a month ahead open an account, hold credits and die:
// the hold expires by the database's clock.
func TestTheClockOfAReplicaIsNotUsed(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	cfg := newSchema(t)
	db := openDB(t, cfg)
	// A function in the test's schema replaces PostgreSQL's clock. It is behind the machine's, which the replicas have.
	script(t, db, `
		CREATE TABLE @ahead AS SELECT interval '30 days' AS by;
		CREATE FUNCTION @clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE SQL AS
			'SELECT pg_catalog.clock_timestamp() - (SELECT by FROM @ahead)'`)
	cfg = withParam(cfg, "search_path="+cfg.Schema+",pg_catalog")
	other := openDB(t, cfg)
	ahead, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	right := time.Now().Add(-month)
	account, err := ahead.Keys().OpenAccount(t.Context(), "shop", 10, "to start with")
	if err != nil {
		t.Fatal(err)
	}
	hold, err := ahead.Ledger().Reserve(t.Context(), credits.Spender{Account: account.ID}, time.Hour, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := ahead.Close(); err != nil {
		t.Fatal(err)
	}
	balance := func(want int64) {
		t.Helper()
		if got, err := other.Ledger().Balance(t.Context(), account.ID); got != want || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, want)
		}
	}
	balance(6)
	if late := hold[0].Expires.Sub(right.Add(time.Hour)); late.Abs() > time.Minute {
		t.Errorf("the hold expires %v late", late)
	}
	script(t, db, "UPDATE @ahead SET by = by - interval '61 minutes'")
	balance(10)
	entries, err := other.Ledger().Entries(t.Context(), credits.Query{Account: account.ID})
	if err != nil || len(entries) != 1 || entries[0].At.Sub(right).Abs() > time.Minute {
		t.Errorf("Entries = %+v, %v; want the grant, of %v", entries, err, right)
	}
}
