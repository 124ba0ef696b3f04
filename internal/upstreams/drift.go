package upstreams

import (
	"cmp"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
)

// mostFields is how many fields are counted. Further ones are only reported to the observer.
const mostFields = 10_000

// drifts counts drift by platform, operation and field. Its zero value is ready to use.
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

// Drifted returns what has drifted since the start, sorted by platform, operation and field.
func (p *Pool) Drifted() []observe.Drifted {
	p.drifts.mu.Lock()
	defer p.drifts.mu.Unlock()
	out := make([]observe.Drifted, 0, len(p.drifts.by))
	for _, d := range p.drifts.by {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b observe.Drifted) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Field, b.Field))
	})
	return out
}
