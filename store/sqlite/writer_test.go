package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// hold keeps the writer busy until the returned function is called.
func hold(db *DB) (release func()) {
	started, end := make(chan struct{}), make(chan struct{})
	go func() {
		_ = db.writer.do(&task{apply: func(*writer) error {
			close(started)
			<-end
			return nil
		}})
	}()
	<-started
	return func() { close(end) }
}

// waitQueued waits until that many tasks wait for the writer.
func waitQueued(db *DB, n int) {
	for {
		db.writer.mu.Lock()
		queued := len(db.writer.queue)
		db.writer.mu.Unlock()
		if queued == n {
			return
		}
		runtime.Gosched()
	}
}

func TestConcurrentSettlesShareOneTransaction(t *testing.T) {
	t.Parallel()
	db := openFile(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
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
	// One of a charge that is refused beside them.
	wg.Go(func() {
		if _, err := db.Ledger().Grant(t.Context(), "acct_none", 1, ""); !errors.Is(err, credits.ErrUnknownAccount) {
			t.Errorf("Grant = %v; want ErrUnknownAccount", err)
		}
	})
	waitQueued(db, 65)
	before := db.writer.commits // the writer is held: nothing changes it
	release()
	wg.Wait()
	if got := wantAudit(t, db).Credits; got != 8*100-64 {
		t.Errorf("the books come to %d; want %d", got, 8*100-64)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := db.writer.commits - before; got != 1 { // the one that was held
		t.Errorf("%d transactions; want 1", got)
	}
}

func TestOneHoldIsChargedOnceHoweverOftenItIsSettledAtOnce(t *testing.T) {
	t.Parallel()
	db := openFile(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
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
		t.Errorf("the books come to %d; want 7", got)
	}
}

func TestMemoryIsBoundedWhateverTheNumberOfKeys(t *testing.T) {
	t.Parallel()
	db := openFile(t, Config{
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
	if l.books.idle.Len() > 10 || l.books.spent.Len() > 10 || len(l.books.pinned) > 0 || len(l.settling) > 0 {
		t.Errorf("%d accounts, %d keys, %d pinned, %d settling are in memory",
			l.books.idle.Len(), l.books.spent.Len(), len(l.books.pinned), len(l.settling))
	}
}
