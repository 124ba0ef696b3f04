// Package observe is where the engine tells what it does: calls, charges, requests to upstreams, circuit breakers, drift.
//
// An [Observer] is a table of functions, and a nil one is not told. Telemetry is built on it; nothing in here measures,
// keeps or exports anything. No event holds a credential, a query or what an upstream said.
package observe

import (
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Observer is told what the engine does. Its functions are called by many goroutines at once, in the middle of the
// work: they return soon, and call nothing of the engine.
type Observer struct {
	Call     func(Call)     // a call has ended
	Charge   func(Charge)   // an account has been charged
	Upstream func(Upstream) // a request to an upstream has ended
	Breaker  func(Breaker)  // a circuit breaker has changed its state
	Drift    func(Drift)    // a row or object of an upstream was not as it should be
	Invented func(Invented) // an enricher has made up words
}

// Call is one call of an operation.
type Call struct {
	Operation string
	Platform  string            // of a read, or the provider of a raw one; else ""
	Code      problem.Code      // of a failure; "" for success
	Cache     schema.CacheState // of a success
	Credits   int64             // charged
	Replayed  bool              // answered from the record of its idempotency key
	Duration  time.Duration
}

// Charge is credits that an account has been charged: once for each charge in its books, whoever calls and how often.
type Charge struct {
	Operation string
	Platform  string // "" for what is of no platform
	Credits   int64  // more than 0
}

// Upstream is one request to an upstream, repeated ones included.
type Upstream struct {
	Platform  platform.ID
	Provider  string
	Operation string
	providers.UpstreamCall
}

// Breaker is a change of a provider's circuit breaker.
type Breaker struct {
	Platform platform.ID
	Provider string
	State    State
}

// State is the state of a circuit breaker.
type State string

// The states of a circuit breaker.
const (
	Closed   State = "closed"    // the provider is called
	HalfOpen State = "half_open" // one call tries whether it answers again
	Open     State = "open"      // it is not called
)

// Drift is one place in a row or object that was not as it should be. Where it stands is told, never what stood there.
type Drift struct {
	Platform  platform.ID
	Provider  string
	Operation string
	Field     string // the same for all rows that break in one way, such as media.thumbnail_url; "" for the whole
	Path      string // in this one row, such as media[2].thumbnail_url
	LeftOut   bool   // the row was given up, not only the field
}

// Drifted is how often one field of an operation has drifted.
type Drifted struct {
	Platform  platform.ID
	Operation string
	Field     string
	Count     int64
	Path      string // of the last one
}

// Invented counts what an enricher has answered beyond the words that there are.
type Invented struct {
	Operation string
	Words     int
}

// Filled returns o with functions that do nothing in place of those that are nil.
func (o Observer) Filled() Observer {
	fill(&o.Call)
	fill(&o.Charge)
	fill(&o.Upstream)
	fill(&o.Breaker)
	fill(&o.Drift)
	fill(&o.Invented)
	return o
}

func fill[T any](f *func(T)) {
	if *f == nil {
		*f = func(T) {}
	}
}

// Join returns an observer that tells each of all.
func Join(all ...Observer) Observer {
	return Observer{
		Call:     each(all, func(o Observer) func(Call) { return o.Call }),
		Charge:   each(all, func(o Observer) func(Charge) { return o.Charge }),
		Upstream: each(all, func(o Observer) func(Upstream) { return o.Upstream }),
		Breaker:  each(all, func(o Observer) func(Breaker) { return o.Breaker }),
		Drift:    each(all, func(o Observer) func(Drift) { return o.Drift }),
		Invented: each(all, func(o Observer) func(Invented) { return o.Invented }),
	}
}

// each returns what tells those of all who want to hear it, or nil when nobody does.
func each[T any](all []Observer, of func(Observer) func(T)) func(T) {
	var tell []func(T)
	for _, o := range all {
		if f := of(o); f != nil {
			tell = append(tell, f)
		}
	}
	if tell == nil {
		return nil
	}
	return func(v T) {
		for _, f := range tell {
			f(v)
		}
	}
}
