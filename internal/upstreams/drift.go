package upstreams

import (
	"cmp"
	"slices"
	"sync"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
)

// mostFields is the maximum number of fields that are counted. Others are only reported to the observer.
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

// list returns the counts, sorted by platform, operation and field.
func (d *drifts) list() []observe.Drifted {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]observe.Drifted, 0, len(d.by))
	for _, c := range d.by {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b observe.Drifted) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Field, b.Field))
	})
	return out
}
