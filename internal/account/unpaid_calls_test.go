package account

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/keys"
)

// uncountable is a store of keys that does not answer how many accounts there are.
type uncountable struct {
	*keys.Memory
	hangs atomic.Bool
	asked atomic.Int32
}

func (u *uncountable) Accounts(ctx context.Context) ([]keys.Account, error) {
	if u.asked.Add(1); u.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return u.Memory.Accounts(ctx)
}

// TestCountingAccountsDoesNotDelayCalls lets the store of keys hang when a call asks how many accounts there are: the
// first call waits no longer than its own time, and later ones do not wait.
func TestCountingAccountsDoesNotDelayCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hangs   bool // at the first call too
		longest time.Duration
	}{
		"the first answers": {false, 0},
		"no one answers":    {true, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &uncountable{Memory: keys.NewMemory(keys.MemoryConfig{})}
				store.hangs.Store(tt.hangs)
				a := New(Config{Keys: store, Now: time.Now, Stores: NewStores(15 * time.Second)})
				for call := range 3 {
					began := time.Now()
					ctx := callctx.Begin(t.Context(), callctx.NewID())
					if !a.Alone(ctx) {
						t.Error("there are several accounts")
					}
					if took := time.Since(began); call == 0 && took > tt.longest || call > 0 && took > 0 {
						t.Errorf("call %d takes %v", call, took)
					}
					store.hangs.Store(true)
					time.Sleep(2 * time.Minute)
				}
				if err := a.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if n := store.asked.Load(); n != 3 {
					t.Errorf("called %d times; want 3", n)
				}
			})
		})
	}
}
