package read

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

const (
	tripsAt      = 8 // failures in a row
	fewSubjects  = 3 // from which on what failed for single subjects speaks against the upstream
	restOfOpen   = 20 * time.Second
	longestPause = time.Hour // that an upstream may ask for; then one call tries whether it still means it
)

// link is one provider with what the engine keeps about it.
type link struct {
	p       *providers.Provider
	serves  map[providers.Op]bool
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}] // nil for the sandbox, which callers make fail as they like

	mu       sync.Mutex
	certain  int             // failures since the last success that speak against the upstream by themselves
	suspects map[string]bool // subjects that have failed since the last success
	pauses   map[providers.Op]pause
}

// pause is how long an upstream wants to be left alone with an operation.
type pause struct {
	until time.Time
	why   *providers.Error
}

func newLink(p *providers.Provider, o observe.Observer) *link {
	l := &link{p: p, serves: map[providers.Op]bool{}, suspects: map[string]bool{}, pauses: map[providers.Op]pause{}}
	for _, op := range providers.Ops() {
		l.serves[op] = p.Serves(op)
	}
	l.serves[opConfirmed] = p.Serves(providers.OpLinked)
	// Linked profiles are our own derivation: a profile is enough for it.
	l.serves[providers.OpLinked] = l.serves[providers.OpLinked] || l.serves[providers.OpProfile]
	if p.Platform == platform.Mock {
		return l
	}
	l.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: p.Name, Interval: time.Minute, BucketPeriod: 10 * time.Second, Timeout: restOfOpen, MaxRequests: 1,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			// Failures in a row are counted without the minute: calls that hang come in slowly.
			return l.inARow() >= tripsAt || n.Requests >= 20 && n.TotalFailures*10 >= n.Requests*6
		},
		IsSuccessful: func(err error) bool { return err == nil },
		IsExcluded:   func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			o.Breaker(observe.Breaker{Platform: p.Platform, Provider: p.Name, State: stateOf(to)})
		},
	})
	return l
}

func stateOf(s gobreaker.State) observe.State {
	switch s {
	case gobreaker.StateOpen:
		return observe.Open
	case gobreaker.StateHalfOpen:
		return observe.HalfOpen
	default:
		return observe.Closed
	}
}

// inARow counts the failures since the last success that speak against the upstream.
func (l *link) inARow() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.suspects) < fewSubjects {
		return l.certain
	}
	return l.certain + len(l.suspects)
}

// open tells whether the provider's circuit is open.
func (l *link) open() bool { return l.breaker != nil && l.breaker.State() == gobreaker.StateOpen }

// ready tells whether the provider may be asked for op.
func (l *link) ready(op providers.Op, now time.Time) bool {
	l.mu.Lock()
	resting := now.Before(l.pauses[op].until)
	l.mu.Unlock()
	return !resting && !l.open()
}

// admit lets one call through, or says why not. Done is told how it ended.
func (l *link) admit(op providers.Op, now time.Time) (done func(error), err error) {
	l.mu.Lock()
	rest := l.pauses[op]
	l.mu.Unlock()
	if wait := rest.until.Sub(now); wait > 0 {
		return nil, &providers.Error{
			Kind: providers.ErrUnavailable, Detail: rest.why.Detail, RetryAfter: wait, Blame: providers.BlameNobody, Err: rest.why,
		}
	}
	if l.breaker == nil {
		return func(error) {}, nil
	}
	if done, err = l.breaker.Allow(); err != nil {
		return nil, providers.Unavailable(err, "the upstream has failed too often and is given a rest")
	}
	return done, nil
}

var (
	errNoVerdict = errors.New("says nothing about the upstream")
	errFailed    = errors.New("speaks against the upstream")
)

// blame notes what a reading of subject came to, and returns what the breaker is told: nil for a success. What a raw read
// came to by its own path and query says nothing.
func (l *link) blame(err error, subject string, raw bool) error {
	probing := l.breaker != nil && l.breaker.State() == gobreaker.StateHalfOpen
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || errors.Is(err, providers.ErrNotFound) {
		l.certain = 0
		clear(l.suspects)
		return nil
	}
	switch providers.BlameOf(err) {
	case providers.BlameUpstream:
		l.certain++
		return errFailed
	case providers.BlameSubject:
		if raw || l.suspects[subject] && !probing {
			return errNoVerdict
		}
		if len(l.suspects) < tripsAt { // more need not be remembered
			l.suspects[subject] = true
		}
		if len(l.suspects) >= fewSubjects {
			return errFailed
		}
	case providers.BlameNobody:
	}
	return errNoVerdict
}

// heed leaves the upstream alone with op for as long as it has asked, an hour at most.
func (l *link) heed(err error, op providers.Op, now time.Time) {
	e, ok := errors.AsType[*providers.Error](err)
	if l.breaker == nil || !ok || e.RetryAfter <= 0 || !errors.Is(e, providers.ErrUnavailable) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pauses[op] = pause{now.Add(min(e.RetryAfter, longestPause)), e}
}

// isFailure tells whether err is the upstream's failure, rather than an answer or the caller's mistake.
func isFailure(err error) bool {
	return err != nil && !errors.Is(err, providers.ErrNotHere) && !isFinal(err)
}

// isFinal tells whether err is an answer that no other provider could better.
func isFinal(err error) bool {
	return errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrInvalid) || errors.Is(err, providers.ErrCursor)
}

// OnlyTimeouts tells whether err says that every provider that was asked ran out of time.
func OnlyTimeouts(err error) bool {
	return errors.Is(err, providers.ErrTimeout) && !errors.Is(err, providers.ErrUnavailable)
}
