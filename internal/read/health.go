package read

import (
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

const (
	healthWindow = 5 * time.Minute
	healthSlots  = 10
)

// health counts how the upstreams of each platform have answered lately. Its zero value is ready but for the clock.
type health struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[platform.ID]*window
}

// window counts calls in slots of half a minute.
type window struct {
	slot  [healthSlots]int64 // which half minute the counts are of
	calls [healthSlots]int64
	fails [healthSlots]int64
}

func (h *health) count(id platform.ID, failed bool) {
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
		w.slot[i], w.calls[i], w.fails[i] = at, 0, 0
	}
	w.calls[i]++
	if failed {
		w.fails[i]++
	}
}

func (h *health) slot() int64 { return h.now().Unix() / int64((healthWindow / healthSlots).Seconds()) }

func (h *health) recent(id platform.ID) (calls, fails int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.by[id]
	if w == nil {
		return 0, 0
	}
	for i, slot := range w.slot {
		if slot > h.slot()-healthSlots {
			calls += w.calls[i]
			fails += w.fails[i]
		}
	}
	return calls, fails
}

// State says how the upstreams of a platform do.
func (r *Reader) State(id platform.ID) schema.HealthState {
	up := false
	for _, l := range r.links[id] {
		usable := false
		for _, serves := range l.serves {
			usable = usable || serves
		}
		up = up || usable && !l.open()
	}
	calls, fails := r.health.recent(id)
	switch {
	case !up:
		return schema.Down
	case calls == 0:
		return schema.Unknown
	case fails*10 < calls:
		return schema.Healthy
	}
	return schema.Degraded
}
