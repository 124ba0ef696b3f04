package lapse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/internal/lapse"
)

func TestAContextEnds(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(context.Context){
		"that is waited for": func(ctx context.Context) { <-ctx.Done() },
		"whose child is waited for": func(ctx context.Context) {
			below, cancel := context.WithCancel(ctx)
			defer cancel()
			<-below.Done()
		},
		"that is not waited for": func(context.Context) { time.Sleep(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx := lapse.After(t.Context(), time.Second)
				defer ctx.Stop()
				if err := ctx.Err(); err != nil {
					t.Errorf("%v at the beginning", err)
				}
				wait(ctx)
				if took := time.Since(began); took != time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Errorf("%v after %v", ctx.Err(), took)
				}
			})
		})
	}
}

func TestAContextEndsWithItsParent(t *testing.T) {
	t.Parallel()
	other, cancel := context.WithCancel(t.Context())
	ctx := lapse.After(other, time.Hour)
	defer ctx.Stop()
	done := ctx.Done()
	cancel()
	<-done
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

func TestAStoppedContextHasNoTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := lapse.After(t.Context(), time.Hour)
		_ = ctx.Done()
		ctx.Stop()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Error(ctx.Err())
		}
	})
}

// TestAContextThatIsStoppedHasEnded stops one that was waited for, and one that was not.
func TestAContextThatIsStoppedHasEnded(t *testing.T) {
	t.Parallel()
	for name, waited := range map[string]bool{"waited for": true, "not waited for": false} {
		c := lapse.After(t.Context(), time.Hour)
		if waited {
			_ = c.Done()
		}
		c.Stop()
		if err := c.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-c.Done()
	}
}
