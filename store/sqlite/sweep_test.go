package sqlite

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/records"
)

// TestHousekeepingPastEveryLifetime charges a file without a pause while its clock passes the lifetimes of everything
// in it, and runs every background task: no charge fails, and everything that has expired is removed.
func TestHousekeepingPastEveryLifetime(t *testing.T) {
	t.Parallel()
	var logged lockedBuilder
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	db := openDB(t, Config{
		Path: filepath.Join(t.TempDir(), "test.db"), Now: now, FlushEvery: time.Hour,
		Logger: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	const accounts, dead = 4, 2*sweptAtOnce + 10
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
	for round := range 3 {
		for i := range dead {
			rec := records.Record{Key: fmt.Sprintf("job/%d/%d", round, i), Value: []byte("x")}
			if i%2 == 0 {
				rec.Owner = fmt.Sprint("acct_", i%accounts)
			}
			if _, err := db.Records().Put(t.Context(), rec, time.Duration(i)*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Records().Put(t.Context(), records.Record{Key: "alive"}, 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		db.Keys().Touch(key.ID, now())
		ahead.Add(int64(48 * time.Hour))
		before := charged.Load()
		db.tidy(0)
		var left, owners int
		if err := db.read.QueryRowContext(t.Context(),
			"SELECT (SELECT count(*) FROM records), (SELECT count(*) FROM record_owners)").Scan(&left, &owners); err != nil {
			t.Fatal(err)
		}
		if left != 1 || owners != 0 {
			t.Errorf("%d records and %d owners are left after a sweep; want the one live record", left, owners)
		}
		for !t.Failed() && charged.Load() < before+100 {
			time.Sleep(time.Millisecond)
		}
	}
	close(done)
	wg.Wait()
	fold(t, db)
	if got, want := wantAudit(t, db).Credits, accounts*1_000_000-charged.Load(); got != want {
		t.Errorf("the entries add up to %d; want %d", got, want)
	}
	if k, err := db.Keys().Key(t.Context(), key.ID); err != nil || k.LastUsedAt == nil {
		t.Errorf("Key = %+v, %v; want one that was used", k, err)
	}
	for i := range accounts { // the holds that were not settled have expired
		ahead.Add(int64(2 * time.Hour))
		id := fmt.Sprint("acct_", i)
		entries, err := db.Ledger().Entries(t.Context(), credits.Query{Account: id, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := db.Ledger().Balance(t.Context(), id); got != entries[0].Balance || err != nil {
			t.Errorf("Balance = %d, %v; want %d", got, err, entries[0].Balance)
		}
	}
	if logged.String() != "" {
		t.Errorf("housekeeping logs %s", logged.String())
	}
}

// lockedBuilder is a strings.Builder that is safe for concurrent use.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements [io.Writer].
func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestStatementsAcceptGoTypes binds values of types that the driver alone would refuse.
func TestStatementsAcceptGoTypes(t *testing.T) {
	t.Parallel()
	type word string
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	for _, arg := range []any{
		7, int32(7), uint8(7), int64(7), time.Duration(7), new(7), 7.0, "7", word("7"), []byte("7"), new(new(7)),
	} {
		err := db.writer.alone(func(c *conn) error {
			n, err := c.number("SELECT CAST(? AS INTEGER)", arg)
			if n != 7 {
				t.Errorf("%T is bound as %d", arg, n)
			}
			return err
		})
		if err != nil {
			t.Errorf("%T: %v", arg, err)
		}
	}
	err := db.writer.alone(func(c *conn) error {
		_, err := c.exec("SELECT ?", keys.Hash{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "argument 1") {
		t.Errorf("an array = %v; want an error that names the argument", err)
	}
}
