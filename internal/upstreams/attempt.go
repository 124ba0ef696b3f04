package upstreams

import (
	"errors"
	"sync/atomic"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Attempt is one call of one source. Its counters are written by several goroutines.
type Attempt struct {
	Provider *providers.Provider // read only

	pool      *Pool
	platform  platform.ID // which is read: a raw route may cost the base of another than the provider's
	operation string

	lease                            lease
	rows, drifted, leftOut, requests atomic.Int64
}

// Read counts rows that the provider has delivered.
func (a *Attempt) Read(rows int) { a.rows.Add(int64(rows)) }

// Broken notes an object that breaks the schema, or cannot be encoded: it is left out.
func (a *Attempt) Broken(err error) {
	a.row(true)
	if e, ok := errors.AsType[*schema.FieldError](err); ok {
		a.field(e.Place(), e.Field, true)
		return
	}
	a.field("", "", true)
}

// LeftOut counts the rows that could not be understood.
func (a *Attempt) LeftOut() int { return int(a.leftOut.Load()) }

// trace returns what the provider tells of the call.
func (a *Attempt) trace() *providers.Trace {
	return &providers.Trace{
		Drift: func(d providers.Drift) {
			a.row(d.LeftOut)
			if d.LeftOut {
				a.Read(1) // the provider never shows it
			}
			for _, path := range d.Paths {
				a.field(path, path, d.LeftOut)
			}
			if len(d.Paths) == 0 {
				a.field("", "", d.LeftOut)
			}
		},
		Room: a.lease.take,
		Upstream: func(c providers.UpstreamCall) {
			a.requests.Add(1)
			a.pool.cfg.Observer.Upstream(observe.Upstream{
				Platform: a.platform, Provider: a.Provider.Name, Operation: a.operation, UpstreamCall: c,
			})
		},
	}
}

// row counts a row that has drifted.
func (a *Attempt) row(leftOut bool) {
	a.drifted.Add(1)
	if leftOut {
		a.leftOut.Add(1)
	}
}

func (a *Attempt) field(field, path string, leftOut bool) {
	d := observe.Drift{
		Platform: a.platform, Provider: a.Provider.Name, Operation: a.operation, Field: field, Path: path, LeftOut: leftOut,
	}
	a.pool.drifts.count(d)
	a.pool.cfg.Observer.Drift(d)
}
