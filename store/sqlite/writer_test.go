package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// hold blocks the writer until the returned function is called.
func hold(db *DB) (release func()) {
	started, end := make(chan struct{}), make(chan struct{})
	start := sync.OnceFunc(func() { close(started) }) // apply may be called again
	go func() {
		_ = db.writer.do(&task{apply: func(*writer) error {
			start()
			<-end
			return nil
		}})
	}()
	<-started
	return func() { close(end) }
}

// waitQueued waits until that many tasks are queued.
func waitQueued(db *DB, n int) {
	for db.writer.queue.Len() != n {
		runtime.Gosched()
	}
}

func TestConcurrentSettlesShareOneTransaction(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	who := make([]credits.Spender, 8)
	for i := range who {
		who[i] = credits.Spender{Account: fmt.Sprint("acct_", i), Key: "key"}
		addAccount(t, db, who[i].Account, 100)
	}
	release := hold(db)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() { spend(t, db.Ledger(), who[i%8], 1, credits.Charge{RequestID: fmt.Sprint(i)}) })
	}
	// One more of a charge that is refused.
	wg.Go(func() {
		if _, err := db.Ledger().Grant(t.Context(), "acct_none", 1, ""); !errors.Is(err, credits.ErrUnknownAccount) {
			t.Errorf("Grant = %v; want ErrUnknownAccount", err)
		}
	})
	waitQueued(db, 65)
	before := db.writer.commits // cannot change, since the writer is blocked
	release()
	wg.Wait()
	if got := wantAudit(t, db).Credits; got != 8*100-64 {
		t.Errorf("the entries add up to %d; want %d", got, 8*100-64)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := db.writer.commits - before; got != 1 { // the one that was blocked
		t.Errorf("%d transactions; want 1", got)
	}
}

func TestConcurrentSettlesOfAHoldChargeOnce(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	addAccount(t, db, "acct", 10)
	holds, err := db.Ledger().Reserve(t.Context(), credits.Spender{Account: "acct"}, time.Hour, 3)
	if err != nil {
		t.Fatal(err)
	}
	release := hold(db)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: 3}); got.Balance != 7 || err != nil {
				t.Errorf("Settle = %d, %v; want 7", got.Balance, err)
			}
		})
	}
	waitQueued(db, 1)
	release()
	wg.Wait()
	if got := wantAudit(t, db).Credits; got != 7 {
		t.Errorf("the entries add up to %d; want 7", got)
	}
}

func TestMemoryIsBoundedWhateverTheNumberOfKeys(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{
		Path: filepath.Join(t.TempDir(), "test.db"), CachedAccounts: 10, CachedKeys: 10, FlushEvery: time.Hour,
		mostUses: 100,
	})
	release := hold(db) // so that nothing is flushed
	for i := range 1000 {
		db.Keys().Touch(fmt.Sprint("key_", i), time.Unix(int64(i), 0))
	}
	if got := len(db.Keys().uses.Take()); got > 100 {
		t.Errorf("%d times of use wait in memory; want 100 at most", got)
	}
	release()
	for i := range 50 {
		account := fmt.Sprint("acct_", i)
		addAccount(t, db, account, 10)
		who := credits.Spender{Account: account, Key: account, TotalCap: new(int64(5))}
		spend(t, db.Ledger(), who, 1, credits.Charge{})
	}
	l := db.Ledger()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cache.idle.Len() > 10 || l.cache.spent.Len() > 10 || len(l.cache.pinned) > 0 || len(l.settling) > 0 {
		t.Errorf("%d accounts, %d keys, %d pinned, %d settling are in memory",
			l.cache.idle.Len(), l.cache.spent.Len(), len(l.cache.pinned), len(l.settling))
	}
}

const accounts, charges = 8, 64

// settleAround settles 64 holds of 8 accounts in one transaction that also has tasks: every second charge has the
// idempotency key of the previous one, and charges nothing. It returns the errors of the tasks. No charge may fail.
func settleAround(t *testing.T, db *DB, tasks ...*task) []error {
	t.Helper()
	var holds []credits.Hold
	for i := range accounts {
		who := credits.Spender{Account: fmt.Sprint("acct_", i), Key: "key", TotalCap: new(int64(charges))}
		addAccount(t, db, who.Account, charges)
		opened, err := db.Ledger().Reserve(t.Context(), who, time.Hour, slices.Repeat([]int64{1}, charges/accounts)...)
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, opened...)
	}
	release := hold(db)
	var wg sync.WaitGroup
	failed := make([]error, len(tasks))
	queued := 0
	queue := func(do func()) {
		wg.Go(do)
		queued++
		waitQueued(db, queued)
	}
	for i, h := range holds {
		if n := i / 5; i%5 == 0 && n < len(tasks) {
			queue(func() { failed[n] = db.writer.do(tasks[n]) })
		}
		queue(func() {
			r, err := db.Ledger().Settle(t.Context(), h, credits.Charge{Amount: 1, IdempotencyKey: fmt.Sprint(i / 2)})
			if r.Charged != 1 || err != nil {
				t.Errorf("Settle = %+v, %v; want a charge of 1", r, err)
			}
		})
	}
	release()
	wg.Wait()
	return failed
}

