package upstreams

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/providers"
)

const (
	fewSubjects  = 3         // from which on failures speak against the upstream (D51, D98)
	fewAccounts  = 2         // so many must have failed, where as many call the platform
	longestPause = time.Hour // that an upstream may ask for; then one call tries whether it still means it
)

// Source is one provider, with what the pool remembers about it.
type Source struct {
	Provider *providers.Provider // read only

	serves  map[providers.Op]bool
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}] // nil for none

	mu       sync.Mutex
	certain  int             // failures since the last success that speak against the upstream by themselves
	suspects map[string]bool // subjects whose failures since the last success count once each
	subjects map[string]bool // some of all that have failed since the last success
	accounts map[string]bool // some of those that have met a failure since then
	crowded  bool            // several accounts have called the platform lately
	pauses   map[providers.Op]pause
}

// pause is how long an upstream wants to be left alone with an operation.
type pause struct {
	until time.Time
	why   *providers.Error
}

func newSource(p *providers.Provider) *Source {
	s := &Source{
		Provider: p, serves: map[providers.Op]bool{}, pauses: map[providers.Op]pause{},
		suspects: map[string]bool{}, subjects: map[string]bool{}, accounts: map[string]bool{},
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
// came to by its own path and query says nothing. Crowded reports whether several accounts call the platform.
func (s *Source) blame(err error, subject Subject, account string, crowded bool) error {
	probing := s.halfOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crowded = crowded
	if err == nil || errors.Is(err, providers.ErrNotFound) {
		s.certain = 0
		clear(s.suspects)
		clear(s.subjects)
		clear(s.accounts)
		return nil
	}
	switch providers.BlameOf(err) {
	case providers.BlameUpstream:
		s.certain++
		s.met(subject.Name, account)
		return errFailed
	case providers.BlameSubject:
		if subject.Raw || s.suspects[subject.Name] && !probing {
			return errNoVerdict
		}
		if len(s.suspects) < tripsAnyway { // more need not be remembered
			s.suspects[subject.Name] = true
		}
		s.met(subject.Name, account)
		if len(s.suspects) >= fewSubjects {
			return errFailed
		}
	case providers.BlameNobody:
	}
	return errNoVerdict
}

// met notes who met a failure. No more is remembered than is asked for.
func (s *Source) met(subject, account string) {
	if len(s.subjects) < fewSubjects {
		s.subjects[subject] = true
	}
	if len(s.accounts) < fewAccounts {
		s.accounts[account] = true
	}
}

// inARow counts the failures since the last success that speak against the upstream.
func (s *Source) inARow() int {
	if len(s.suspects) < fewSubjects {
		return s.certain
	}
	return s.certain + len(s.suspects)
}

// trips reports whether the failures since the last success open the circuit, given those of the last minute: enough of
// them from different subjects and, where several accounts call, from different accounts, or very many in a row.
func (s *Source) trips(calls, failed uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.inARow() // is counted without the minute: calls that hang come in slowly
	broad := len(s.subjects) >= fewSubjects && (!s.crowded || len(s.accounts) >= fewAccounts)
	return n >= tripsAnyway || broad && (n >= tripsAt || calls >= 20 && failed*10 >= calls*6)
}

// heed leaves the upstream alone with op for as long as it has asked, an hour at most. What holds for one account is not
// the upstream's word.
func (s *Source) heed(err error, op providers.Op, now time.Time) {
	e, ok := errors.AsType[*providers.Error](err)
	if s.breaker == nil || !ok || e.RetryAfter <= 0 || !errors.Is(e, providers.ErrUnavailable) ||
		errors.Is(e, providers.ErrShare) || errors.Is(e, providers.ErrBusy) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses[op] = pause{now.Add(min(e.RetryAfter, longestPause)), e}
}
