package upstreams

import (
	"slices"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// StateOf returns the health of one source for an operation: down while it is not called, limited while its limits are
// used up, degraded while its breaker lets one call through, and otherwise the platform's health.
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

// limited reports whether all known limits are used up. Only the provider knows to which of them an operation counts, so
// a call may be sent while something is left of one.
func limited(limits []providers.Limit) bool {
	known := false
	for _, l := range limits {
		switch at := l.State(); {
		case at.Known() && at.Left > 0:
			return false
		case at.Known():
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

// Configured reports whether a source of a platform serves anything.
func (p *Pool) Configured(id platform.ID) bool {
	return slices.ContainsFunc(p.sources[id], (*Source).servesAnything)
}

// Outage reports whether the breakers of all upstreams of a platform are open, and whether one of them is known to
// answer: its breaker is closed, and it has answered in this process. While a breaker is half-open, both are false.
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

// Drifted returns what has drifted since the start, sorted by platform, operation and field.
func (p *Pool) Drifted() []observe.Drifted { return p.drifts.list() }
