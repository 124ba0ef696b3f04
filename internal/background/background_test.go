package background_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/background"
)

func TestCloseRefusesNewWorkAndWaitsForTheOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g background.Group
		if !g.Begin() {
			t.Fatal("an open group refuses work")
		}
		g.Fork()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v while work was under way", err)
		}
		if g.Begin() {
			t.Error("a closed group takes work")
		}
		var closing sync.WaitGroup
		for range 2 {
			closing.Go(func() {
				if err := g.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		g.End()
		g.End()
		closing.Wait()
	})
}

func TestWorkMayBeginWhileSomebodyCloses(t *testing.T) {
	t.Parallel()
	var g background.Group
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if g.Begin() {
					g.End()
				}
			}
		})
	}
	wg.Go(func() {
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
}
