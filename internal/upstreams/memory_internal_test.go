package upstreams

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/providers"
)

func TestAnswersShareOneBudgetOfMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const step, most = 32 << 10, 64 << 20
		r := &memoryBudget{most: most}
		peak := int64(0)
		var all sync.WaitGroup
		for range 120 { // concurrent answers of 5.5 MB, each of which takes 44 MB
			all.Go(func() {
				l := &lease{memoryBudget: r}
				defer l.end()
				for range 5_500_000 / step {
					time.Sleep(rand.N(time.Millisecond))
					if err := l.take(t.Context(), step); err != nil {
						if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrBusy) || e.RetryAfter <= 0 {
							t.Errorf("refused with %v", err)
						}
						return
					}
					r.mu.Lock()
					peak = max(peak, r.used)
					r.mu.Unlock()
				}
			})
		}
		all.Wait()
		if peak > most+5_500_000*perByte {
			t.Errorf("%d MB at once: more than %d and one answer", peak>>20, most>>20)
		}
		if r.used != 0 || r.waiting.Len() != 0 || r.finisher != nil {
			t.Errorf("%d bytes, %d that wait and the finisher %v are left", r.used, r.waiting.Len(), r.finisher)
		}
	})
}

// TestAWaitingReadGetsTheMemoryThatIsFreed checks that an answer continues as soon as another one ends, and is refused
// when none does in time.
func TestAWaitingReadGetsTheMemoryThatIsFreed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &memoryBudget{most: 10 * perByte}
		first, second, third := &lease{memoryBudget: r}, &lease{memoryBudget: r}, &lease{memoryBudget: r}
		for _, l := range []*lease{first, second} { // the second continues without memory, and is the only one that does
			if err := l.take(t.Context(), 10); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := third.take(t.Context(), 1); !errors.Is(err, providers.ErrBusy) || time.Since(began) != memoryPatience {
			t.Errorf("refused with %v after %v", err, time.Since(began))
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := third.take(short, 1); !errors.Is(err, providers.ErrBusy) {
			t.Errorf("with little time: %v", err)
		}
		time.AfterFunc(2*time.Second, second.end)
		began = time.Now()
		if err := third.take(t.Context(), 1); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := second.take(t.Context(), 1); err == nil {
			t.Error("what has ended goes on")
		}
		first.end()
		third.end()
		if r.used != 0 {
			t.Errorf("%d bytes are left", r.used)
		}
	})
}
