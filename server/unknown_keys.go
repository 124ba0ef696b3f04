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
	// unknownKeysRate is how many calls with unknown keys an address can make in a second before they are delayed.
	unknownKeysRate = 100
	// unknownKeysWait is the maximum delay of such a call.
	unknownKeysWait = 2 * time.Second
	// unknownKeysMost is the maximum number of addresses in memory.
	unknownKeysMost = 10_000
)

// unknownKeys delays calls with unknown keys, for each address that they come from, so that looking up keys does not
// overload the store for other callers. The zero value is ready to use.
type unknownKeys struct {
	mu sync.Mutex
	by *simplelru.LRU[netip.Addr, *rate.Limiter]
}

// slow waits as long as a call from addr with an unknown key has to, or until ctx ends. It is called after the lookup,
// with the same delay for every key that is not accepted.
func (s *unknownKeys) slow(ctx context.Context, addr netip.Addr) {
	r := s.of(addr).Reserve()
	wait := r.Delay()
	if wait > unknownKeysWait {
		r.Cancel()
		wait = unknownKeysWait
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

func (s *unknownKeys) of(addr netip.Addr) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by, _ = simplelru.NewLRU[netip.Addr, *rate.Limiter](unknownKeysMost, nil) // fails only for a size below 1
	}
	l, ok := s.by.Get(addr)
	if !ok {
		l = rate.NewLimiter(unknownKeysRate, unknownKeysRate)
		s.by.Add(addr, l)
	}
	return l
}
