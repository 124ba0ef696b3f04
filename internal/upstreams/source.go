package upstreams

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/providers"
)

const (
	fewSubjects  = 3         // from which on what failed for single subjects speaks against the upstream
	longestPause = time.Hour // that an upstream may ask for; then one call tries whether it still means it
)

// Source is one provider, with what the pool remembers about it.
type Source struct {
	Provider *providers.Provider // read only

	serves  map[providers.Op]bool
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}] // nil for none

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

func newSource(p *providers.Provider) *Source {
	s := &Source{
		Provider: p, serves: map[providers.Op]bool{}, suspects: map[string]bool{}, pauses: map[providers.Op]pause{},
	}
	for _, op := range providers.Ops() {
		s.serves[op] = p.Serves(op)
	}
	s.serves[OpConfirmed] = p.Serves(providers.OpLinked)
	// Linked profiles are our own derivation: a profile is enough for it.
	s.serves[providers.OpLinked] = s.serves[providers.OpLinked] || s.serves[providers.OpProfile]
	return s
}

// Serves reports whether the provider serves op, by itself or by what is derived from it.
func (s *Source) Serves(op providers.Op) bool { return s.serves[op] }

// usable reports whether the provider serves anything, and its circuit is not open.
func (s *Source) usable() bool {
	for _, serves := range s.serves {
		if serves {
			return !s.open()
		}
	}
	return false
}

// ready reports whether the provider may be asked for op.
func (s *Source) ready(op providers.Op, now time.Time) bool {
	s.mu.Lock()
	resting := now.Before(s.pauses[op].until)
	s.mu.Unlock()
	return !resting && !s.open()
}

// admit lets one call through, or says why not. Done is told how it ended.
func (s *Source) admit(op providers.Op, now time.Time) (done func(error), err error) {
	s.mu.Lock()
	rest := s.pauses[op]
	s.mu.Unlock()
	if wait := rest.until.Sub(now); wait > 0 {
		return nil, &providers.Error{
			Kind: providers.ErrUnavailable, Detail: rest.why.Detail, RetryAfter: wait, Blame: providers.BlameNobody, Err: rest.why,
		}
	}
	if s.breaker == nil {
		return func(error) {}, nil
	}
	if done, err = s.breaker.Allow(); err != nil {
		return nil, providers.Unavailable(err, "the upstream has failed too often and is given a rest")
	}
	return done, nil
}

var (
	errNoVerdict = errors.New("says nothing about the upstream")
	errFailed    = errors.New("speaks against the upstream")
)

// blame notes what a call for subject came to, and returns what the breaker is told: nil for a success. What a raw read
// came to by its own path and query says nothing.
func (s *Source) blame(err error, subject string, raw bool) error {
	probing := s.halfOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || errors.Is(err, providers.ErrNotFound) {
		s.certain = 0
		clear(s.suspects)
		return nil
	}
	switch providers.BlameOf(err) {
	case providers.BlameUpstream:
		s.certain++
		return errFailed
	case providers.BlameSubject:
		if raw || s.suspects[subject] && !probing {
			return errNoVerdict
		}
		if len(s.suspects) < tripsAt { // more need not be remembered
			s.suspects[subject] = true
		}
		if len(s.suspects) >= fewSubjects {
			return errFailed
		}
	case providers.BlameNobody:
	}
	return errNoVerdict
}

// inARow counts the failures since the last success that speak against the upstream.
func (s *Source) inARow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.suspects) < fewSubjects {
		return s.certain
	}
	return s.certain + len(s.suspects)
}

// heed leaves the upstream alone with op for as long as it has asked, an hour at most.
func (s *Source) heed(err error, op providers.Op, now time.Time) {
	e, ok := errors.AsType[*providers.Error](err)
	if s.breaker == nil || !ok || e.RetryAfter <= 0 || !errors.Is(e, providers.ErrUnavailable) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses[op] = pause{now.Add(min(e.RetryAfter, longestPause)), e}
}
