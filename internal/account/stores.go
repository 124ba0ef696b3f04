package account

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
)

const (
	// HangsAfter is the time limit of each store call, and for how long a store is left alone once it hangs.
	HangsAfter = 2 * time.Second
	// mostUnanswered is how many calls in a row a store may leave unanswered before it counts as hanging.
	mostUnanswered = 3
	// patience is for how long work that no caller waits for repeats its store calls.
	patience = 10 * time.Second
	// reserve is the part of a call's time that is left for store calls when its reads end: to charge for the answer,
	// to record it, and to release holds. A call with less than 15 s reserves a fifteenth of its time, and its store
	// calls may continue for the rest of reserve after its end.
	reserve = time.Second
)

// UnavailableError means that a store cannot be used now: it hangs, it has not answered in time, or it has reported
// that it is unavailable.
type UnavailableError struct {
	Store string // such as "ledger"
	Err   error
}

// Error implements error.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("socialdata: the %s: %v", e.Store, e.Err)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

var (
	errOver  = errors.New("it was not called, because the time of the call is over")
	errSlow  = errors.New("it has not answered in time")
	errEnded = errors.New("the caller has left, or gave it too little time to answer")
)

// Stores limits the time of the calls of the stores that calls need. A store that has not answered three calls in a row
// within [HangsAfter], or that has said that it cannot serve, is then left alone for as long: calls that need it fail at
// once. After that, one call probes it first, with a small write where the store can make one.
type Stores struct {
	timeout time.Duration // of a call
	probes  background.Group

	ledger, keys, records *gate
}

// NewStores returns the limits of stores for calls with the given time-out.
func NewStores(timeout time.Duration) *Stores {
	s := &Stores{timeout: timeout}
	s.ledger, s.keys, s.records = newGate(s, "ledger"), newGate(s, "keys"), newGate(s, "records")
	return s
}

// Reading returns for how long a call may read, from its beginning: the rest of its time is for the stores.
func (s *Stores) Reading() time.Duration { return s.timeout - min(reserve, s.timeout/15) }

// Left returns for how long the store calls of the call in ctx may continue; for work that no caller waits for, patience.
func (s *Stores) Left(ctx context.Context) time.Duration {
	counts := callctx.Of(ctx).Counts
	if counts.IsZero() {
		return patience
	}
	return s.Reading() + reserve - time.Since(counts)
}

// Hanging returns the names of the stores that hang or cannot be written. Each of them is probed in the background, so
// that its recovery is noticed even without calls.
func (s *Stores) Hanging() (names []string) {
	for _, g := range []*gate{s.ledger, s.keys, s.records} {
		if g.breaker.State() == gobreaker.StateClosed {
			continue
		}
		names = append(names, g.name)
		if s.probes.Begin() {
			go func() {
				defer s.probes.End()
				_ = g.reopen(context.Background())
			}()
		}
	}
	return names
}

// Close waits until no probe runs in the background.
func (s *Stores) Close(ctx context.Context) error { return s.probes.Close(ctx) }

// gate makes the calls of one store.
type gate struct {
	stores  *Stores
	name    string
	probe   func(ctx context.Context) error // makes a small request to the store
	refused atomic.Bool                     // it has said that it cannot serve, and no call has written since
	// The breaker reads the clock of the machine: the times are durations, which setting the clock does not change.
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newGate(s *Stores, name string) *gate {
	g := &gate{stores: s, name: name, probe: func(context.Context) error { return nil }}
	g.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: HangsAfter,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= mostUnanswered || g.refused.Load() },
		IsSuccessful: func(err error) bool {
			_, failed := errors.AsType[*UnavailableError](err)
			return !failed
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errEnded) },
	})
	return g
}

// probed sets the probe to the store's own Writable, which makes a small write, or else to other.
func (g *gate) probed(store any, other func(ctx context.Context) error) {
	if g.probe = other; store != nil {
		if own, ok := store.(interface {
			Writable(ctx context.Context) error
		}); ok {
			g.probe = own.Writable
		}
	}
}

