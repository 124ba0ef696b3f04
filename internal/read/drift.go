package read

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// mostFields is how many fields are counted. What drifts beyond them is told to the observer all the same.
const mostFields = 10_000

// drifts counts what has drifted, by platform, operation and field. Its zero value is ready for use.
type drifts struct {
	mu sync.Mutex
	by map[driftKey]*observe.Drifted
}

type driftKey struct {
	platform         platform.ID
	operation, field string
}

func (d *drifts) count(e observe.Drift) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[driftKey]*observe.Drifted{}
	}
	key := driftKey{e.Platform, e.Operation, e.Field}
	c := d.by[key]
	if c == nil {
		if len(d.by) >= mostFields {
			return
		}
		c = &observe.Drifted{Platform: e.Platform, Operation: e.Operation, Field: e.Field}
		d.by[key] = c
	}
	c.Count++
	c.Path = e.Path
}

// Drifted returns what has drifted since the start, in the order of platform, operation and field.
func (r *Reader) Drifted() []observe.Drifted {
	r.drifts.mu.Lock()
	defer r.drifts.mu.Unlock()
	out := make([]observe.Drifted, 0, len(r.drifts.by))
	for _, d := range r.drifts.by {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b observe.Drifted) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Field, b.Field))
	})
	return out
}

// watch is what is noticed during one reading from one provider. Its counters are written by several goroutines.
type watch struct {
	r *Reader
	q *Query
	p *providers.Provider

	drifted, leftOut atomic.Int64 // rows
	lost             atomic.Int64 // those of leftOut that the provider never showed
}

// trace returns what the provider tells of the reading.
func (w *watch) trace() *providers.Trace {
	return &providers.Trace{
		Drift: func(d providers.Drift) {
			w.row(d.LeftOut)
			if d.LeftOut {
				w.lost.Add(1)
			}
			for _, path := range d.Paths {
				w.field(path, path, d.LeftOut)
			}
			if len(d.Paths) == 0 {
				w.field("", "", d.LeftOut)
			}
		},
		Upstream: func(c providers.UpstreamCall) {
			w.r.cfg.Observer.Upstream(observe.Upstream{
				Platform: w.q.Platform, Provider: w.p.Name, Operation: w.q.Row.Name, UpstreamCall: c,
			})
		},
	}
}

// broken notes an object that breaks the schema, or cannot be encoded.
func (w *watch) broken(err error) {
	w.row(true)
	if e, ok := errors.AsType[*schema.FieldError](err); ok {
		w.field(e.Place(), e.Field, true)
		return
	}
	w.field("", "", true)
}

// row counts a row that has drifted.
func (w *watch) row(leftOut bool) {
	w.drifted.Add(1)
	if leftOut {
		w.leftOut.Add(1)
	}
}

func (w *watch) field(field, path string, leftOut bool) {
	d := observe.Drift{
		Platform: w.q.Platform, Provider: w.p.Name, Operation: w.q.Row.Name, Field: field, Path: path, LeftOut: leftOut,
	}
	w.r.drifts.count(d)
	w.r.cfg.Observer.Drift(d)
}
