package upstreams

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/providers"
)

const (
	fewSubjects  = 3         // subjects that must fail before failures count against the upstream (D51, D98)
	fewAccounts  = 2         // accounts that must have failures, if at least as many call the platform
	longestPause = time.Hour // that an upstream can ask for; then one call checks whether it still applies
	tripsAt      = 8         // failures in a row, of several subjects and accounts
	tripsAnyway  = 10        // failures in a row, of any accounts
)

// OpConfirmed is the part of [providers.OpLinked] that a platform answers itself. Callers cannot call it directly.
const OpConfirmed providers.Op = "linked/confirmed"

// OpOpen opens a short link. Callers cannot call it directly, and a provider that only opens links serves no operation.
const OpOpen providers.Op = "open"

// Subject is what is read, and the sources that may read it.
type Subject struct {
	// Name identifies the subject: its failures count against a source once for each name. It contains the request, and
	// is neither logged nor shown.
	Name    string
	Sources []*Source // of the platform, in the order in which they are tried
	Behind  []*Source // tried afterwards, one by one: time is left for them
	Raw     bool      // the caller's own parameters are forwarded, so the result does not count for the upstream
}

// Source is one provider, with the results of its calls that the pool remembers.
type Source struct {
	Provider *providers.Provider // read-only

	serves  map[providers.Op]bool
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}] // nil for none

	mu        sync.Mutex
	successes uint64          // the number of successes
	unbroken  int             // failures since the last success that began after it
	certain   int             // failures since the last success that count against the upstream by themselves
	suspects  map[string]bool // subjects whose failures since the last success count once each
	subjects  map[string]bool // some of all that have failed since the last success
	accounts  map[string]bool // some of those that have met a failure since then
	crowded   bool            // several accounts have called the platform lately
	pauses    map[providers.Op]pause
}

// pause is until when an operation is not called, at the upstream's request.
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
	s.serves[OpOpen] = p.Open != nil
	// The engine derives linked profiles, which only needs profiles.
	s.serves[providers.OpLinked] = s.serves[providers.OpLinked] || s.serves[providers.OpProfile]
	return s
}

// Serves reports whether the provider serves op itself, or op can be derived from what it serves.
func (s *Source) Serves(op providers.Op) bool { return s.serves[op] }

// Lacking is [Pool.Lacking] for one source.
func (s *Source) Lacking(op providers.Op) error {
	settings := s.Missing(op)
	if len(settings) == 0 {
		return nil
	}
	return &providers.MissingError{Provider: s.Provider.Name, Platform: s.Provider.Platform, Settings: settings}
}

// Missing returns the names of the settings that would make s serve op; nil when no setting would. Operations derived
// from profiles need the settings of profiles. The provider owns the slice.
func (s *Source) Missing(op providers.Op) []string {
	settings := s.Provider.Missing[op]
	if len(settings) == 0 && op == providers.OpLinked {
		return s.Provider.Missing[providers.OpProfile]
	}
	return settings
}

// usable reports whether the provider serves anything, and its breaker is not open.
func (s *Source) usable() bool { return s.servesAnything() && !s.open() }

func (s *Source) servesAnything() bool {
	for op, serves := range s.serves {
		if serves && op != OpOpen {
			return true
		}
	}
	return false
}

// open reports whether the source's breaker is open.
func (s *Source) open() bool { return s.breaker != nil && s.breaker.State() == gobreaker.StateOpen }

// halfOpen reports whether the one call that tries the upstream again is in progress, or due.
func (s *Source) halfOpen() bool {
	return s.breaker != nil && s.breaker.State() == gobreaker.StateHalfOpen
}

// answered reports whether the provider has ever answered.
func (s *Source) answered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.successes > 0
}

// ready reports whether the provider may be called for op.
func (s *Source) ready(op providers.Op, now time.Time) bool {
	s.mu.Lock()
	resting := now.Before(s.pauses[op].until)
	s.mu.Unlock()
	return !resting && !s.open()
}

