package upstreams

import (
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

const (
	healthSlot  = time.Second
	healthSlots = int64(5*time.Minute/healthSlot) + 1 // the slot of now is not full yet
	fewRows     = 20                                  // of fewer, what has drifted says nothing
)

// tally counts what happened at the upstreams of a platform.
type tally struct {
	calls, failed int64
	rows, drifted int64 // rows and objects that were read, and those that were not as they should be
}

func (t *tally) add(more tally) {
	t.calls += more.calls
	t.failed += more.failed
	t.rows += more.rows
	t.drifted += more.drifted
}

// health counts how the upstreams of each platform have answered in the last five minutes. Its zero value is ready but
// for the clock.
type health struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[platform.ID]*window
}

// window is the tallies of five minutes, a second each.
type window struct {
	slot  [healthSlots]int64 // which second the tally is of
	tally [healthSlots]tally
}

func (h *health) count(id platform.ID, t tally) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[platform.ID]*window{}
	}
	w := h.by[id]
	if w == nil {
		w = &window{}
		h.by[id] = w
	}
	at := h.slot()
	i := at % healthSlots
	if w.slot[i] != at {
		w.slot[i], w.tally[i] = at, tally{}
	}
	w.tally[i].add(t)
}

func (h *health) slot() int64 { return h.now().Unix() / int64(healthSlot.Seconds()) }

func (h *health) recent(id platform.ID) tally {
	h.mu.Lock()
	defer h.mu.Unlock()
	var sum tally
	w := h.by[id]
	if w == nil {
		return sum
	}
	now := h.slot()
	for i, slot := range w.slot {
		if slot > now-healthSlots {
			sum.add(w.tally[i])
		}
	}
	return sum
}

// State says how the upstreams of a platform do.
func (p *Pool) State(id platform.ID) schema.HealthState {
	t := p.health.recent(id)
	switch {
	case !slices.ContainsFunc(p.sources[id], (*Source).usable):
		return schema.Down
	case t.calls == 0:
		return schema.Unknown
	case t.failed*10 >= t.calls, t.rows >= fewRows && t.drifted*10 >= t.rows:
		return schema.Degraded
	}
	return schema.Healthy
}
