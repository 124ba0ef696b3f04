package upstreams

import (
	"cmp"
	"slices"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers"
)

// Limits returns the limits of all providers, keyed by provider name, in the provider's order. A provider of several
// platforms is included once.
func (p *Pool) Limits() map[string][]providers.Limit {
	out := map[string][]providers.Limit{}
	for _, s := range p.all() {
		if _, known := out[s.Provider.Name]; !known {
			out[s.Provider.Name] = s.Provider.Limits
		}
	}
	return out
}

// Quotas returns the state of the limits of all providers that serve an operation, by platform, provider and name. A
// provider without limits has one entry without a name.
func (p *Pool) Quotas() []observe.Quota {
	var out []observe.Quota
	for _, s := range p.all() {
		info, _ := p.cfg.Platforms.Lookup(s.Provider.Platform)
		if info.Sandbox || !s.servesAnything() {
			continue
		}
		q := observe.Quota{Platform: s.Provider.Platform, Provider: s.Provider.Name}
		for _, l := range s.Provider.Limits {
			at := l.State()
			q.Name, q.Limit, q.Used, q.Left, q.Resets = l.Name(), at.Limit, at.Used, at.Left, at.Reset
			out = append(out, q)
		}
		if len(s.Provider.Limits) == 0 {
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(a, b observe.Quota) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	return out
}