// admit lets one call through, or returns why not. done must be called with the result of the call, and began must be
// passed to blame.
func (s *Source) admit(op providers.Op, now time.Time) (done func(error), began uint64, err error) {
	s.mu.Lock()
	rest, began := s.pauses[op], s.successes
	s.mu.Unlock()
	if wait := rest.until.Sub(now); wait > 0 {
		return nil, 0, &providers.Error{
			Kind: providers.ErrUnavailable, Detail: rest.why.Detail, RetryAfter: wait, Blame: providers.BlameNone, Err: rest.why,
		}
	}
	if s.breaker == nil {
		return func(error) {}, began, nil
	}
	if done, err = s.breaker.Allow(); err != nil {
		return nil, 0, providers.Unavailable(err, "the upstream has failed too often and is not retried yet")
	}
	return done, began, nil
}

// passedOver returns why admit has let no call through, without anything from a request.
func passedOver(err error) string {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.RetryAfter > 0 {
		return "not called until the pause that it asked for has passed"
	}
	return "not called: it has failed too often and is not retried yet"
}

var (
	errNoVerdict = errors.New("does not count for the upstream")
	errFailed    = errors.New("counts as a failure of the upstream")
)

// blame records the result of a call for subject that began after that many successes, and returns the result for the
// breaker: nil for a success. A raw read's failure that is due to its own path and query is ignored. With crowded set,
// several accounts call the platform.
func (s *Source) blame(err error, subject Subject, account string, crowded bool, began uint64) error {
	probing := s.halfOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crowded = crowded
	if err == nil || errors.Is(err, providers.ErrNotFound) {
		s.successes++
		s.certain, s.unbroken = 0, 0
		clear(s.suspects)
		clear(s.subjects)
		clear(s.accounts)
		return nil
	}
	switch providers.BlameOf(err) {
	case providers.BlameUpstream:
		s.certain++
		s.met(subject.Name, account, began)
		return errFailed
	case providers.BlameSubject:
		if subject.Raw || s.suspects[subject.Name] && !probing {
			return errNoVerdict
		}
		if len(s.suspects) < tripsAnyway { // more are not needed
			s.suspects[subject.Name] = true
		}
		s.met(subject.Name, account, began)
		if len(s.suspects) >= fewSubjects {
			return errFailed
		}
	case providers.BlameNone:
	}
	return errNoVerdict
}

// met records the account that a failure has affected. It remembers no more than is needed.
func (s *Source) met(subject, account string, began uint64) {
	if began == s.successes {
		s.unbroken++
	}
	if len(s.subjects) < fewSubjects {
		s.subjects[subject] = true
	}
	if len(s.accounts) < fewAccounts {
		s.accounts[account] = true
	}
}

// inARow counts the failures since the last success that count against the upstream.
func (s *Source) inARow() int {
	if len(s.suspects) < fewSubjects {
		return s.certain
	}
	return s.certain + len(s.suspects)
}

// trips reports whether the failures since the last success open the breaker, given those of the last minute: enough of
// them with different subjects and, if several accounts call, from different accounts, or very many in a row. A failed
// call only counts as one in a row if no other call succeeded while it was in progress. Otherwise many calls of one
// account that time out together would open the breaker, although others are answered in the meantime.
func (s *Source) trips(calls, failed uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.inARow() // not only of the last minute, because hanging calls end slowly
	broad := len(s.subjects) >= fewSubjects && (!s.crowded || len(s.accounts) >= fewAccounts)
	return min(n, s.unbroken) >= tripsAnyway || broad && (n >= tripsAt || calls >= 20 && failed*10 >= calls*6)
}

// pauseAsRequested stops calls of op for as long as the upstream has requested, at most for an hour. It ignores limits that are not
// the upstream's own.
func (s *Source) pauseAsRequested(err error, op providers.Op, now time.Time) {
	e, ok := errors.AsType[*providers.Error](err)
	if s.breaker == nil || !ok || e.RetryAfter <= 0 || !errors.Is(e, providers.ErrUnavailable) ||
		errors.Is(e, providers.ErrShare) || errors.Is(e, providers.ErrBusy) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses[op] = pause{now.Add(min(e.RetryAfter, longestPause)), e}
}
