package socialdata

import (
	"context"
	"maps"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Raw reads one of a provider's own routes unchanged, if its allow-list has it. It costs the base of the platform that
// the route belongs to. There is no promise about the shape of the data; nil is null.
func (c *Client) Raw(ctx context.Context, req RawRequest) (*schema.Envelope[any], error) {
	params := url.Values{}
	maps.Copy(params, req.Query)
	if req.Fresh {
		params.Set("fresh", "true")
	}
	a, err := c.run(ctx, &opRaw.Operation, Call{Platform: req.Provider, Path: req.Path, Params: params})
	if err != nil {
		return nil, err
	}
	return decode[any](a)
}

// rawParams are the parameters of a raw read inside the engine: its path, and its query as it is forwarded.
var rawParams = []Param{{Name: "path"}, {Name: "query"}}

// planRaw finds the provider and the route of a raw read. What is not on an allow-list does not exist.
func (c *Client) planRaw(o *Operation, call Call) (*query, error) {
	l, route, err := c.rawRoute(call.Platform, call.Path)
	if err != nil {
		return nil, err
	}
	forwarded := url.Values{}
	fresh := false
	for name, values := range call.Params {
		if name == "enrich" {
			return nil, problem.New(problem.InvalidRequest, "parameter \"enrich\" cannot be used on a raw read")
		}
		if name != "fresh" {
			forwarded[name] = values
			continue
		}
		if len(values) != 1 || values[0] != "true" && values[0] != "false" {
			return nil, problem.New(problem.InvalidRequest, "parameter \"fresh\" must be exactly true or false, once")
		}
		fresh = values[0] == "true"
	}
	in := args{rawParams, []string{call.Path, forwarded.Encode()}}
	return &query{
		op: o, platform: route.Platform, in: in, links: []*link{l}, fresh: fresh,
		key:   "raw|" + l.p.Name + "|" + string(l.p.Platform) + "|" + strings.Join(in.values, "?"),
		quote: credits.Price(c.base(route.Platform), fresh, false),
	}, nil
}

func (e *engine) rawRoute(provider, path string) (*link, providers.Route, error) {
	known := false
	for _, info := range platform.All() {
		for _, l := range e.links[info.ID] {
			if l.p.Name != provider {
				continue
			}
			known = true
			for _, r := range l.p.Routes {
				if !matches(r.Pattern, path) {
					continue
				}
				if l.p.Forward == nil {
					return nil, r, problem.New(problem.PlatformUnavailable, "the provider %s misses the setting %s", provider, strings.Join(l.p.Missing[providers.OpRaw], ", "))
				}
				return l, r, nil
			}
		}
	}
	if !known {
		return nil, providers.Route{}, problem.New(problem.NotFound, "there is no provider %q", provider)
	}
	return nil, providers.Route{}, problem.New(problem.NotFound, "the provider %s has no route %q on its allow-list", provider, path)
}

// matches tells whether a decoded path fits a pattern. Segments that could lead elsewhere fit none.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, segment := range got {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "\\?#%\x00") {
			return false
		}
		if wild := strings.HasPrefix(want[i], "{"); !wild && segment != want[i] {
			return false
		}
	}
	return true
}

// fetchRaw forwards a raw read.
func fetchRaw(ctx context.Context, r reading) (fetched, error) {
	query, err := url.ParseQuery(r.in.get("query"))
	if err != nil {
		return fetched{}, err
	}
	data, err := r.p.Forward(ctx, r.in.get("path"), query)
	if err != nil {
		return fetched{}, err
	}
	if data = compact(data); data == nil {
		return fetched{}, providers.Unavailable(nil, "the upstream's answer is not JSON")
	}
	return fetched{data: data}, nil
}
