package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Activity keeps recent events of a process: cache hits and misses, requests to upstreams, and which circuit breakers
// are open. The zero Activity is ready to use. It is safe for concurrent use.
type Activity struct {
	mu        sync.Mutex
	hits      int64
	misses    int64
	breakers  map[Breaker]observe.State
	upstreams map[Breaker]*Upstream
}

// Upstream is how many requests were sent to a provider for a platform.
type Upstream struct {
	Breaker
	Requests   int64 // repeated ones included
	Unanswered int64 // those without an answer that could be read whole
	Refused    int64 // those answered with a status of 400 or more
	Unchanged  int64 // those answered 304
}

// Breaker names the circuit breaker of a provider.
type Breaker struct {
	Platform platform.ID
	Provider string
}

// Observer returns an observer for the client whose calls a counts.
func (a *Activity) Observer() observe.Observer {
	return observe.Observer{Call: a.call, Breaker: a.breaker, Upstream: a.upstream}
}

func (a *Activity) upstream(u observe.Upstream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := Breaker{u.Platform, u.Provider}
	n := a.upstreams[of]
	if n == nil {
		if a.upstreams == nil {
			a.upstreams = map[Breaker]*Upstream{}
		}
		n = &Upstream{Breaker: of}
		a.upstreams[of] = n
	}
	n.Requests++
	switch {
	case u.Err != nil:
		n.Unanswered++
	case u.Status >= http.StatusBadRequest:
		n.Refused++
	case u.Revalidated:
		n.Unchanged++
	}
}

// Upstreams returns how many requests were sent to each upstream since the process started, by platform and provider.
// Upstreams without any are left out.
func (a *Activity) Upstreams() []Upstream {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Upstream
	for _, n := range a.upstreams {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Upstream) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Provider, b.Provider))
	})
	return out
}

// cached returns whether the answers of an operation are cached, by its name.
var cached = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, o := range socialdata.Operations() {
		out[o.Name] = o.TTL > 0
	}
	return out
})

func (a *Activity) call(c observe.Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !cached()[c.Operation]: // an answer that is never cached is not a miss
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
