package server

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

const (
	// strangersRate is how many calls with unknown keys an address may make in a second before they are slowed.
	strangersRate = 100
	// strangersWait is how long such a call waits at most.
	strangersWait = 2 * time.Second
	// strangersMost is how many addresses are remembered.
	strangersMost = 10_000
)

// strangers slow calls with unknown keys, for each address that they come from: looking keys up must not keep the store
// from those who pay. The zero value is ready for use.
type strangers struct {
	mu sync.Mutex
	by *simplelru.LRU[netip.Addr, *rate.Limiter]
}

// slow waits as long as a call from addr with an unknown key has to, or until ctx ends. It comes after the look-up, and is
// the same for every key that is not accepted.
func (s *strangers) slow(ctx context.Context, addr netip.Addr) {
	r := s.of(addr).Reserve()
	wait := r.Delay()
	if wait > strangersWait {
		r.Cancel()
		wait = strangersWait
	}
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (s *strangers) of(addr netip.Addr) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by, _ = simplelru.NewLRU[netip.Addr, *rate.Limiter](strangersMost, nil) // fails on a size below 1 only
	}
	l, ok := s.by.Get(addr)
	if !ok {
		l = rate.NewLimiter(strangersRate, strangersRate)
		s.by.Add(addr, l)
	}
	return l
}
