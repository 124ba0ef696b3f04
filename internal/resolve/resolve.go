package resolve

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Call is a call that reads what an address identifies.
type Call struct {
	Operation *operation.Operation // read-only
	Params    operation.Pairs      // sorted by name
	Path      string               // path and query of the route, such as /v1/github/post?id=octocat%2Fhello-world
	Available bool
	Reason    string // why it is not available; "" when it is
}

// Found is what an address identifies.
type Found struct {
	Platform platform.ID
	URL      string // the address without tracking parameters and the like; "" for a name
	Calls    []Call // at least one: first that of the address, then others for the same thing, in the table's order
}

// ShortLinkError means that only its site can resolve an address.
type ShortLinkError struct {
	Platform platform.ID // the link's platform
	URL      *url.URL
}

// Error also says what to do.
func (e *ShortLinkError) Error() string {
	return fmt.Sprintf("a short link of %s does not show where it leads: open it and pass the address that it redirects to",
		e.Platform)
}

// Resolver resolves addresses. It is safe for concurrent use.
type Resolver struct {
	sites []site // in the platforms' order
}

// site is a platform whose addresses are known.
type site struct {
	id    platform.ID
	pool  *upstreams.Pool
	p     *providers.Provider // the platform's first provider that knows addresses
	takes map[providers.Subject][]taker
}

// taker is an operation of a platform that reads a thing by one parameter.
type taker struct {
	row       *operation.Operation
	at        int    // index in the table
	path      string // including the platform
	param     string
	beside    []operation.Param // further parameters that it accepts
	country   string            // the parameter for a country; "" for none
	offered   bool              // now, or once a missing setting is made
	available bool
	reason    string
}

// New returns a Resolver of the platforms of pool, for the reads among rows, which are in the table's order.
func New(pool *upstreams.Pool, rows []*operation.Operation) *Resolver {
	r := &Resolver{}
	for _, info := range pool.Platforms().All() {
		sources := pool.Sources(info.ID)
		at := slices.IndexFunc(sources,
			func(s *upstreams.Source) bool { return s.Provider.Names != nil && s.Provider.Normalize != nil })
		if at < 0 {
			continue
		}
		s := site{id: info.ID, pool: pool, p: sources[at].Provider, takes: map[providers.Subject][]taker{}}
		for i, row := range rows {
			for subject, t := range takers(row) {
				op := providers.Op(row.Name)
				t.at, t.path = i, strings.ReplaceAll(row.Path, "{platform}", string(info.ID))+"?"
				t.reason = pool.Reason(info.ID, op)
				t.available = t.reason == ""
				t.offered = t.available || pool.Lacking(info.ID, op) != nil
				s.takes[subject] = append(s.takes[subject], t)
			}
		}
		r.sites = append(r.sites, s)
	}
	return r
}

// searches maps the operations whose required parameter is a query to the pages that show such a search.
var searches = map[string]providers.Subject{
	string(providers.OpSearch): providers.SearchPage, string(providers.OpAdsSearch): providers.AdSearchPage,
}

// takers returns the ways in which an operation reads things by a single parameter, by the subject of that parameter.
func takers(row *operation.Operation) map[providers.Subject]taker {
	out := map[providers.Subject]taker{}
	var beside []operation.Param
	country := ""
	required := 0
	for _, p := range row.Params {
		switch {
		case p.Required && p.Subject == "":
			page, ok := searches[row.Name]
			if !ok {
				return nil
			}
			out[page] = taker{row: row, param: p.Name}
			required++
		case p.Required || p.OneOf && p.Subject != "":
			out[p.Subject] = taker{row: row, param: p.Name}
			if p.Required {
				required++
			}
		case p.Form == operation.FormCountry:
			country = p.Name
		case p.Subject != "":
			beside = append(beside, p)
		}
	}
	if row.Service || required > 1 || required == 1 && len(out) > 1 {
		return nil
	}
	for subject, t := range out {
		t.beside, t.country = beside, country
		out[subject] = t
	}
	return out
}

// Text resolves a text that contains one address, or one of the short forms in which people refer to things. The error
// is a problem: invalid_request for a text without an address, not_found for an address that identifies nothing
// readable. It wraps a [ShortLinkError] if only the site can resolve the address.
func (r *Resolver) Text(text string) (*Found, error) {
	text = strings.TrimSpace(weburl.Repair(text))
	if address, ok := written(text); ok {
		u, err := url.Parse(address)
		if err != nil {
			return nil, errNoAddress
		}
		return r.Address(u)
	}
	switch {
	case isName(text):
		return r.name(text)
	case isNumber(text):
		return nil, r.number(text)
	}
	u, err := addressIn(text)
	if err != nil {
		return nil, err
	}
	return r.Address(u)
}

