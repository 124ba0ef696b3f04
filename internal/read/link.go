package read

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/providers"
)

// link is one provider with what the engine keeps about it.
type link struct {
	p       *providers.Provider
	serves  map[providers.Op]bool
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newLink(p *providers.Provider) *link {
	l := &link{p: p, serves: map[providers.Op]bool{}}
	for _, op := range providers.Ops() {
		l.serves[op] = p.Serves(op)
	}
	// Linked profiles are our own derivation: a profile is enough for it.
	l.serves[providers.OpLinked] = l.serves[providers.OpLinked] || l.serves[providers.OpProfile]
	l.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: p.Name, Interval: time.Minute, Timeout: 20 * time.Second, MaxRequests: 1,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			return n.ConsecutiveFailures >= 8 || n.Requests >= 20 && n.TotalFailures*10 >= n.Requests*6
		},
		IsSuccessful: func(err error) bool { return !isOutage(err) || isCounted(err) },
	})
	return l
}

// open tells whether the provider's circuit is open.
func (l *link) open() bool { return l.breaker.State() == gobreaker.StateOpen }

// isFailure tells whether err is the upstream's failure, rather than an answer or the caller's mistake.
func isFailure(err error) bool {
	return err != nil && !errors.Is(err, providers.ErrNotFound) && !errors.Is(err, providers.ErrInvalid) &&
		!errors.Is(err, providers.ErrCursor) && !errors.Is(err, context.Canceled)
}

// isOutage tells whether err speaks for stopping to call the provider at all. A used-up quota does not: it names its
// own end, and closes one bucket of perhaps several.
func isOutage(err error) bool {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.RetryAfter > 0 {
		return false
	}
	return isFailure(err) && !errors.Is(err, providers.ErrUnsupported)
}

// countedError is the failure of a read inside a read, which the inner one has answered for.
type countedError struct{ error }

func (e countedError) Unwrap() error { return e.error }

// isCounted tells whether err has been counted against the provider already.
func isCounted(err error) bool {
	_, ok := errors.AsType[countedError](err)
	return ok
}

// OnlyTimeouts tells whether err says that every provider that was asked ran out of time.
func OnlyTimeouts(err error) bool {
	return errors.Is(err, providers.ErrTimeout) && !errors.Is(err, providers.ErrUnavailable)
}
