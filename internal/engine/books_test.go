package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
)

const idempotencyKey = "0123456789abcdef"

func keyedCall(platform, idempotencyKey, params string) operation.Call {
	values, _ := url.ParseQuery(params)
	return operation.Call{Platform: platform, Params: values, IdempotencyKey: idempotencyKey}
}

func TestTheKeysOfASearchsPartsAreReserved(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"),
		keyedCall("", idempotencyKey, "query=cats&platforms=mock&enrich=arabic")); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"/mock", "/"} {
		before := e.Balance(t)
		a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"),
			keyedCall("mock", idempotencyKey+suffix, "handle=ann&fresh=true"))
		if err != nil {
			t.Fatal(err)
		}
		if paid := before - e.Balance(t); paid != a.Meta.CreditsUsed || paid != 2 {
			t.Errorf("under key …%s: %d paid, credits_used %d; want 2", suffix, paid, a.Meta.CreditsUsed)
		}
	}
}

var errDisk = errors.New("the disk is on fire")

// TestAnIdempotentAnswerThatCannotBeRecordedIsNotCharged checks that the answer is recorded first: a later process must
// find what a dead one has charged.
func TestAnIdempotentAnswerThatCannotBeRecordedIsNotCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, unrecordedIsNotCharged)
}

func unrecordedIsNotCharged(t *testing.T) {
	clock := &enginetest.Clock{}
	store := &stalled{Store: records.NewMemory(records.MemoryConfig{Now: clock.Now})}
	e := enginetest.New(t, enginetest.Config{Records: store})
	call := func(params string) (*operation.Answer, error) {
		return socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), keyedCall("mock", idempotencyKey, params))
	}
	store.stall(true)
	_, err := call("handle=ann&fresh=true")
	enginetest.WantProblem(t, err, problem.InternalError, "")
	if got := len(e.Charges(t)); got != 0 {
		t.Errorf("%d charges, want 0", got)
	}
	clock.Advance(time.Minute)
	store.stall(false)
	time.Sleep(10 * time.Second) // what is held is released
	e.WantBalance(t, 1000)
	for range 2 {
		if _, err := call("handle=ann&fresh=true"); err != nil || e.Balance(t) != 998 {
			t.Errorf("got %v; %d credits are left, want 998", err, e.Balance(t))
		}
	}
	clock.Advance(25 * time.Hour) // then the key can be used for another request
	if _, err := call("handle=bob"); err != nil || e.Balance(t) != 997 {
		t.Errorf("got %v; %d credits are left, want 997", err, e.Balance(t))
	}
}

// panicking is a cache that panics.
type panicking struct{ cache.Store }

func (panicking) Get(context.Context, string) (*cache.Entry, error) { panic("broken") }

func TestAPanicInAStoreIsFreeAndLeavesNoLock(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Cache: panicking{}})
	for range 2 { // the key is free for the second call
		func() {
			defer func() { _ = recover() }() // like net/http, or the server
			_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), keyedCall("mock", idempotencyKey, "handle=ann"))
			enginetest.WantProblem(t, err, problem.InternalError, "")
		}()
		_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("search_across"),
			keyedCall("", "", "query=cats&platforms=mock"))
		if err == nil {
			t.Error("a search without a cache was answered")
		}
	}
	e.WantBalance(t, 1000)
}

// noKeys is a key store that cannot be read.
type noKeys struct{ keys.Store }

func (noKeys) Lookup(context.Context, keys.Hash) (keys.Key, error) { return keys.Key{}, errDisk }

func TestAnInternalErrorIsLoggedWithItsRequest(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	client, err := socialdata.New(socialdata.WithKeys(noKeys{}),
		socialdata.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		socialdata.WithEnricher(enginetest.Enricher()))
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := keys.Mint(keys.Live)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Authenticate(t.Context(), secret)
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Code != problem.InternalError || strings.Contains(p.Detail, "fire") {
		t.Fatalf("got %v; want internal_error without its cause", err)
	}
	if got := log.String(); !strings.Contains(got, p.RequestID) || !strings.Contains(got, "fire") ||
		strings.Contains(got, secret) {
		t.Errorf("the log is %q, want the id and the cause without the key", got)
	}
}