// use is what a call needs of a store.
type use bool

const (
	reading use = false // it can be served even while the store cannot be written
	writing use = true
)

// do makes a call of the store with a deadline within the time of the call in ctx, and a panic of the store becomes an
// error. It returns an [UnavailableError] while the store hangs or cannot serve, and when it has not
// answered in time.
func (g *gate) do(ctx context.Context, how use, ask func(context.Context) error) error {
	if how == reading && g.refused.Load() {
		return g.limit(ctx, ask)
	}
	if err := g.reopen(ctx); err != nil {
		return err
	}
	return g.try(ctx, ask)
}

// reopen probes a store that has been left alone for long enough.
func (g *gate) reopen(ctx context.Context) error {
	if g.breaker.State() != gobreaker.StateHalfOpen {
		return nil
	}
	return g.try(ctx, func(ctx context.Context) error {
		err := g.probe(ctx)
		if err == nil {
			g.refused.Store(false)
		}
		return err
	})
}

// try makes a call unless the store is left alone, and notes how it has ended.
func (g *gate) try(ctx context.Context, ask func(context.Context) error) error {
	done, err := g.breaker.Allow()
	if err != nil {
		return &UnavailableError{g.name, err}
	}
	given := g.stores.Left(ctx)
	err = g.limit(ctx, ask)
	if err != nil && (ctx.Err() != nil || given < HangsAfter && errors.Is(err, errSlow) || errors.Is(err, errOver)) {
		done(errEnded)
	} else {
		done(err)
	}
	return err
}

// limit makes a call with a deadline.
func (g *gate) limit(ctx context.Context, ask func(context.Context) error) (err error) {
	left := min(HangsAfter, g.stores.Left(ctx))
	if left <= 0 {
		return &UnavailableError{g.name, errOver}
	}
	bounded, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	defer func() {
		if v := recover(); v != nil { // a search settles in its own goroutines, where nothing else recovers
			err = fmt.Errorf("socialdata: the %s panicked: %s", g.name, observe.Recovered(v))
		}
	}()
	err = ask(bounded)
	switch {
	case err == nil || ctx.Err() != nil:
	case bounded.Err() != nil:
		g.refused.Store(false)                                               // it hangs, for readers too
		return &UnavailableError{g.name, fmt.Errorf("%w: %v", errSlow, err)} //nolint:errorlint // must not match the end of the caller's context
	case unavailable(err):
		g.refused.Store(true)
		return &UnavailableError{g.name, err}
	}
	return err
}

// Refused reports whether err is that of a store that has said that it cannot serve now: it has written nothing.
func Refused(err error) bool {
	e, ok := errors.AsType[*UnavailableError](err)
	if !ok || !unavailable(e.Err) {
		return false
	}
	says, ok := errors.AsType[interface {
		error
		Unsure() bool
	}](e.Err)
	return !ok || !says.Unsure()
}

// unavailable reports whether an error of a store means that it cannot serve now, as [store.UnavailableError] does.
func unavailable(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}

// get is do for a call with a result.
func get[T any](
	ctx context.Context, g *gate, how use, ask func(context.Context) (T, error),
) (out T, err error) {
	err = g.do(ctx, how, func(ctx context.Context) (err error) {
		out, err = ask(ctx)
		return err
	})
	return out, err
}

// Ledger makes the calls of a ledger.
type Ledger struct {
	store credits.Ledger
	*gate
}

// Ledger returns l with limited calls.
func (s *Stores) Ledger(l credits.Ledger) Ledger {
	s.ledger.probed(l, func(ctx context.Context) error {
		_, err := l.Balance(ctx, "")
		if errors.Is(err, credits.ErrUnknownAccount) {
			return nil
		}
		return err
	})
	return Ledger{l, s.ledger}
}

