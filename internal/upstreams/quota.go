package upstreams

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// share tells every limit how much of it the classes of reads may use.
func (p *Pool) share(shares map[string]providers.Shares) error {
	names := map[string]bool{}
	for _, s := range p.all() {
		names[s.Provider.Name] = true
		own := providers.DefaultShares()
		if set, ok := shares[s.Provider.Name]; ok {
			own = set
		}
		if own.Dear < 0 || own.Dear > 100 || own.Background < 0 || own.Background > 100 {
			return fmt.Errorf("socialdata: WithShares: the shares of %q must be from 0 to 100 percent", s.Provider.Name)
		}
		for _, l := range s.Provider.Limits {
			l.Share(own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if !names[name] {
			return fmt.Errorf("socialdata: WithShares: there is no provider %q%s",
				name, problem.DidYouMean(name, slices.Sorted(maps.Keys(names))))
		}
	}
	return nil
}

// all returns every source, sorted by platform.
func (p *Pool) all() []*Source {
	var out []*Source
	for _, id := range slices.Sorted(maps.Keys(p.sources)) {
		out = append(out, p.sources[id]...)
	}
	return out
}

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
