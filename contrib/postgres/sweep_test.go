package postgres

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/records"
)

// TestHousekeepingPastEveryLifetime charges a database without a pause while its clock passes the lifetimes of
// everything in it, and runs every background task: no charge fails, and everything that has expired is removed.
func TestHousekeepingPastEveryLifetime(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	cfg := newSchema(t)
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	cfg.FlushEvery = time.Hour
	db := openDB(t, cfg)
	const accounts, dead = 4, sweptAtOnce + 10
	for i := range accounts {
		addAccount(t, db, fmt.Sprint("acct_", i), 1_000_000)
	}
	_, key, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct_0", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	var charged atomic.Int64
	for i := range accounts {
		who := credits.Spender{Account: fmt.Sprint("acct_", i), Key: key.ID, DayCap: new(int64(1_000_000))}
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1, 1) // one of them is never settled
				if err == nil {
					_, err = db.Ledger().Settle(t.Context(), holds[0], credits.Charge{
						Amount: 1, Late: true, IdempotencyKey: fmt.Sprint(n), // which expires after a day
					})
				}
				if err != nil {
					t.Errorf("a charge beside housekeeping = %v", err)
					return
				}
				charged.Add(1)
			}
		})
	}
	for round := range 2 {
		var put sync.WaitGroup
		for part := range 4 {
			put.Go(func() {
				for i := part; i < dead; i += 4 {
					rec := records.Record{Key: fmt.Sprintf("job/%d/%d", round, i), Value: []byte("x")}
					if i%2 == 0 {
						rec.Owner = fmt.Sprint("acct_", i%accounts)
					}
					if _, err := db.Records().Put(t.Context(), rec, time.Duration(i)*time.Second); err != nil {
						t.Error(err)
					}
				}
			})
		}
		put.Wait()
		if _, err := db.Records().Put(t.Context(), records.Record{Key: "alive"}, 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		db.Keys().Touch(key.ID, cfg.Now())
		ahead.Add(int64(48 * time.Hour))
		before := charged.Load()
		db.tidy(t.Context())
		var left, bytes int64
		if err := db.pool.QueryRow(t.Context(), db.sql("SELECT (SELECT count(*) FROM @records), "+
			"(SELECT coalesce(sum(bytes), 0)::bigint FROM @record_owners)")).Scan(&left, &bytes); err != nil {
			t.Fatal(err)
		}
		if left != 1 || bytes != 0 {
			t.Errorf("%d records are left after a sweep, and %d bytes of their owners; want the one live record", left, bytes)
		}
		for !t.Failed() && charged.Load() < before+100 {
			time.Sleep(time.Millisecond)
		}
	}
	close(done)
	wg.Wait()
	ahead.Add(int64(2 * time.Hour)) // the holds that were not settled expire
	for i := range accounts {
		id := fmt.Sprint("acct_", i)
		entries, err := db.Ledger().Entries(t.Context(), credits.Query{Account: id, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := db.Ledger().Balance(t.Context(), id); got != entries[0].Balance || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, entries[0].Balance)
		}
		holds, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: id}, time.Hour, entries[0].Balance)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{}); err != nil {
			t.Error(err)
		}
	}
	var holds int
	if err := db.pool.QueryRow(t.Context(), db.sql("SELECT count(*) FROM @holds")).Scan(&holds); err != nil || holds != 0 {
		t.Errorf("%d expired holds are left, %v", holds, err)
	}
	if k, err := db.Keys().Key(t.Context(), key.ID); err != nil || k.LastUsedAt == nil {
		t.Errorf("Key = %+v, %v; want one that was used", k, err)
	}
	wantAudit(t, db)
	report, err := db.Audit(t.Context())
	if want := accounts*1_000_000 - charged.Load(); err != nil || report.Credits != want {
		t.Errorf("the entries add up to %d, %v; want %d", report.Credits, err, want)
	}
}

// TestHoldsOfDeadReplicasAreSwept leaves more holds than one transaction removes, of an account with a capped key and
// of an account that is locked.
func TestHoldsOfDeadReplicasAreSwept(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	cfg := newSchema(t)
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	cfg.FlushEvery = time.Hour
	db := openDB(t, cfg)
	for _, id := range []string{"acct", "locked"} {
		addAccount(t, db, id, 10_000)
		who := credits.Spender{Account: id, Key: "key of " + id, TotalCap: new(int64(9_000))}
		if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, make([]int64, 100)...); err != nil {
			t.Fatal(err)
		}
		amounts := make([]int64, 3*holdsAtOnce/2)
		for i := range amounts {
			amounts[i] = 1
		}
		if _, err := db.Ledger().Reserve(t.Context(), who, time.Minute, amounts...); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Ledger().Reserve(t.Context(), who, 3*time.Hour, 7); err != nil {
			t.Fatal(err)
		}
	}
	ahead.Store(int64(2 * time.Hour))
	tx, _ := interfere(t, db, "locked")
	var removed []int64
	for {
		n, err := db.Ledger().sweepSome(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if removed = append(removed, n); n == 0 {
			break
		}
	}
	if diff := cmp.Diff([]int64{holdsAtOnce, holdsAtOnce/2 + 100, 0}, removed); diff != "" {
		t.Errorf("removed in each transaction (-want +got):\n%s", diff)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Ledger().sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := db.pool.QueryRow(t.Context(), db.sql("SELECT count(*) FROM @holds")).Scan(&left); err != nil || left != 2 {
		t.Errorf("%d holds are left, %v; want the two that have time", left, err)
	}
	wantBalance(t, db, 10_000-7)
	wantAudit(t, db)
	who := credits.Spender{Account: "acct", Key: "key of acct", TotalCap: new(int64(9_000))}
	if _, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 9_000-7); err != nil {
		t.Errorf("the key's cap after the sweep: %v", err)
	}
}