// Reserve implements [credits.Ledger]. It is of no use unless the ledger can be written later.
func (l Ledger) Reserve(
	ctx context.Context, who credits.Spender, ttl time.Duration, amounts ...int64,
) ([]credits.Hold, error) {
	return get(ctx, l.gate, writing, func(ctx context.Context) ([]credits.Hold, error) {
		return l.store.Reserve(ctx, who, ttl, amounts...)
	})
}

// Settle implements [credits.Ledger]. A release need not write.
func (l Ledger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	return get(ctx, l.gate, use(c.Amount > 0), func(ctx context.Context) (credits.Receipt, error) {
		return l.store.Settle(ctx, h, c)
	})
}

// Balance implements [credits.Ledger].
func (l Ledger) Balance(ctx context.Context, account string) (int64, error) {
	return get(ctx, l.gate, reading, func(ctx context.Context) (int64, error) { return l.store.Balance(ctx, account) })
}

// Entries implements [credits.Ledger].
func (l Ledger) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	return get(ctx, l.gate, reading, func(ctx context.Context) ([]credits.Entry, error) {
		return l.store.Entries(ctx, q)
	})
}

// Charges reports whether the ledger charges in one step.
func (l Ledger) Charges() bool {
	_, ok := l.store.(credits.Charger)
	return ok
}

// Charge implements [credits.Charger], for a ledger that does.
func (l Ledger) Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error) {
	return get(ctx, l.gate, writing, func(ctx context.Context) (credits.Receipt, error) {
		return l.store.(credits.Charger).Charge(ctx, who, c)
	})
}

// check is [credits.Checker.Check] of a ledger that has it.
func (l Ledger) check(ctx context.Context, of credits.Checker, who credits.Spender, n int64) error {
	return l.do(ctx, reading, func(ctx context.Context) error { return of.Check(ctx, who, n) })
}

// Give is that of a [credits.Granter], if the ledger is one.
func (l Ledger) Give(ctx context.Context, g credits.Gift) (int64, error) {
	granter, ok := l.store.(credits.Granter)
	if !ok {
		return 0, errors.New("socialdata: the ledger cannot refund")
	}
	return get(ctx, l.gate, writing, func(ctx context.Context) (int64, error) { return granter.Give(ctx, g) })
}

// Records returns store with limited calls. It is called once, with the store itself, which may have a probe of its own.
func (s *Stores) Records(store records.Store) records.Store {
	s.records.probed(store, func(ctx context.Context) error {
		_, err := store.Put(ctx, records.Record{Key: "probe"}, time.Minute)
		return err
	})
	return recordStore{store, s.records}
}

// recordStore makes the calls of a store of records. Erase has no time limit, because no call waits for it.
type recordStore struct {
	store records.Store
	*gate
}

// Get implements [records.Store].
func (r recordStore) Get(ctx context.Context, key string) (records.Record, error) {
	return get(ctx, r.gate, reading, func(ctx context.Context) (records.Record, error) { return r.store.Get(ctx, key) })
}

// Put implements [records.Store].
func (r recordStore) Put(ctx context.Context, record records.Record, ttl time.Duration) (int64, error) {
	return get(ctx, r.gate, writing, func(ctx context.Context) (int64, error) { return r.store.Put(ctx, record, ttl) })
}

// Add implements [records.Store].
func (r recordStore) Add(
	ctx context.Context, record records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	err = r.do(ctx, writing, func(ctx context.Context) (err error) {
		stored, added, err = r.store.Add(ctx, record, ttl)
		return err
	})
	return stored, added, err
}

// Delete implements [records.Store].
func (r recordStore) Delete(ctx context.Context, key string, version int64) error {
	return r.do(ctx, writing, func(ctx context.Context) error { return r.store.Delete(ctx, key, version) })
}

// Keys implements [records.Store].
func (r recordStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	return get(ctx, r.gate, reading, func(ctx context.Context) ([]string, error) { return r.store.Keys(ctx, prefix) })
}

// Erase implements [records.Store].
func (r recordStore) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	return r.store.Erase(ctx, s)
}
