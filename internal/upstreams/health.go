package upstreams

import (
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
)

const (
	healthSlot  = time.Second
	healthSlots = int64(5*time.Minute/healthSlot) + 1 // the current slot is not full yet
	fewRows     = 20                                  // with fewer rows, drift is not significant
)

// tally counts what happened at the upstreams of a platform.
type tally struct {
	calls, failed int64
	rows, drifted int64 // rows and objects that were read, and those without the expected form
}

func (t *tally) add(more tally) {
	t.calls += more.calls
	t.failed += more.failed
	t.rows += more.rows
	t.drifted += more.drifted
}

// health counts the results of each platform's upstreams in the last five minutes. Its zero value is ready to use
// except for the clock.
type health struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[platform.ID]*window
}

// window holds the tallies of five minutes, one for each second.
type window struct {
	slot  [healthSlots]int64 // the second of each tally
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
