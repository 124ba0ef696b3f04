package account

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/store"
)

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func serve(context.Context) error { return nil }

func isUnavailable(err error) bool {
	_, is := errors.AsType[*UnavailableError](err)
	return is
}

func TestAStoreCallHasADeadline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ctx   func(ctx context.Context) (context.Context, context.CancelFunc)
		after time.Duration // since the beginning of the call
		took  time.Duration
		own   bool // the end of the caller's context, which is not the store's fault
	}{
		"without a call": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithCancel(ctx)
		}, 0, HangsAfter, false},
		"in a call": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return callctx.Begin(ctx, "req"), func() {}
		}, 0, HangsAfter, false},
		"at the end of a call": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return callctx.Begin(ctx, "req"), func() {}
		}, 14 * time.Second, reserve, false},
		"after a call": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return callctx.Begin(ctx, "req"), func() {}
		}, 15 * time.Second, 0, false},
		"of a caller who leaves": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, 0, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				time.Sleep(tt.after)
				began := time.Now()
				err := NewStores(15*time.Second).ledger.do(ctx, writing, hang)
				if took := time.Since(began); took != tt.took || isUnavailable(err) == tt.own ||
					errors.Is(err, context.DeadlineExceeded) != tt.own {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestAStoreThatHangsIsLeftAloneAndProbed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewStores(15 * time.Second).ledger
		probes, works := 0, false
		g.probe = func(ctx context.Context) error {
			if probes++; works {
				return nil
			}
			return hang(ctx)
		}
		do := func(ask func(context.Context) error) (time.Duration, error) {
			began := time.Now()
			err := g.do(t.Context(), reading, ask)
			return time.Since(began), err
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = g.do(short, reading, hang) // its caller leaves: this says nothing about the store
		for range mostUnanswered {
			if took, err := do(hang); took != HangsAfter || !isUnavailable(err) {
				t.Fatalf("after %v: %v", took, err)
			}
		}
		if took, err := do(serve); took != 0 || !isUnavailable(err) || probes != 0 {
			t.Errorf("while it is left alone: %v after %v, %d probes", err, took, probes)
		}
		time.Sleep(HangsAfter + time.Millisecond)
		if took, err := do(serve); took != HangsAfter || !isUnavailable(err) || probes != 1 {
			t.Errorf("while it still hangs: %v after %v, %d probes", err, took, probes)
		}
		time.Sleep(HangsAfter + time.Millisecond)
		works = true
		if took, err := do(serve); took != 0 || err != nil || probes != 2 {
			t.Errorf("after its recovery: %v after %v, %d probes", err, took, probes)
		}
		if names := g.stores.Hanging(); names != nil {
			t.Errorf("%v hang", names)
		}
	})
}

func TestAStoreThatRefusesIsStillRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewStores(15 * time.Second).ledger
		full := func(context.Context) error { return &store.UnavailableError{Err: errors.New("full")} }
		g.probe = full
		if err := g.do(t.Context(), writing, full); !isUnavailable(err) {
			t.Error(err)
		}
		if err := g.do(t.Context(), writing, serve); !isUnavailable(err) {
			t.Errorf("a write: %v", err)
		}
		for range 2 {
			if err := g.do(t.Context(), reading, serve); err != nil {
				t.Errorf("a read: %v", err)
			}
			time.Sleep(HangsAfter + time.Millisecond)
		}
		if err := g.do(t.Context(), writing, serve); !isUnavailable(err) || len(g.stores.Hanging()) != 1 {
			t.Errorf("a read has closed the breaker: %v", err)
		}
		g.probe = serve
		time.Sleep(HangsAfter + time.Millisecond)
		if err := g.do(t.Context(), writing, serve); err != nil {
			t.Errorf("after a probe has written: %v", err)
		}
	})
}

func TestAPanicOfAStoreIsAnError(t *testing.T) {
	t.Parallel()
	g := NewStores(15 * time.Second).ledger
	for range 2 * mostUnanswered {
		err := g.do(t.Context(), writing, func(context.Context) error { panic("odd") })
		if err == nil || isUnavailable(err) {
			t.Error(err)
		}
	}
}
