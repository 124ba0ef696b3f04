package read

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// openedTTL is how long the target of a short link is cached.
const openedTTL = 24 * time.Hour

// openRow reads the target of a short link. Callers cannot call it directly.
var openRow = &Row{
	Operation: &operation.Operation{
		Name: string(upstreams.OpOpen), Path: "/v1/read", TTL: openedTTL,
		Params: []operation.Param{{Name: "url", Required: true, Form: operation.FormAddress}},
	},
	Op: upstreams.OpOpen,
	Source: Source{Fetch: func(ctx context.Context, r Reading) (Fetched, error) {
		u, err := url.Parse(r.In.Get("url"))
		if err != nil {
			return Fetched{}, err
		}
		target, err := r.Provider.Open(ctx, u)
		if err != nil {
			return Fetched{}, err
		}
		r.attempt.Read(1)
		data, err := json.Marshal(target)
		return Fetched{Data: data, At: r.reader.now()}, err
	}},
}

// PlanOpen plans to open a short link of a platform. It returns a not_found problem if no provider of the platform can
// open one.
func (p *Planner) PlanOpen(ctx context.Context, id platform.ID, u *url.URL) (*Query, error) {
	sources := p.cfg.Upstreams.Sources(id)
	opens := func(s *upstreams.Source) bool { return s.Serves(upstreams.OpOpen) }
	if !slices.ContainsFunc(sources, opens) {
		return nil, problem.New(problem.NotFound, "a short link of %s cannot be opened here: open it and pass the address that it leads to", id)
	}
	info, _ := p.platforms.Lookup(id)
	in, err := operation.Pairs{{Name: "url", Value: u.String()}}.Bind(openRow.Params)
	if err != nil {
		return nil, err
	}
	return p.PlanFor(ctx, openRow, info, in)
}

// Opened returns the target of a short link. known is what [Reader.Recall] found.
func (r *Reader) Opened(ctx context.Context, q *Query, known *cache.Entry) (string, error) {
	entry, _, err := r.read(ctx, q, known)
	if err != nil {
		return "", err
	}
	var target string
	return target, json.Unmarshal([]byte(entry.Data), &target)
}
