package socialdata

import (
	"context"
	"slices"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// platforms answers what can be read from each platform, and why not where it cannot.
func (c *Client) platforms(ctx context.Context, _ *Operation, call Call, _ args) (*Answer, error) {
	out := []schema.PlatformInfo{}
	for _, info := range platform.All() {
		p := schema.PlatformInfo{Platform: info.ID, Name: info.Name, BaseCredits: c.base(info.ID), Meaning: set(info.Meaning)}
		for _, o := range reads {
			p.Operations = append(p.Operations, c.operationInfo(info.ID, o))
		}
		out = append(out, p)
	}
	return c.free(ctx, call, out)
}

func (e *engine) operationInfo(id platform.ID, o *Operation) schema.OperationInfo {
	out := schema.OperationInfo{
		Operation: o.Name, Sources: []schema.Source{}, CacheTTLS: int64(o.TTL.Seconds()),
		Filters: map[string][]string{}, Missing: []string{},
	}
	for _, l := range e.links[id] {
		if note := l.p.Notes[o.op]; note != "" && out.Note == nil {
			out.Note = &note
		}
		if !l.serves[o.op] {
			if len(out.Missing) == 0 {
				out.Missing = append(out.Missing, l.p.Missing[o.op]...)
			}
			continue
		}
		out.Available = true
		if !slices.Contains(out.Sources, l.p.Source) {
			out.Sources = append(out.Sources, l.p.Source)
		}
		for name, values := range l.p.Filters[o.op] {
			if _, ok := out.Filters[name]; !ok {
				out.Filters[name] = append([]string{}, values...)
			}
		}
	}
	if out.Available {
		out.Missing = []string{}
	}
	return out
}

// healthCall answers [Client.Health] in encoded form.
func (c *Client) healthCall(ctx context.Context, _ *Operation, call Call, _ args) (*Answer, error) {
	return c.free(ctx, call, c.Health(ctx))
}
