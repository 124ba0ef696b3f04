package read

import (
	"context"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// rawParams are the parameters of a raw read inside the engine: its path, and its query as it is forwarded.
var rawParams = []operation.Param{{Name: "path"}, {Name: "query"}}

// PlanRaw finds the provider and the route of a raw read. What is not on an allow-list does not exist.
func (r *Reader) PlanRaw(row *Row, call operation.Call) (*Query, error) {
	l, route, err := r.rawRoute(call.Platform, call.Path)
	if err != nil {
		return nil, err
	}
	forwarded := url.Values{}
	fresh := false
	for name, values := range call.Given().Values() {
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
	if err := l.p.Refuse(forwarded); err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "%s", Detail(err, "credentials are not forwarded"))
	}
	if l.p.Forward == nil {
		return nil, problem.New(problem.PlatformUnavailable, "GET /v1/raw/%s/%s: %s", call.Platform, call.Path,
			r.missing(l.p, providers.OpRaw))
	}
	in := operation.Args{Params: rawParams, Values: []string{call.Path, forwarded.Encode()}}
	return &Query{
		Row: row, Platform: route.Platform, In: in, links: []*link{l}, Fresh: fresh,
		key:   "raw|" + l.p.Name + "|" + string(l.p.Platform) + "|" + strings.Join(in.Values, "?"),
		Quote: credits.Price(r.Base(route.Platform), fresh, false),
	}, nil
}

func (r *Reader) rawRoute(provider, path string) (*link, providers.Route, error) {
	known, names := false, []string{}
	for _, info := range platform.All() {
		for _, l := range r.links[info.ID] {
			if l.p.Name != provider {
				names = append(names, l.p.Name)
				continue
			}
			known = true
			for _, route := range l.p.Routes {
				if !matches(route.Pattern, path) {
					continue
				}
				return l, route, nil
			}
		}
	}
	if !known {
		return nil, providers.Route{}, problem.New(problem.NotFound, "there is no provider %q%s; GET /v1/platforms lists the raw routes of each",
			provider, problem.DidYouMean(provider, names))
	}
	return nil, providers.Route{}, problem.New(problem.NotFound, "the provider %s has no route %q on its allow-list; GET /v1/platforms lists it", provider, path)
}

// matches tells whether a decoded path fits a pattern. Segments that could lead elsewhere fit none.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, segment := range got {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "\\?#%") ||
			strings.ContainsFunc(segment, unicode.IsControl) || !utf8.ValidString(segment) {
			return false
		}
		if wild := strings.HasPrefix(want[i], "{"); !wild && segment != want[i] {
			return false
		}
	}
	return true
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
	if data = compact(data); data == nil {
		return Fetched{}, providers.Unavailable(nil, "the upstream's answer is not JSON")
	}
	return Fetched{Data: data}, nil
}
