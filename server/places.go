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

// places counts the calls in progress, within [Limits].
type places struct {
	limits    Limits
	calls     room                // calls in progress
	lent      *semaphore.Weighted // requests in progress in mounted handlers
	sandbox   room                // calls in progress that a sandbox answers
	shares    *shares             // the calls of each account
	streams   *semaphore.Weighted // streams of changes
	listeners *shares             // the streams of each key
}

func newPlaces(l Limits) *places {
	return &places{
		limits:  l,
		calls:   newRoom(l.InFlight),
		lent:    semaphore.NewWeighted(l.Mounted),
		sandbox: newRoom(l.Sandbox),
		shares: newShares(l.PerAccount,
			"the account has %d calls in progress, which is its limit; wait until one has ended"),
		streams:   semaphore.NewWeighted(l.Streams),
		listeners: newShares(l.PerKey, "the key has %d streams open, which is its limit; close one first"),
	}
}

// forPlace is how long a call waits for a place when all are taken. Most calls are answered from the cache, and end in
// a fraction of that. Refusing a call takes nearly as much CPU time as such an answer, so that with more callers than the
// server can answer, refusing at once would leave less time for answers (go run ./examples/load --overload).
const forPlace = 100 * time.Millisecond

// admit counts a call of a known client, for its account and in total, until the request is answered. A call of a
// sandbox counts there as well. Only as many calls of an account wait for a place as it can have in progress, and a call
// that waits for a place of the sandbox takes none of the others.
func (p *places) admit(ctx context.Context, w *response, key *keys.Key) error {
	if err := p.share(w, key); err != nil {
		return err
	}
	if info, _ := platform.Lookup(platform.ID(w.target)); info.Sandbox {
		if err := p.sandbox.take(ctx, w); err != nil {
			return err
		}
	}
	return p.calls.take(ctx, w)
}

// share counts a call for its account. When the service is at its limit as well, that is the error.
func (p *places) share(w *response, key *keys.Key) error {
	if key == nil {
		return nil
	}
	w.key = key.ID
	give, err := p.shares.take(key.Account)
	if err == nil {
		w.keep(give)
		return nil
	}
	if !p.calls.TryAcquire(1) {
		return busy(w)
	}
	p.calls.Release(1)
	return err
}

// room is a number of places.
type room struct {
	*semaphore.Weighted
	leave func() // releases one
}

func newRoom(n int64) room {
	free := semaphore.NewWeighted(n)
	return room{free, func() { free.Release(1) }}
}

// take takes a place for a request. When none becomes free in time, it gives back what the request has, and fails.
func (o *room) take(ctx context.Context, w *response) error {
	if !o.TryAcquire(1) {
		ctx, cancel := context.WithTimeout(ctx, forPlace)
		defer cancel()
		if o.Acquire(ctx, 1) != nil {
			w.done()
			return busy(w)
		}
	}
	w.keep(o.leave)
	return nil
}

// busy returns the error of a request for which there is no place.
func busy(w *response) error {
	w.turnedAway = true
	return errBusy
}

// stream counts a stream of changes, in total and for its key, until give is called.
func (p *places) stream(key string) (give func(), err error) {
	if !p.streams.TryAcquire(1) {
		return nil, errBusy
	}
	back, err := p.listeners.take(key)
	if err != nil {
		p.streams.Release(1)
		return nil, err
	}
	return func() {
		back()
		p.streams.Release(1)
	}, nil
}

// takeAll takes the places of all calls and of all mounted handlers as they become free. It reports false if ctx ends
// before.
func (p *places) takeAll(ctx context.Context) bool {
	return p.calls.Acquire(ctx, p.limits.InFlight) == nil && p.lent.Acquire(ctx, p.limits.Mounted) == nil
}

// shares are the calls in progress of each account, or the streams of each key.
type shares struct {
	most int64
	full string // the detail of the problem at the limit, which has %d for the number

	mu sync.Mutex
	by map[string]int64 // only those that have any
}

func newShares(most int64, full string) *shares {
	return &shares{most: most, full: full, by: map[string]int64{}}
}

// take counts a call of an account, or a stream of a key, until give is called. At the limit it fails with a problem.
func (s *shares) take(of string) (give func(), err error) {
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
