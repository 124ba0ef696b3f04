package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// frozen blocks the calls of a store until it is thawed.
type frozen struct {
	mu    sync.Mutex
	until chan struct{} // nil while it is not frozen
	asked int
}

func (f *frozen) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until, f.asked = make(chan struct{}), 0
}

func (f *frozen) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.until)
	f.until = nil
}

func (f *frozen) wait(ctx context.Context) error {
	f.mu.Lock()
	until := f.until
	f.asked++
	f.mu.Unlock()
	if until == nil {
		return nil
	}
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *frozen) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

type frozenLedger struct {
	*credits.Memory
	*frozen
}

func (l frozenLedger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.Memory.Reserve(ctx, who, ttl, amounts...)
}

func (l frozenLedger) Balance(ctx context.Context, account string) (int64, error) {
	if err := l.wait(ctx); err != nil {
		return 0, err
	}
	return l.Memory.Balance(ctx, account)
}

type frozenKeys struct {
	keys.Store
	*frozen
}

func (k frozenKeys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := k.wait(ctx); err != nil {
		return keys.Key{}, err
	}
	return k.Store.Lookup(ctx, h)
}

// TestCallsFailAtOnceWhileAStoreHangs freezes the ledger, or the keys, for half a minute with a call every 100 ms.
func TestCallsFailAtOnceWhileAStoreHangs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ledger", "keys"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &frozen{}
				e := enginetest.New(t, enginetest.Config{Credits: -1})
				client, err := socialdata.New(socialdata.WithLedger(frozenLedger{e.Ledger, f}),
					socialdata.WithKeys(frozenKeys{e.Keys, f}), socialdata.WithEnricher(enginetest.Enricher()))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close(context.Background()) //nolint:errcheck // only a test's own
				ask := func() error {
					if name == "keys" {
						_, err := client.Authenticate(t.Context(), e.Secret)
						return err
					}
					_, err := client.As(e.Key).Account().Me(t.Context(), accounts.MeRequest{})
					return err
				}
				f.freeze()
				began := time.Now()
				var wg sync.WaitGroup
				var mu sync.Mutex
				waited := 0 // calls that waited although the store was known to hang
				for time.Since(began) < 30*time.Second {
					at := time.Since(began)
					wg.Go(func() {
						came := time.Now()
						err := ask()
						p, ok := errors.AsType[*problem.Error](err)
						if took := time.Since(came); took > 15*time.Second || at+took < 30*time.Second &&
							(!ok || p.Code != problem.PlatformUnavailable || p.RetryAfter != 2*time.Second) {
							t.Errorf("a call after %v = %v within %v", at, err, took)
						} else if at > 2300*time.Millisecond && took > 0 {
							mu.Lock()
							defer mu.Unlock()
							waited++
						}
					})
					time.Sleep(100 * time.Millisecond)
					synctest.Wait()
				}
				if got := enginetest.Health(t, client).Dependencies[name]; got != schema.Down {
					t.Errorf("Health reports the %s as %q; want %q", name, got, schema.Down)
				}
				f.thaw()
				wg.Wait()
				if waited < 5 || waited > 8 {
					t.Errorf("%d calls tried in 28 s; want one for 2 s, every 4 s", waited)
				}
				time.Sleep(2 * account.HangsAfter)
				if err := ask(); err != nil {
					t.Errorf("a call after it has recovered: %v", err)
				}
				if got := enginetest.Health(t, client).Dependencies; got != nil {
					t.Errorf("Health names %v after the recovery", got)
				}
			})
		})
	}
}

// TestTheRecoveryOfAStoreIsNoticedWithoutACall only reads the health.
func TestTheRecoveryOfAStoreIsNoticedWithoutACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &frozen{}
		e := enginetest.New(t, enginetest.Config{Credits: -1})
		client, err := socialdata.New(socialdata.WithLedger(frozenLedger{e.Ledger, f}),
			socialdata.WithEnricher(enginetest.Enricher()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.Background()) //nolint:errcheck // only a test's own
		f.freeze()
		for range 3 {
			_, err = client.As(e.Key).Account().Me(t.Context(), accounts.MeRequest{})
			enginetest.WantProblem(t, err, problem.PlatformUnavailable)
		}
		if got := enginetest.Health(t, client).Dependencies["ledger"]; got != schema.Down {
			t.Errorf("the ledger is %q, want down", got)
		}
		time.Sleep(account.HangsAfter + time.Millisecond)
		before := f.count()
		for range 10 {
			if got := enginetest.Health(t, client).Dependencies["ledger"]; got != schema.Down {
				t.Errorf("the ledger is %q, want down", got)
			}
			synctest.Wait()
		}
		if asked := f.count() - before; asked != 1 {
			t.Errorf("called %d times at once; want once", asked)
		}
		f.thaw()
		synctest.Wait()
		if got := enginetest.Health(t, client).Dependencies; got != nil {
			t.Errorf("Health names %v after the recovery", got)
		}
	})
}