// wantSettled compares the ledger and its cache with what settleAround has charged.
func wantSettled(t *testing.T, db *DB) {
	t.Helper()
	const want = charges - charges/accounts/2
	for i := range accounts {
		who := credits.Spender{Account: fmt.Sprint("acct_", i), Key: "key", TotalCap: new(int64(charges/accounts/2 + 1))}
		if got, err := db.Ledger().Balance(t.Context(), who.Account); got != want || err != nil {
			t.Errorf("Balance of %s = %d, %v; want %d", who.Account, got, err, want)
		}
		if _, err := db.Ledger().Reserve(t.Context(), who, -1, 2); !errors.Is(err, credits.ErrCap) {
			t.Errorf("Reserve above the cap = %v; want ErrCap", err)
		}
		spend(t, db.Ledger(), who, 1, credits.Charge{})
	}
	fold(t, db)
	if got := wantAudit(t, db).Credits; got != accounts*(want-1) {
		t.Errorf("the entries add up to %d; want %d", got, accounts*(want-1))
	}
}

func TestAFailedTaskFailsAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		apply func(w *writer) error
	}{
		{"a wrong type", func(w *writer) error {
			_, err := w.c.exec("DELETE FROM records WHERE no = ?", struct{}{})
			return err
		}},
		{"after it has written", func(w *writer) error {
			if _, err := w.append(&cached{account: "acct_0"}, credits.Entry{
				Account: "acct_0", Kind: credits.Granted, Amount: 1, At: w.now(),
			}); err != nil {
				return err
			}
			_, err := w.c.exec("INSERT INTO records VALUES (1, 'key', '', x'', 1, NULL)")
			return err
		}},
		{"SQLite rolls back by itself", func(w *writer) error {
			_, err := w.c.exec("INSERT OR ROLLBACK INTO accounts VALUES (1, 'acct_0', 'acct_0', 0)")
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
			bad := func() *task { return &task{apply: tt.apply} }
			good := &task{apply: func(w *writer) error {
				_, err := w.c.exec("INSERT INTO records (key, owner, value, version, expires) VALUES ('good', '', x'', 1, 1)")
				return err
			}}
			refused := &task{apply: func(*writer) error { return refusal{credits.ErrUnknownAccount} }}
			got := settleAround(t, db, bad(), good, refused, bad(), bad())
			for i, err := range got {
				switch i {
				case 1:
					if err != nil {
						t.Errorf("a task beside others that fail = %v", err)
					}
				case 2:
					if !errors.Is(err, credits.ErrUnknownAccount) {
						t.Errorf("a task that is refused = %v; want ErrUnknownAccount", err)
					}
				default:
					if _, refused := errors.AsType[refusal](err); refused || err == nil {
						t.Errorf("a task that fails = %v", err)
					}
				}
			}
			wantSettled(t, db)
			if there, err := db.Records().Keys(t.Context(), "key"); err != nil || len(there) > 0 {
				t.Errorf("a task that failed has written: %q, %v", there, err)
			}
		})
	}
}

// commits returns how many transactions the writer has made. It asks in the writer's goroutine, when all of them have
// been reported.
func commits(t *testing.T, db *DB) (n int64) {
	t.Helper()
	err := db.writer.do(&task{outside: true, apply: func(w *writer) error {
		n = w.commits
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAFailedTransactionFailsForAllItsTasks(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
	if err := tamper(db, "CREATE TRIGGER broken BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'no more'); END"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"acct_1", "acct_2"} {
		if err := db.writer.alone(func(c *conn) error { return insertAccount(c, keys.Account{ID: id, Name: id}) }); err != nil {
			t.Fatal(err)
		}
	}
	release := hold(db)
	before := db.writer.commits
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := db.Ledger().Grant(t.Context(), fmt.Sprint("acct_", 1+i%2), 1, ""); err == nil {
				t.Error("a grant that could not be committed succeeded")
			}
		})
	}
	waitQueued(db, 8)
	release()
	wg.Wait()
	if err := tamper(db, "DROP TRIGGER broken"); err != nil { // in a transaction of its own
		t.Fatal(err)
	}
	if got := commits(t, db) - before; got != 1 { // the one that was blocked
		t.Errorf("%d transactions; want 1", got)
	}
	if got, err := db.Ledger().Grant(t.Context(), "acct_1", 1, ""); got != 1 || err != nil {
		t.Errorf("Grant = %d, %v; want 1", got, err)
	}
	wantAudit(t, db)
}

func TestAChargeDoesNotFailIfFoldingDoes(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db"), FlushEvery: time.Hour})
	if err := tamper(db, "CREATE TRIGGER broken BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no more'); END"); err != nil {
		t.Fatal(err)
	}
	foldAbove(t, db, 10)
	settleAround(t, db)
	if n := inJournal(t, db); n != accounts+charges/2 {
		t.Errorf("%d entries are in the journal; want all %d", n, accounts+charges/2)
	}
	if err := tamper(db, "DROP TRIGGER broken"); err != nil {
		t.Fatal(err)
	}
	fold(t, db)
	wantSettled(t, db)
}
