package read

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// rawParams are the parameters of a raw read within the engine: its path, and its query as it is forwarded.
var rawParams = []operation.Param{{Name: "path"}, {Name: "query"}}

var errNotForwarded = errors.New("this provider forwards nothing")

// PlanRaw finds the provider and the route of a raw read. A route that is not on the allow-list does not exist.
func (p *Planner) PlanRaw(row *Row, call operation.Call) (*Query, error) {
	source, route, err := p.rawRoute(call.Platform, call.Path)
	if err != nil {
		return nil, err
	}
	provider, forwarded := source.Provider, url.Values{}
	var own operation.Pairs
	for _, pair := range call.Given() {
		switch {
		case pair.Name == "enrich":
			return nil, problem.New(problem.InvalidRequest, "parameter \"enrich\" cannot be used on a raw read")
		case row.Has(pair.Name):
			own = append(own, pair)
		default:
			forwarded.Add(pair.Name, pair.Value)
		}
	}
	options, err := own.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	if err := provider.Refuse(route, forwarded); err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "%s", upstreams.Detail(err, "this parameter is not forwarded"))
	}
	if provider.Forward == nil {
		err := cmp.Or(source.Lacking(providers.OpRaw), errNotForwarded)
		return nil, problem.Wrap(err, problem.PlatformUnavailable, "%s%s", row.Prefix(call), err)
	}
	in := operation.Args{Params: rawParams, Values: []string{call.Path, forwarded.Encode()}}
	q := &Query{
		Row: row, Platform: route.Platform, In: in, from: []*upstreams.Source{source}, Fresh: options.Flag("fresh"),
		key: p.cfg.Redact.key() + "raw|" + provider.Name + "|" + string(provider.Platform) + "|" + strings.Join(in.Values, "?"), Most: options.MaxCredits(),
	}
	if err := p.permitRaw(q, route); err != nil {
		return nil, err
	}
	q.ages(options)
	q.price(p.Base(route.Platform))
	return q, nil
}

func (p *Planner) rawRoute(provider, path string) (*upstreams.Source, providers.Route, error) {
	known, names := false, []string{}
	for _, info := range p.platforms.All() {
		for _, s := range p.cfg.Upstreams.Sources(info.ID) {
			if s.Provider.Name != provider {
				names = append(names, s.Provider.Name)
				continue
			}
			known = true
			if route, ok := s.Provider.Route(path); ok {
				return s, route, nil
			}
		}
	}
	if !known {
		return nil, providers.Route{}, problem.New(problem.NotFound, "there is no provider %q%s; %s lists the raw routes of each",
			provider, problem.DidYouMean(provider, names), Platforms)
	}
	return nil, providers.Route{}, problem.New(problem.NotFound, "the provider %s has no route %q on its allow-list; %s lists it",
		provider, path, Platforms)
}

// Forward forwards a raw read.
func Forward(ctx context.Context, r Reading) (Fetched, error) {
	query, err := url.ParseQuery(r.In.Get("query"))
	if err != nil {
		return Fetched{}, err
	}
	data, err := r.Provider.Forward(ctx, r.In.Get("path"), query)
	if err != nil {
		return Fetched{}, err
	}
	if data = r.public(data); data == nil {
		return Fetched{}, providers.Unavailable(nil, "the upstream's answer is not JSON")
	}
	return Fetched{Data: data, forget: r.attempt.Forget}, nil
}
