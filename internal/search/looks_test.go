package search_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/store/records"
)

// reads counts the reads of a store.
type reads struct {
	records.Store
	n enginetest.Counter
}

func (r *reads) Get(ctx context.Context, key string) (records.Record, error) {
	r.n.Add()
	return r.Store.Get(ctx, key)
}

// TestCallersThatWaitForAJobShareItsReads lets fifty callers on one replica wait for the job of another.
func TestCallersThatWaitForAJobShareItsReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &reads{Store: e.Records}
		one, another := over(t, e, nil, nil, twoPlatforms()...), over(t, e, nil, store, twoPlatforms()...)
		id := searchAll(t, one, socialdata.SearchAcrossRequest{Wait: time.Second}).Meta.JobID
		before, begun := store.n.Count(), time.Now()
		const callers = 50
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() { job(t, another, id, 10) })
		}
		wg.Wait()
		if took := time.Since(begun); took < 3*time.Second || took > 5*time.Second {
			t.Errorf("the callers have waited for %v; want until the job has ended, four seconds", took)
		}
		// Each reads it at the beginning and at the end; in between they share a read every 200 ms.
		if n := store.n.Count() - before; n > 4*callers+25 {
			t.Errorf("%d reads of %d callers who wait for four seconds", n, callers)
		}
	})
}
