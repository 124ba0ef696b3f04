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
	calls     *semaphore.Weighted // calls in progress
	lent      *semaphore.Weighted // requests in progress in mounted handlers
	sandbox   *semaphore.Weighted // calls in progress that a sandbox answers
	shares    *shares             // the calls of each account
	streams   *semaphore.Weighted // streams of changes
	listeners *shares             // the streams of each key
}

func newPlaces(l Limits) *places {
	return &places{
		limits:  l,
		calls:   semaphore.NewWeighted(l.InFlight),
		lent:    semaphore.NewWeighted(l.Mounted),
		sandbox: semaphore.NewWeighted(l.Sandbox),
		shares: newShares(l.PerAccount,
			"the account has %d calls in progress, which is its limit; wait until one has ended"),
		streams:   semaphore.NewWeighted(l.Streams),
		listeners: newShares(l.PerKey, "the key has %d streams open, which is its limit; close one first"),
	}
}

// admit counts a call of a known client, in total and for its account, until the request is answered.
func (p *places) admit(w *response, key *keys.Key) error {
	if key != nil {
		w.key = key.ID
	}
	if !p.calls.TryAcquire(1) {
		w.turnedAway = true
		return errBusy
	}
	if key == nil {
		w.leave = func() { p.calls.Release(1) }
		return nil
	}
	give, err := p.shares.take(key.Account)
	if err != nil {
		p.calls.Release(1)
		return err
	}
	w.leave = func() {
		give()
		p.calls.Release(1)
	}
	return nil
}

// play counts a call of a sandbox, besides the call itself, if the request is for a sandbox.
func (p *places) play(w *response) error {
	if info, _ := platform.Lookup(platform.ID(w.target)); !info.Sandbox {
		return nil
	}
	if !p.sandbox.TryAcquire(1) {
		w.turnedAway = true
		return errBusy
	}
	leave := w.leave
	w.leave = func() {
		p.sandbox.Release(1)
		leave()
	}
	return nil
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