// Address resolves an http or https address. The errors are those of [Resolver.Text].
func (r *Resolver) Address(u *url.URL) (*Found, error) {
	through := *weburl.Through(u)
	u = &through
	u.Scheme, u.User = "https", nil
	var page, short *site
	for i := range r.sites {
		s := &r.sites[i]
		switch subject, id, ok := s.p.Names(u); {
		case ok && len(id) <= maxID:
			return s.found(u, subject, id), nil
		case subject == providers.ShortLink:
			short = s
		case subject != "":
			page = cmp.Or(page, s)
		}
	}
	switch {
	case short != nil:
		err := &ShortLinkError{short.id, u}
		return nil, problem.Wrap(err, problem.NotFound, "%s", err.Error())
	case page != nil:
		return nil, problem.New(problem.NotFound, "this page of %s names nothing that can be read: "+
			"pass the address of an account, a post or another thing", page.id)
	}
	return nil, problem.New(problem.NotFound, "%q is not an address of one of the platforms: "+
		"pass the address of an account, a post or another thing on one of them", u.Hostname())
}

// maxID is the maximum length of an identifier, in bytes: as long as the parameter that takes it.
const maxID = 512

// thing is one of the things that an address identifies.
type thing struct {
	subject providers.Subject
	id      string
}

// found returns the calls for the thing at u, and for what else its page identifies.
func (s *site) found(u *url.URL, subject providers.Subject, id string) *Found {
	things := s.things(u, subject, id)
	return &Found{Platform: s.id, URL: s.clean(u, things), Calls: s.calls(things, s.pool.Country(s.id, subject, u.String()))}
}

// things returns the thing at u, and what else its page identifies.
func (s *site) things(u *url.URL, subject providers.Subject, id string) []thing {
	things := append(make([]thing, 0, 4), thing{subject, id})
	also := s.p.Also[subject]
	if len(also) == 0 {
		return things
	}
	address := u.String()
	for _, other := range also {
		if other.Owns() && !subject.Owns() && !isSearch(subject) { // the author is not the post
			continue
		}
		if id, err := s.p.Normalize(other, address); err == nil && len(id) <= maxID {
			things = append(things, thing{other, id})
		}
	}
	return things
}

func isSearch(s providers.Subject) bool {
	return s == providers.SearchPage || s == providers.AdSearchPage
}

// calls returns the calls that read things. The first one is for the first thing that the platform can read, or for the
// first thing if it can read none.
func (s *site) calls(things []thing, country string) []Call {
	type placed struct {
		Call
		at int
	}
	var few [16]placed
	all := few[:0]
	for _, offered := range []bool{true, false} {
		for _, t := range things {
			if isSearch(things[0].subject) && t != things[0] {
				break // what is searched is not what the page is about
			}
			for i := range s.takes[t.subject] {
				by := &s.takes[t.subject][i]
				if !by.offered && offered {
					continue
				}
				all = append(all, placed{by.call(t, things, s.countryFor(by, t, country)), by.at})
				// An operation that takes an id reads the thing itself; others that take it list its parts.
				if by.param == "id" && all[0].Params[0].Name != "id" && t == things[0] {
					all[0], all[len(all)-1] = all[len(all)-1], all[0]
				}
			}
		}
		if len(all) > 0 {
			break
		}
	}
	if len(all) > 1 {
		slices.SortStableFunc(all[1:], func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	}
	calls := make([]Call, len(all))
	for i := range all {
		calls[i] = all[i].Call
	}
	return calls
}

// countryFor returns the country that a call has to be given, "" when it has no parameter for it or its identifier names
// it.
func (s *site) countryFor(by *taker, of thing, country string) string {
	op := providers.Op(by.row.Name)
	accepts := slices.ContainsFunc(s.pool.Sources(s.id), func(source *upstreams.Source) bool {
		values, ok := source.Provider.Filters[op][by.country]
		return ok && source.Serves(op) == by.available && (values == nil || slices.Contains(values, country))
	})
	if country == "" || !accepts {
		return ""
	}
	if _, prefixed := s.pool.InCountry(s.id, of.subject, of.id, country); prefixed && !isSearch(of.subject) {
		return ""
	}
	return country
}

// call returns the call that reads a thing. Other identifiers from its page are passed if the operation accepts them,
// such as the post of a comment.
func (t *taker) call(of thing, things []thing, country string) Call {
	params := append(make(operation.Pairs, 0, 1+len(t.beside)), operation.Pair{Name: t.param, Value: of.id})
	for i := range t.beside {
		for _, other := range things {
			if other.subject == t.beside[i].Subject && other.subject != of.subject && other.id != of.id {
				params = append(params, operation.Pair{Name: t.beside[i].Name, Value: other.id})
				break
			}
		}
	}
	if country != "" {
		params = append(params, operation.Pair{Name: t.country, Value: country})
	}
	slices.SortFunc(params, func(a, b operation.Pair) int { return cmp.Compare(a.Name, b.Name) })
	b := append(make([]byte, 0, 128), t.path...)
	for i, p := range params {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(append(b, p.Name...), '=')
		b = append(b, url.QueryEscape(p.Value)...)
	}
	return Call{Operation: t.row, Params: params, Path: string(b), Available: t.available, Reason: t.reason}
}
