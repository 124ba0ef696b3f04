package providers_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
)

func TestAGateLetsSoManyThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := providers.NewGate(3)
		var mu sync.Mutex
		var all sync.WaitGroup
		now, most := 0, 0
		begun := time.Now()
		for range 10 {
			all.Go(func() {
				if err := g.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				defer g.Leave()
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
			})
		}
		all.Wait()
		if took := time.Since(begun); most != 3 || took != 4*time.Second {
			t.Errorf("%d at a time, in %v", most, took)
		}
	})
}

// TestAGateTellsWhenItIsTheTurn checks that requests and calls of Full get their turns in order of arrival.
func TestAGateTellsWhenItIsTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := providers.NewGate(1)
		var mu sync.Mutex
		var order []string
		note := func(word string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, word)
		}
		if g.Full(func() { t.Error("told by an empty gate") }) {
			t.Error("an empty gate is full")
		}
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		enter := func(name string) {
			go func() {
				if g.Enter(t.Context()) == nil {
					note(name)
					time.Sleep(time.Second)
					g.Leave()
				}
			}()
			synctest.Wait()
		}
		enter("first")
		if !g.Full(func() { note("told") }) {
			t.Error("a full gate is not")
		}
		enter("second")
		g.Leave()
		time.Sleep(5 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]string{"first", "told", "second"}, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestACallerThatLeavesTheQueueFreesItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := providers.NewGate(1)
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Enter(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		g.Leave()
		if g.Full(func() {}) {
			t.Error("the gate is full, and no one is in it")
		}
		var none *providers.Gate
		if err := none.Enter(short); err != nil || none.Full(func() {}) {
			t.Error("no gate is a bound")
		}
		none.Leave()
	})
}
