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
	// HangsAfter is how long a store may leave all of its calls without an answer before it is taken for hanging.
	HangsAfter = 2 * time.Second
	// patience is how long a store has for an answer that no call waits for.
	patience = 10 * time.Second
	// grace is what a store has at least, and what is kept of a call's time to ask what became of a charge.
	grace = 2 * time.Second
)

// UnavailableError says that a store cannot be used now: it hangs, it has not answered in time, or it says so itself.
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

// errHangs says that a store hangs, and that another call is finding out whether it still does.
var errHangs = fmt.Errorf("it has not answered for %v", HangsAfter)

// Guard stands before the stores that calls need. No call waits for one of them beyond its own time, and while one
// hangs, calls that need it fail at once but for one every [HangsAfter] that tries.
type Guard struct {
	timeout time.Duration // of a call
	probes  background.Group

	ledger, keys, records gate
}

// NewGuard returns the guard of stores that serve calls of that time-out.
func NewGuard(timeout time.Duration) *Guard {
	g := &Guard{timeout: timeout}
	for name, gate := range map[string]*gate{"ledger": &g.ledger, "keys": &g.keys, "records": &g.records} {
		gate.guard, gate.name = g, name
	}
	return g
}

// over returns when the time of the call is over that is worked for in ctx, or our patience where none is.
func (g *Guard) over(ctx context.Context) time.Time {
	now := time.Now()
	begun := operation.Begun(ctx)
	if begun.IsZero() {
		return now.Add(patience)
	}
	if over := begun.Add(g.timeout); over.After(now.Add(grace)) {
		return over
	}
	return now.Add(grace)
}

// Hanging returns the names of the stores that hang. Each of them is asked again in the background, so that it is found
// to be back though no call comes.
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

// Close waits until nothing is asked in the background.
func (g *Guard) Close(ctx context.Context) error { return g.probes.Close(ctx) }

// gate is the way to one store.
type gate struct {
	guard *Guard
	name  string
	probe func(ctx context.Context) error // asks the store something small; nil when there is no store

	mu      sync.Mutex
	waiting int
	since   time.Time // when a call began to wait, or one was last answered, since when no other was; else zero
	tried   time.Time // when a call was last let through though the store hangs
}

// enter lets a call of the store begin, with the time that it has; spare is left of the call's own. It fails with an
// [UnavailableError] while the store hangs.
func (g *gate) enter(ctx context.Context, spare time.Duration) (*bound, error) {
	now := time.Now()
	end := g.guard.over(ctx).Add(-spare)
	if least := now.Add(grace); end.Before(least) {
		end = least
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
	return &bound{Context: ctx, gate: g, end: end}, nil
}

// leave notes that a call has come back, with an answer or without.
func (g *gate) leave(answered bool) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	switch {
	case answered && g.waiting > 0:
		g.since = now
	case answered, g.waiting == 0 && !g.hangs(now): // or the caller has left it no time
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

// again asks the store in the background.
func (g *gate) again() {
	if g.guard.probes.Begin() {
		go func() {
			defer g.guard.probes.End()
			_ = g.ask()
		}()
	}
}

// ask asks the store something small.
func (g *gate) ask() (err error) {
	bounded, err := g.enter(context.Background(), 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	return g.probe(bounded)
}

// unavailable reports whether a store says of its error that it could not be reached, or not be used in time.
func unavailable(err error) bool {
	says, ok := errors.AsType[interface {
		error
		Unavailable() bool
	}](err)
	return ok && says.Unavailable()
}
