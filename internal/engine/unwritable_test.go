package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store"
)

// fullLedger is a ledger on a disk that may be full: it holds and reads, but cannot write.
type fullLedger struct {
	*credits.Memory
	full   atomic.Bool
	writes atomic.Int64 // attempts
}

func (l *fullLedger) write() error {
	l.writes.Add(1)
	if l.full.Load() {
		return &store.UnavailableError{Err: errors.New("the disk is full")}
	}
	return nil
}

func (l *fullLedger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if c.Amount > 0 {
		if err := l.write(); err != nil {
			return credits.Receipt{}, err
		}
	}
	return l.Memory.Settle(ctx, h, c)
}

func (l *fullLedger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	if err := l.write(); err != nil {
		return credits.Receipt{}, err
	}
	return l.Memory.Charge(ctx, who, c)
}

// Writable is the probe that the engine makes.
func (l *fullLedger) Writable(context.Context) error { return l.write() }

func TestAStoreThatCannotBeWrittenIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		ledger := &fullLedger{Memory: e.Ledger}
		var calls enginetest.Counter
		client, err := socialdata.New(socialdata.WithLedger(ledger), socialdata.WithKeys(e.Keys), socialdata.WithProviders(
			[]providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(&calls))}))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.Background()) //nolint:errcheck // only a test's own
		mine := client.As(e.Key)
		read := func(handle string) error {
			_, err := mine.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
			return err
		}
		down := func() bool { return enginetest.Health(t, client).Dependencies["ledger"] == schema.Down }
		if err := read("cached"); err != nil || down() {
			t.Fatalf("got %v, down: %t; want an answer from the cache and a ledger that is up", err, down())
		}
		ledger.full.Store(true)
		for _, handle := range []string{"new", "cached", "newer"} {
			p := enginetest.WantProblem(t, read(handle), problem.PlatformUnavailable, "ledger")
			if p.RetryAfter != account.HangsAfter {
				t.Errorf("%s: retry after %v, want %v", handle, p.RetryAfter, account.HangsAfter)
			}
		}
		if n := calls.Count(); n != 2 {
			t.Errorf("%d upstream reads; want none once it is known that they cannot be charged", n)
		}
		if _, err := mine.Account().Me(t.Context(), accounts.MeRequest{}); err != nil {
			t.Errorf("what needs no write: %v", err)
		}
		if !down() {
			t.Error("the ledger counts as up")
		}
		ledger.full.Store(false)
		for range 5 { // as an orchestrator asks for the readiness, while no calls come
			time.Sleep(account.HangsAfter + time.Millisecond)
			_ = down()
			synctest.Wait()
		}
		if down() {
			t.Error("the ledger counts as down after a probe has written")
		}
		if err := read("newest"); err != nil {
			t.Error(err)
		}
		if got, err := e.Ledger.Balance(t.Context(), e.Key.Account); got != 998 || err != nil {
			t.Errorf("%d credits are left, %v; want two calls charged", got, err)
		}
	})
}
