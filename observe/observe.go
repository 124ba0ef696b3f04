// Package observe reports what the engine does: calls, charges, requests to upstreams, circuit breakers, drift.
//
// An [Observer] is a table of functions; nil ones are skipped. Telemetry is built on it; this package measures, keeps
// and exports nothing. No event contains a credential, a query or an upstream's text.
package observe

import (
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Observer is notified of what the engine does. Its functions are called concurrently, in the middle of the work: they
// must return soon, and must not call the engine.
type Observer struct {
	Call     func(Call)     // a call has ended
	Charge   func(Charge)   // an account has been charged
	Upstream func(Upstream) // a request to an upstream has ended
	Breaker  func(Breaker)  // a circuit breaker has changed its state
	Drift    func(Drift)    // a row or object of an upstream did not have the expected form
	Invented func(Invented) // an enricher returned labels that do not exist
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

// Charge is an amount charged to an account. It is reported once for each charge entry, however often the call is
// repeated.
type Charge struct {
	Operation string
	Platform  string // "" when there is no platform
	Credits   int64  // positive
}

// Upstream is one request to an upstream, including retries.
type Upstream struct {
	Platform  platform.ID
	Provider  string
	Operation string
	callctx.UpstreamCall
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
	HalfOpen State = "half_open" // one call checks whether it works again
	Open     State = "open"      // it is not called
)

// Drift is one value in a row or object that did not have the expected form. It has the place of the value, never the
// value.
type Drift struct {
	Platform  platform.ID
	Provider  string
	Operation string
	Field     string // the same for all rows that break in the same way, such as media.thumbnail_url; "" for the whole
	Path      string // in this row, such as media[2].thumbnail_url
	LeftOut   bool   // the whole row was left out, not only the field
}

// Drifted counts how often one field of an operation has drifted.
type Drifted struct {
	Platform  platform.ID
	Operation string
	Field     string
	Count     int64
	Path      string // of the latest one
}

// Quota is the state of one of an upstream's limits. Used and Left add up to Limit.
type Quota struct {
	Platform platform.ID
	Provider string
	Name     string // of the limit, such as "searches"; "" when the provider names none
	Limit    int64  // 0 when it is unknown
	Used     int64
	Left     int64
	Resets   time.Time // when it resets, or the first of what was used comes back; zero when it is unknown
	Shared   bool      // usage of other processes counts, and a restart loses nothing
}

// Job is a search of several platforms that is stored: it is in progress, or its results can still be collected. It has
// nothing of what was asked or found.
type Job struct {
	ID       string
	Account  string // "" without accounts
	Key      string // id of the key; "" for none
	Begun    time.Time
	Deadline time.Time // when every part has ended in any case
	Ended    time.Time // when every part had ended; zero before
	State    JobState
	Parts    []JobPart
	Held     int64 // credits held for what is not decided, enrichment included
	Charged  int64 // credits charged so far, enrichment included
}

// BulkJob is a bulk job of an account. It has nothing of what was asked or found.
type BulkJob struct {
	schema.BulkJob

	Account   string // "" without accounts
	Key       string // id of the key that pays; "" for none
	CreatedAt time.Time
	EndedAt   time.Time // zero while it is not done and not ended
}

// JobPart is the share of one platform in a [Job].
type JobPart struct {
	Platform platform.ID
	State    schema.PlatformState
	Held     int64 // credits
	Charged  int64 // credits
}

// JobState is how far a [Job] is.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running" // something is not decided yet
	JobLate    JobState = "late"    // and the deadline has passed: the next request for the job settles it
	JobReady   JobState = "ready"   // everything is decided, and can be collected
)

// Invented counts the labels in an enricher's answer that do not exist.
type Invented struct {
	Operation string
	Words     int
}

// Filled returns o with nil functions replaced by ones that do nothing.
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

// Join returns an observer that notifies each of all.
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

// each returns a function that calls the non-nil functions of all, or nil when there are none.
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
