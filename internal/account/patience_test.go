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

func TestABoundEndsLikeAnyContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	tests := []struct {
		name string
		with func(context.Context) (context.Context, context.CancelFunc) // what the caller comes with
		want error
		took time.Duration
	}{
		{"by our patience", context.WithCancel, context.DeadlineExceeded, patience},
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
		for _, waits := range []string{"who only asks", "who waits", "who waits below"} {
			t.Run(tt.name+", "+waits, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := tt.with(context.WithValue(t.Context(), key{}, "the caller's"))
					defer cancel()
					began := time.Now()
					b := enter(t, ctx)
					var err error
					defer b.leave(&err)
					if at, ok := b.Deadline(); !ok || errors.Is(tt.want, context.DeadlineExceeded) && at.Sub(began) != tt.took {
						t.Errorf("Deadline = %v behind, %v", at.Sub(began), ok)
					}
					if b.Err() != nil || b.Value(key{}) != "the caller's" {
						t.Errorf("Err = %v and Value = %v at first", b.Err(), b.Value(key{}))
					}
					switch waits {
					case "who only asks":
						time.Sleep(tt.took)
						synctest.Wait()
					case "who waits":
						<-b.Done()
					case "who waits below":
						below, cancel := context.WithCancel(b)
						defer cancel()
						<-below.Done()
					}
					if took := time.Since(began); took != tt.took || !errors.Is(b.Err(), tt.want) {
						t.Errorf("ended after %v with %v; want %v and %v", took, b.Err(), tt.took, tt.want)
					}
				})
			})
		}
	}
}

func TestABoundThatIsOverHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := enter(t, t.Context())
		below, cancel := context.WithCancel(b)
		defer cancel()
		var err error
		b.leave(&err)
		if <-below.Done(); !errors.Is(b.Err(), context.Canceled) {
			t.Errorf("Err = %v; want %v", b.Err(), context.Canceled)
		}
	})
}
