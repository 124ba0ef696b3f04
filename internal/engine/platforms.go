package engine

import (
	"context"
	"slices"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// PlatformTable returns the platforms.
func (e *Engine) PlatformTable() *platform.Table { return e.cfg.Platforms }

// PageSizes returns the page size of each list of a platform that has a known one, by the name of the operation.
func (e *Engine) PageSizes(id platform.ID) map[string]int {
	sizes, out := e.upstreams.PageSizes(id), map[string]int{}
	for _, row := range e.cfg.Rows {
		if n := sizes[row.Op]; n > 0 && row.Paged() {
			out[row.Name] = n
		}
	}
	return out
}

// platforms returns what can be read from each platform, and why not if it cannot.
func platforms(ctx context.Context, s *Session, _ *read.Row, call operation.Call) (*operation.Answer, error) {
	out := []schema.PlatformInfo{}
	for _, info := range s.cfg.Platforms.All() {
		p := schema.PlatformInfo{
			Platform: info.ID, Name: info.Name, BaseCredits: s.reader.Base(info.ID), Meaning: set(info.Meaning),
			RawRoutes: s.rawRoutes(info.ID), Redacted: s.cfg.Redact.Names(),
		}
		for _, row := range s.cfg.Rows {
			if !row.Service && row.Of == nil {
				p.Operations = append(p.Operations, s.operationInfo(info.ID, row))
			}
		}
		out = append(out, p)
	}
	return s.free(ctx, call, out)
}

func (e *Engine) operationInfo(id platform.ID, row *read.Row) schema.OperationInfo {
	out := schema.OperationInfo{
		Operation: row.Name, Reason: set(e.upstreams.Reason(id, row.Op)), Providers: []string{}, Sources: []schema.Source{},
		CacheTTLS:       int64(row.TTL.Seconds()),
		UpstreamCredits: map[string]int64{}, Filters: map[string][]string{}, Required: []string{}, Missing: []string{},
	}
	for _, source := range e.upstreams.Sources(id) {
		p, serves := source.Provider, source.Serves(row.Op)
		// The note of a provider that serves it is used; those of others only explain why they do not.
		if !out.Available && (out.Note == nil || serves) {
			out.Note = set(p.Notes[row.Op])
		}
		if !serves {
			if len(out.Missing) == 0 {
				out.Missing = append(out.Missing, source.Missing(row.Op)...)
			}
			continue
		}
		if needs := p.Required[row.Op]; !out.Available {
			out.Required = append(out.Required, needs...)
		} else { // a parameter is required only if every provider requires it
			out.Required = slices.DeleteFunc(out.Required, func(name string) bool { return !slices.Contains(needs, name) })
		}
		if !out.Available && e.batched(row) {
			out.KeysARequest = int64(p.AtOnce(row.Op))
		}
		out.Available = true
		out.Providers = append(out.Providers, p.Name)
		if !slices.Contains(out.Sources, p.Source) {
			out.Sources = append(out.Sources, p.Source)
		}
		for name, values := range p.Filters[row.Op] {
			if !row.Has(name) {
				continue
			}
			before, known := out.Filters[name]
			out.Filters[name] = allowed(before, values, known)
		}
	}
	if out.Available {
		out.Missing, out.UpstreamCredits = []string{}, e.upstreams.Charges(id, row.Op)
	}
	return out
}

// batched reports whether a row has a batch operation.
func (e *Engine) batched(row *read.Row) bool { return e.rows[row.Name+"/batch"] != nil }

// rawRoutes lists the raw routes at the price of a platform, each once.
func (e *Engine) rawRoutes(id platform.ID) []schema.RawRoute {
	out := []schema.RawRoute{}
	for _, info := range e.cfg.Platforms.All() { // a provider may have routes at the price of other platforms
		for _, source := range e.upstreams.Sources(info.ID) {
			p := source.Provider
			for _, route := range p.Routes {
				known := func(r schema.RawRoute) bool { return r.Provider == p.Name && r.Path == route.Pattern }
				if route.Platform != id || slices.ContainsFunc(out, known) {
					continue
				}
				out = append(out, schema.RawRoute{
					Provider: p.Name, Path: route.Pattern, Available: p.Forward != nil,
					Missing: append([]string{}, source.Missing(providers.OpRaw)...),
				})
			}
		}
	}
	return out
}

// Drifted returns the deviations of upstream answers from the schema since the start, by platform, operation and field.
func (e *Engine) Drifted() []observe.Drifted { return e.upstreams.Drifted() }

// allowed adds the values of a filter of another provider to those before; empty means any value.
func allowed(before, more []string, known bool) []string {
	out := append([]string{}, before...)
	if known && len(before) == 0 || len(more) == 0 {
		return []string{}
	}
	for _, v := range more {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// health returns the state of every platform.
func health(ctx context.Context, s *Session, _ *read.Row, call operation.Call) (*operation.Answer, error) {
	return s.free(ctx, call, s.Health())
}

// Health returns the state of every platform with a configured provider, and of every dependency. While a store hangs, it is among the dependencies, as
// ledger, keys or records. Health is free and needs no account.
func (e *Engine) Health() schema.Health {
	out := schema.Health{
		Status: "ok", Environment: e.cfg.Environment, Platforms: map[platform.ID]schema.HealthState{},
	}
	for _, info := range e.cfg.Platforms.All() {
		if e.upstreams.Configured(info.ID) {
			out.Platforms[info.ID] = e.upstreams.State(info.ID)
		}
	}
	hanging := e.accounts.Stores.Hanging()
	if len(e.cfg.Dependencies)+len(hanging) > 0 {
		out.Dependencies = map[string]schema.HealthState{}
	}
	for name, state := range e.cfg.Dependencies {
		out.Dependencies[name] = state()
	}
	for _, name := range hanging {
		out.Dependencies[name] = schema.Down
	}
	return out
}
