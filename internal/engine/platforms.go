package engine

import (
	"context"
	"slices"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// platforms answers what can be read from each platform, and why not where it cannot.
func platforms(ctx context.Context, s *Session, _ *read.Row, call operation.Call) (*operation.Answer, error) {
	out := []schema.PlatformInfo{}
	for _, info := range platform.All() {
		p := schema.PlatformInfo{
			Platform: info.ID, Name: info.Name, BaseCredits: s.reader.Base(info.ID), Meaning: set(info.Meaning),
		}
		for _, row := range s.cfg.Rows {
			if !row.Service {
				p.Operations = append(p.Operations, s.operationInfo(info.ID, row))
			}
		}
		out = append(out, p)
	}
	return s.free(ctx, call, out)
}

func (s *Session) operationInfo(id platform.ID, row *read.Row) schema.OperationInfo {
	out := schema.OperationInfo{
		Operation: row.Name, Reason: set(s.reader.Reason(id, row.Op)), Providers: []string{}, Sources: []schema.Source{}, CacheTTLS: int64(row.TTL.Seconds()),
		Filters: map[string][]string{}, Missing: []string{},
	}
	for _, p := range s.reader.Providers(id) {
		if note := p.Notes[row.Op]; note != "" && out.Note == nil {
			out.Note = &note
		}
		if !s.reader.ServedBy(p, row.Op) {
			if len(out.Missing) == 0 {
				out.Missing = append(out.Missing, s.reader.Missing(p, row.Op)...)
			}
			continue
		}
		out.Available = true
		out.Providers = append(out.Providers, p.Name)
		if !slices.Contains(out.Sources, p.Source) {
			out.Sources = append(out.Sources, p.Source)
		}
		for name, values := range p.Filters[row.Op] {
			before, known := out.Filters[name]
			out.Filters[name] = allowed(before, values, known)
		}
	}
	if out.Available {
		out.Missing = []string{}
	}
	return out
}

// Drifted returns what of the upstreams' answers has not been as it should be since the start, by platform, operation and
// field.
func (e *Engine) Drifted() []observe.Drifted { return e.reader.Drifted() }

// allowed adds the values by which another provider can filter to those before; none at all are any.
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

// health answers the state of every platform.
func health(ctx context.Context, s *Session, _ *read.Row, call operation.Call) (*operation.Answer, error) {
	return s.free(ctx, call, s.Health())
}

// Health returns the state of every platform. It is free and needs no account.
func (s *Session) Health() schema.Health {
	out := schema.Health{
		Status: "ok", Environment: s.cfg.Environment, Platforms: map[platform.ID]schema.HealthState{},
	}
	for _, info := range platform.All() {
		out.Platforms[info.ID] = s.reader.State(info.ID)
	}
	return out
}
