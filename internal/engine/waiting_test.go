package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// locking counts the calls that lock a record of an idempotency key.
type locking struct {
	records.Store
	adds enginetest.Counter
}

func (l *locking) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	if strings.HasPrefix(r.Key, "idempotency/") {
		l.adds.Add()
	}
	return l.Store.Add(ctx, r, ttl)
}

// TestCallsThatWaitUnderAKeyOnlyRead lets fifty calls wait for one that takes five seconds.
func TestCallsThatWaitUnderAKeyOnlyRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &locking{Store: records.NewMemory(records.MemoryConfig{})}
		e := enginetest.New(t, enginetest.Config{Records: store, Providers: []providers.Provider{{
			Name: "slow", Platform: platform.Mock, Source: schema.Own,
			Search: func(context.Context, providers.SearchQuery, string) (page providers.Page[schema.SearchResult], err error) {
				time.Sleep(5 * time.Second)
				return page, nil
			},
		}}})
		const calls = 50
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				_, err := e.Client.Do(t.Context(), socialdata.Operation("search"), keyedCall("mock", idempotencyKey, "query=cats"))
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := store.adds.Count(); got != calls {
			t.Errorf("%d calls locked the record %d times; want once each", calls, got)
		}
		if got := e.Balance(t); got != 999 {
			t.Errorf("%d credits are left; want 999", got)
		}
	})
}