// refusing is a ledger that holds and releases, but cannot write a charge.
type refusing struct{ credits.Ledger }

func (l refusing) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	if c.Amount > 0 {
		return credits.Receipt{}, errDisk
	}
	return l.Ledger.Settle(ctx, h, c)
}

func TestAChargeThatFailsLeavesNothingHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, leavesNothingHeld)
}

func leavesNothingHeld(t *testing.T) {
	e := enginetest.New(t, enginetest.Config{})
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(refusing{e.Ledger}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.As(e.Key).Profile(t.Context(),
		socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}); err == nil {
		t.Error("a call succeeds whose charge could not be written")
	}
	time.Sleep(time.Second) // what is held is released
	e.WantBalance(t, 1000)
}

// counting counts the calls of a ledger. If lose is set, a charge is made but returns an error.
type counting struct {
	*credits.Memory
	reserves, settles, charges atomic.Int64
	fail, lose                 error
}

func (l *counting) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	l.reserves.Add(1)
	return l.Memory.Reserve(ctx, who, ttl, amounts...)
}

func (l *counting) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	l.settles.Add(1)
	return l.Memory.Settle(ctx, h, c)
}

func (l *counting) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	l.charges.Add(1)
	if l.fail != nil {
		return credits.Receipt{}, l.fail
	}
	r, err := l.Memory.Charge(ctx, who, c)
	return r, errors.Join(err, l.lose)
}

func TestACacheHitIsChargedInOneStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, hitIsChargedInOneStep)
}

func hitIsChargedInOneStep(t *testing.T) {
	e := enginetest.New(t, enginetest.Config{})
	ledger := &counting{Memory: e.Ledger}
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(ledger))
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name, handle               string
		fail, lose                 error
		reserves, settles, charges int64
		spent                      int64
		wantErr                    bool
	}{
		{"a miss is held and settled", "salma", nil, nil, 1, 1, 0, 1, false},
		{"a hit is charged", "salma", nil, nil, 0, 0, 1, 1, false},
		{"a charge that was not made", "salma", errDisk, nil, 0, 2, 1, 0, true},
		{"a charge that was made before it failed", "salma", nil, errDisk, 0, 1, 1, 1, false},
		{"an absence is held and released", "not_found", nil, nil, 1, 1, 0, 0, true},
		{"a remembered absence too", "not_found", nil, nil, 1, 1, 0, 0, true},
	}
	for _, s := range steps {
		ledger.fail, ledger.lose = s.fail, s.lose
		reserves, settles, charges := ledger.reserves.Load(), ledger.settles.Load(), ledger.charges.Load()
		before := e.Balance(t)
		answer, err := client.As(e.Key).Profile(t.Context(),
			socialdata.ProfileRequest{Platform: platform.Mock, Handle: s.handle})
		if (err != nil) != s.wantErr {
			t.Errorf("%s: %v, want an error: %t", s.name, err, s.wantErr)
		}
		if err == nil && (answer.Meta.CreditsUsed != s.spent || answer.Meta.CreditsRemaining != before-s.spent) {
			t.Errorf("%s: meta is %+v, want %d credits used, %d left", s.name, answer.Meta, s.spent, before-s.spent)
		}
		reserves, settles, charges = ledger.reserves.Load()-reserves, ledger.settles.Load()-settles, ledger.charges.Load()-charges
		if reserves != s.reserves || settles != s.settles || charges != s.charges {
			t.Errorf("%s: %d holds, %d settled, %d charges; want %d, %d, %d", s.name,
				reserves, settles, charges, s.reserves, s.settles, s.charges)
		}
		if spent := before - e.Balance(t); spent != s.spent {
			t.Errorf("%s: %d credits were spent; want %d", s.name, spent, s.spent)
		}
	}
}
