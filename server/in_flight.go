package server

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// inFlight counts the calls in progress, within [Limits].
type inFlight struct {
	limits         Limits
	calls          slots               // calls in progress
	mounts         *semaphore.Weighted // requests in progress in mounted handlers
	sandbox        slots               // calls in progress that a sandbox answers
	accounts       *counters           // the calls of each account
	streams        *semaphore.Weighted // streams of changes
	keyStreams     *counters           // the streams of each key
	accountStreams *counters           // the streams of each account, if there are several
}

func newInFlight(l Limits) *inFlight {
	return &inFlight{
		limits:  l,
		calls:   newSlots(l.InFlight),
		mounts:  semaphore.NewWeighted(l.Mounted),
		sandbox: newSlots(l.Sandbox),
		accounts: newCounters(l.PerAccount,
			"the account is at its limit of calls in progress, %d; wait until one has ended"),
		streams:        semaphore.NewWeighted(l.Streams),
		keyStreams:     newCounters(l.PerKey, "the key is at its limit of open streams, %d; close one first"),
		accountStreams: newCounters(max(1, l.Streams/4), "the account is at its limit of open streams, %d; close one first"),
	}
}

// slotPatience is how long a call waits for a slot when all are taken. Most calls are answered from the cache, and end in
// a fraction of that. Refusing a call takes nearly as much CPU time as such an answer, so that with more callers than the
// server can answer, refusing at once would leave less time for answers (go run ./examples/load --overload).
const slotPatience = 100 * time.Millisecond

// admit counts a call of a known client, for its account and in total, until the request is answered. A call of a
// sandbox counts there as well. Only as many calls of an account wait for a slot as it can have in progress, and a call
// that waits for a slot of the sandbox takes none of the others.
func (p *inFlight) admit(ctx context.Context, w *response, key *keys.Key) error {
	if err := p.countForAccount(w, key); err != nil {
		return err
	}
	if info, _ := platform.Lookup(platform.ID(w.target)); info.Sandbox {
		if err := p.sandbox.take(ctx, w); err != nil {
			return err
		}
	}
	return p.calls.take(ctx, w)
}

// countForAccount counts a call for its account. When the service is at its limit as well, that is the error.
func (p *inFlight) countForAccount(w *response, key *keys.Key) error {
	if key == nil {
		return nil
	}
	w.key = key.ID
	give, err := p.accounts.take(key.Account)
	if err == nil {
		w.releaseLater(give)
		return nil
	}
	if !p.calls.TryAcquire(1) {
		return busy(w)
	}
	p.calls.Release(1)
	return err
}

// slots is how many calls can be in progress.
type slots struct {
	*semaphore.Weighted
	release func() // releases one
}

func newSlots(n int64) slots {
	free := semaphore.NewWeighted(n)
	return slots{free, func() { free.Release(1) }}
}

// take takes a slot for a request. When none becomes free in time, it gives back what the request has, and fails.
func (o *slots) take(ctx context.Context, w *response) error {
	if !o.TryAcquire(1) {
		ctx, cancel := context.WithTimeout(ctx, slotPatience)
		defer cancel()
		if o.Acquire(ctx, 1) != nil {
			w.done()
			return busy(w)
		}
	}
	w.releaseLater(o.release)
	return nil
}

// busy returns the error of a request for which there is no slot.
func busy(w *response) error {
	w.turnedAway = true
	return errBusy
}

// stream counts a stream of changes, for its key, for its account unless that is alone, and in total, until give is
// called.
func (p *inFlight) stream(key *keys.Key, alone bool) (give func(), err error) {
	ofKey, err := p.keyStreams.take(key.ID)
	if err != nil {
		return nil, err
	}
	ofAccount := func() {}
	if !alone {
		if ofAccount, err = p.accountStreams.take(key.Account); err != nil {
			ofKey()
			return nil, err
		}
	}
	if !p.streams.TryAcquire(1) {
		ofAccount()
		ofKey()
		return nil, errBusy
	}
	return func() {
		p.streams.Release(1)
		ofAccount()
		ofKey()
	}, nil
}

// takeAll takes the slots of all calls and of all mounted handlers as they become free. It reports false if ctx ends
// before.
func (p *inFlight) takeAll(ctx context.Context) bool {
	return p.calls.Acquire(ctx, p.limits.InFlight) == nil && p.mounts.Acquire(ctx, p.limits.Mounted) == nil
}

// counters count the calls in progress or the streams of each account, or the streams of each key, up to a limit.
type counters struct {
	most int64
	full string // the detail of the problem at the limit, which has %d for the number

	mu sync.Mutex
	by map[string]int64 // only those that have any
}

func newCounters(most int64, full string) *counters {
	return &counters{most: most, full: full, by: map[string]int64{}}
}

// take counts a call or a stream until give is called. At the limit it fails with a problem.
func (s *counters) take(of string) (give func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[of] >= s.most {
		return nil, problem.New(problem.RateLimited, s.full, s.most).After(time.Second)
	}
	s.by[of]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by[of]--; s.by[of] == 0 {
			delete(s.by, of)
		}
	}, nil
}
