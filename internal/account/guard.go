package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/operation"
)

const (
	// HangsAfter is for how long a store may leave all calls unanswered before it counts as hanging.
	HangsAfter = 2 * time.Second
	// patience is the time limit of store calls that no caller waits for.
	patience = 10 * time.Second
	// reserve is the part of a call's time that is left for store calls when its reads end: to charge for the answer,
	// to record it, and to release holds. A call with less than 15 s reserves a fifteenth of its time, and its store
	// calls may continue for the rest of reserve after its end.
	reserve = time.Second
	// asking is the part of reserve for finding out whether a charge was made.
	asking = reserve / 2
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

// errHangs means that a store hangs, and that another call is checking whether it still does. errOver means that the
// time of a call is over.
var (
	errHangs = fmt.Errorf("it has not answered for %v", HangsAfter)
	errOver  = errors.New("it was not called, because the time of the call is over")
)

// Guard protects the stores that calls need. No call waits for a store beyond its own time. While a store hangs, calls
// that need it fail at once, except one every [HangsAfter] that tries it.
type Guard struct {
	timeout time.Duration // of a call
	probes  background.Group

	ledger, keys, records gate
}

// NewGuard returns the guard of stores for calls with the given time-out.
func NewGuard(timeout time.Duration) *Guard {
	g := &Guard{timeout: timeout}
	for name, gate := range map[string]*gate{"ledger": &g.ledger, "keys": &g.keys, "records": &g.records} {
		gate.guard, gate.name = g, name
	}
	return g
}

// Reading returns for how long a call may read, from its beginning: the rest of its time is for the stores.
func (g *Guard) Reading() time.Duration { return g.timeout - min(reserve, g.timeout/15) }

// over returns when a store call that begins now must have returned: at the end of the time of the call in ctx, less
// spare; without a call, after patience. Work that is not done by then continues in the background.
func (g *Guard) over(ctx context.Context, spare time.Duration) time.Time {
	counts := operation.Counts(ctx)
	if counts.IsZero() {
		return time.Now().Add(patience - spare)
	}
	return counts.Add(g.Reading() + reserve - spare)
}

// Hanging returns the names of the stores that hang. Each of them is probed in the background, so that its recovery is
// noticed even without calls.
func (g *Guard) Hanging() []string {
	var names []string
	for _, gate := range []*gate{&g.ledger, &g.keys, &g.records} {
		if gate.probe != nil && gate.hanging() {
			names = append(names, gate.name)
			gate.again()
		}
	}
	return names
}

// Close waits until no probe runs in the background.
func (g *Guard) Close(ctx context.Context) error { return g.probes.Close(ctx) }

// gate controls access to one store.
type gate struct {
	guard *Guard
	name  string
	probe func(ctx context.Context) error // makes a small request to the store; nil when there is no store

	mu      sync.Mutex
	waiting int
	since   time.Time // since when calls have been waiting without any answer; zero when none is waiting
	tried   time.Time // when a call was last let through although the store hangs
}

// enter lets a call of the store begin, and returns it with its time limit; spare is reserved from the call's own time.
// It returns an [UnavailableError] while the store hangs, and when that time is over.
func (g *gate) enter(ctx context.Context, spare time.Duration) (*bound, error) {
	now, end := time.Now(), g.guard.over(ctx, spare)
	if !now.Before(end) {
		return nil, &UnavailableError{g.name, errOver}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hangs(now) {
		if now.Sub(g.tried) < HangsAfter {
			return nil, &UnavailableError{g.name, errHangs}
		}
		g.tried = now
	}
	if g.waiting++; g.since.IsZero() {
		g.since = now
	}
	b := &bound{gate: g}
	b.Init(ctx, end)
	return b, nil
}

// leave notes that a call has returned, with or without an answer.
func (g *gate) leave(answered bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	switch {
	case answered && g.waiting > 0:
		g.since = time.Now()
	case answered, g.waiting == 0 && !g.hangs(time.Now()): // the last caller may have given it too little time
		g.since = time.Time{}
	}
}

func (g *gate) hangs(now time.Time) bool { return !g.since.IsZero() && now.Sub(g.since) >= HangsAfter }

// hanging reports whether the store hangs.
func (g *gate) hanging() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hangs(time.Now())
}

// again probes the store in the background.
func (g *gate) again() {
	if g.guard.probes.Begin() {
		go func() {
			defer g.guard.probes.End()
			_ = g.ask()
		}()
	}
}

// ask makes a small request to the store.
func (g *gate) ask() (err error) {
	bounded, err := g.enter(context.Background(), 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	return g.probe(bounded)
}

// unavailable reports whether an error of the store means that the store could not be reached in time.
func unavailable(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}
