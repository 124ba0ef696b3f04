package account

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func enter(t *testing.T, ctx context.Context) *bound { //nolint:revive // the test comes first
	t.Helper()
	b, err := NewGuard(time.Minute).ledger.enter(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABoundBehavesLikeAContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	tests := []struct {
		name string
		with func(context.Context) (context.Context, context.CancelFunc) // makes the caller's context
		want error
		took time.Duration
	}{
		{"after patience", context.WithCancel, context.DeadlineExceeded, patience},
		{"with the caller's time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded, time.Second},
		{"with the caller", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled, time.Second},
	}
	for _, tt := range tests {
		for _, waits := range []string{"only Err", "Done", "Done of a derived context"} {
			t.Run(tt.name+", "+waits, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := tt.with(context.WithValue(t.Context(), key{}, "the caller's"))
					defer cancel()
					began := time.Now()
					b := enter(t, ctx)
					var err error
					defer b.leave(&err)
					if at, ok := b.Deadline(); !ok || errors.Is(tt.want, context.DeadlineExceeded) && at.Sub(began) != tt.took {
						t.Errorf("Deadline after %v, %v", at.Sub(began), ok)
					}
					if b.Err() != nil || b.Value(key{}) != "the caller's" {
						t.Errorf("Err = %v and Value = %v at first", b.Err(), b.Value(key{}))
					}
					switch waits {
					case "only Err":
						time.Sleep(tt.took)
						synctest.Wait()
					case "Done":
						<-b.Done()
					case "Done of a derived context":
						derived, cancel := context.WithCancel(b)
						defer cancel()
						<-derived.Done()
					}
					if took := time.Since(began); took != tt.took || !errors.Is(b.Err(), tt.want) {
						t.Errorf("ended after %v with %v; want %v and %v", took, b.Err(), tt.took, tt.want)
					}
				})
			})
		}
	}
}

func TestLeavingABoundEndsDerivedContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := enter(t, t.Context())
		derived, cancel := context.WithCancel(b)
		defer cancel()
		var err error
		b.leave(&err)
		if <-derived.Done(); !errors.Is(b.Err(), context.Canceled) {
			t.Errorf("Err = %v; want %v", b.Err(), context.Canceled)
		}
	})
}
