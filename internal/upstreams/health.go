package upstreams

import (
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

const (
	healthSlot  = time.Second
	healthSlots = int64(5*time.Minute/healthSlot) + 1 // the current slot is not full yet
	fewRows     = 20                                  // with fewer rows, drift means nothing
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

// StateOf returns the health of one source for an operation: down while it is not asked, limited while nothing is left
// of its limits, degraded while its circuit lets one call through, and otherwise the platform's health.
func (p *Pool) StateOf(s *Source, op providers.Op) schema.SourceState {
	switch {
	case !s.ready(op, p.cfg.Now()):
		return schema.SourceDown
	case limited(s.Provider.Limits):
		return schema.SourceLimited
	case s.halfOpen():
		return schema.SourceDegraded
	}
	return schema.SourceState(p.State(s.Provider.Platform))
}

// limited reports whether nothing is left of any limit that is known. Which of several an operation draws on only the
// provider knows: while something is left of one, the call may be sent.
func limited(limits []providers.Limit) bool {
	known := false
	for _, l := range limits {
		switch at := l.State(); {
		case at.Told() && at.Left > 0:
			return false
		case at.Told():
			known = true
		}
	}
	return known
}

// State returns the health of a platform's upstreams.
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

// Outage reports whether the circuits of all upstreams of a platform are open, and whether one of them is known to
// answer: its circuit is closed, and it has answered in this process. While a platform is tried again, it is neither.
func (p *Pool) Outage(id platform.ID) (down, up bool) {
	sources, open := 0, 0
	for _, s := range p.sources[id] {
		if !s.servesAnything() {
			continue
		}
		sources++
		switch {
		case s.open():
			open++
		case !s.halfOpen() && s.answered():
			up = true
		}
	}
	return sources > 0 && open == sources, up
}
