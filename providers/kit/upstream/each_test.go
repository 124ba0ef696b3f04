package upstream_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

func TestForEachMakesEightCallsAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var done []int
		step := make(chan struct{})
		go upstream.ForEach(t.Context(), 20, func(i int) {
			<-step
			mu.Lock()
			defer mu.Unlock()
			done = append(done, i)
		})
		for _, want := range []int{8, 8, 4} {
			synctest.Wait()
			for range want {
				step <- struct{}{}
			}
			synctest.Wait()
		}
		slices.Sort(done)
		if len(done) != 20 || done[0] != 0 || done[19] != 19 {
			t.Errorf("called with %v, want 0 to 19", done)
		}
	})
}

func TestForEachEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	upstream.ForEach(ctx, 3, func(int) { t.Error("it was called after the end of its context") })
}
