package dashboard

import (
	"sync"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Activity keeps recent events of a process: cache hits and misses, and which circuit breakers are open. The zero
// Activity is ready to use. It is safe for concurrent use.
type Activity struct {
	mu       sync.Mutex
	hits     int64
	misses   int64
	breakers map[Breaker]observe.State
}

// Breaker names the circuit breaker of a provider.
type Breaker struct {
	Platform platform.ID
	Provider string
}

// Observer returns an observer for the client whose calls a counts.
func (a *Activity) Observer() observe.Observer {
	return observe.Observer{Call: a.call, Breaker: a.breaker}
}

func (a *Activity) call(c observe.Call) {
	o := socialdata.Operation(c.Operation)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case o == nil || o.TTL == 0: // an answer that is never cached is not a miss
	case c.Cache == schema.Hit:
		a.hits++
	case c.Cache == schema.Miss:
		a.misses++
	}
}

func (a *Activity) breaker(b observe.Breaker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.breakers == nil {
		a.breakers = map[Breaker]observe.State{}
	}
	a.breakers[Breaker{b.Platform, b.Provider}] = b.State
}

// Cache returns how many answers came from the cache since the process started, and how many did not.
func (a *Activity) Cache() (hits, misses int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hits, a.misses
}

// Broken returns the breakers that are not closed.
func (a *Activity) Broken() map[Breaker]observe.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[Breaker]observe.State{}
	for b, state := range a.breakers {
		if state != observe.Closed {
			out[b] = state
		}
	}
	return out
}
