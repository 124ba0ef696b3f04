package server

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnknownKeysAreDelayed lets 64 callers from one address use wrong keys without a pause, and one from another
// address from time to time.
func TestUnknownKeysAreDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s unknownKeys
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var mu sync.Mutex
		answered := 0
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for ctx.Err() == nil {
					s.slow(ctx, netip.MustParseAddr("198.51.100.1"))
					mu.Lock()
					answered++
					mu.Unlock()
				}
			})
		}
		for ctx.Err() == nil {
			begun := time.Now()
			s.slow(ctx, netip.MustParseAddr("198.51.100.2"))
			if took := time.Since(begun); took > 0 {
				t.Errorf("another address waited for %v, want 0", took)
			}
			time.Sleep(100 * time.Millisecond)
		}
		callers.Wait()
		if most := unknownKeysRate*11 + 64; answered > most || answered < 500 {
			t.Errorf("%d answers in ten seconds; want at most %d", answered, most)
		}
	})
}
