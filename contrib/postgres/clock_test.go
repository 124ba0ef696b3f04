package postgres

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// TestTheClockOfAReplicaIsNotUsed lets a replica whose clock is a month ahead hold credits, open an account and
// die: the hold expires by the database's clock.
func TestTheClockOfAReplicaIsNotUsed(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	cfg := newSchema(t)
	db := openDB(t, cfg)
	// A function in the test's schema replaces PostgreSQL's clock. It is behind the machine's, which the replicas have.
	clock, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer clock.Release()
	_, err = clock.Conn().PgConn().Exec(t.Context(), db.sql(`
		CREATE TABLE @ahead AS SELECT interval '30 days' AS by;
		CREATE FUNCTION @clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE SQL AS
			'SELECT pg_catalog.clock_timestamp() - (SELECT by FROM @ahead)'`)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cfg = withParam(cfg, "search_path="+cfg.Schema+",pg_catalog")
	other := openDB(t, cfg)
	ahead, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	addAccount(t, ahead, "acct", 10)
	right := time.Now().Add(-month)
	hold, err := ahead.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := ahead.Close(); err != nil {
		t.Fatal(err)
	}
	wantBalance(t, other, 6)
	if late := hold[0].Expires.Sub(right.Add(time.Hour)); late.Abs() > time.Minute {
		t.Errorf("the hold expires %v late", late)
	}
	if _, err := clock.Exec(t.Context(), db.sql("UPDATE @ahead SET by = by - interval '61 minutes'")); err != nil {
		t.Fatal(err)
	}
	wantBalance(t, other, 10)
	entries, err := other.Ledger().Entries(t.Context(), credits.Query{Account: "acct"})
	if err != nil || len(entries) != 1 || entries[0].At.Sub(right).Abs() > time.Minute {
		t.Errorf("Entries = %+v, %v; want the grant, of %v", entries, err, right)
	}
}
