package socialdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// plan checks a read in the order of D1: platform, parameters, whether the operation is offered.
func (c *Client) plan(o *Operation, call Call) (*query, error) {
	id := platform.ID(call.Platform)
	info, ok := platform.Lookup(id)
	if !ok {
		return nil, problem.New(problem.NotFound, "there is no platform %q; GET /v1/platforms lists them", call.Platform)
	}
	in, perr := bind(o.Params, call.Params)
	if perr != nil {
		return nil, perr
	}
	return c.planFor(o, info, in)
}

// planFor is plan behind the binding; in becomes the query's own.
func (e *engine) planFor(o *Operation, info platform.Info, in args) (*query, error) {
	q := &query{
		op: o, platform: info.ID, in: in,
		raw: in.flag("include_raw"), fresh: in.flag("fresh"), enrich: in.get("enrich") != "",
	}
	if q.enrich && info.NoEnrich {
		return nil, problem.New(problem.InvalidRequest, "parameter \"enrich\" cannot be used on %s: its content may not be sent through enrichment", info.ID)
	}
	if err := e.normalize(q); err != nil {
		return nil, err
	}
	if err := e.resume(q); err != nil {
		return nil, err
	}
	if err := e.offer(q); err != nil {
		return nil, err
	}
	q.quote = credits.Price(e.base(info.ID), q.fresh, q.enrich)
	return q, nil
}

// normalize reduces the identifiers to what the platform writes.
func (e *engine) normalize(q *query) error {
	links := e.links[q.platform]
	i := slices.IndexFunc(links, func(l *link) bool { return l.p.Normalize != nil })
	if i < 0 {
		return nil
	}
	for n, p := range q.in.params {
		if p.subject == "" || q.in.values[n] == "" {
			continue
		}
		v, err := links[i].p.Normalize(p.subject, q.in.values[n])
		if err != nil {
			return problem.Wrap(err, problem.InvalidRequest, "parameter %q: %s", p.Name, detail(err, "cannot be read"))
		}
		q.in.values[n] = v
	}
	return nil
}

// offer finds who serves the operation with the filters that were given, and from where the walk stands.
func (e *engine) offer(q *query) error {
	var refused error
	for _, l := range e.links[q.platform] {
		if !l.serves[q.op.op] {
			continue
		}
		if err := filters(q, l.p); err != nil {
			refused = err
			continue
		}
		q.links = append(q.links, l)
	}
	switch {
	case len(q.links) > 0:
		return q.stick()
	case refused != nil:
		return refused
	}
	return e.notOffered(q.op, q.platform)
}

// filters refuses a filter that the platform cannot apply: dropping it silently would be a wrong answer.
func filters(q *query, p *providers.Provider) error {
	can := p.Filters[q.op.op]
	for i, param := range q.in.params {
		v := q.in.values[i]
		if !param.Filter || v == "" {
			continue
		}
		values, ok := can[param.Name]
		if !ok {
			return problem.New(problem.InvalidRequest, "parameter %q: %s cannot filter by it on %s", param.Name, q.platform, q.op.route(string(q.platform)))
		}
		if values != nil && !slices.Contains(values, v) {
			return problem.New(problem.InvalidRequest, "parameter %q must be one of %s on %s", param.Name, strings.Join(values, ", "), q.platform)
		}
	}
	return nil
}

// notOffered names the missing route, and the settings or the reason if there are any.
func (e *engine) notOffered(o *Operation, id platform.ID) error {
	text := fmt.Sprintf("%s does not offer %s", id, o.route(string(id)))
	for _, l := range e.links[id] {
		if s := l.p.Missing[o.op]; len(s) > 0 {
			return problem.New(problem.PlatformUnavailable, "%s: the provider %s misses the setting %s", text, l.p.Name, strings.Join(s, ", "))
		}
	}
	for _, l := range e.links[id] {
		if note := l.p.Notes[o.op]; note != "" {
			return problem.New(problem.PlatformUnavailable, "%s: %s", text, note)
		}
	}
	if len(e.links[id]) == 0 {
		text += ": no provider is configured"
	}
	return problem.New(problem.PlatformUnavailable, "%s", text)
}

// resume opens the cursor, if there is one, and says where the answer is kept.
func (e *engine) resume(q *query) error {
	var b strings.Builder
	b.WriteString(q.op.Name)
	b.WriteByte('|')
	b.WriteString(string(q.platform))
	given := ""
	for i, p := range q.in.params {
		switch v := q.in.values[i]; {
		case p.Name == "cursor":
			given = v
		case v == "", p.Name == "include_raw", p.Name == "fresh", p.Name == "enrich":
		default:
			b.WriteByte('|')
			b.WriteString(p.Name)
			b.WriteByte('=')
			b.WriteString(strconv.Quote(v))
		}
	}
	q.bound = b.String()
	q.key = q.bound
	if given == "" {
		return nil
	}
	at, err := e.openCursor(q.bound, given)
	if err == nil {
		q.continueAt(at)
	}
	return err
}

// continueAt makes q the page that a cursor points to.
func (q *query) continueAt(at *cursor) {
	q.at = *at
	q.key += "|" + base64.RawStdEncoding.EncodeToString(at.encode())
}

// stick leaves only the provider that issued the cursor, if there is one: page two never switches upstream.
func (q *query) stick() error {
	if q.at.Provider == "" {
		return nil
	}
	q.links = slices.DeleteFunc(q.links, func(l *link) bool { return l.p.Name != q.at.Provider })
	if len(q.links) == 0 {
		return problem.New(problem.InvalidRequest, "parameter \"cursor\": who issued it is not configured any more; start again without it")
	}
	return nil
}

func (e *engine) openCursor(bound, given string) (*cursor, error) {
	payload, err := e.sealer.open(bound, given)
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" is not a cursor of this request; pass meta.next_cursor of the page before unchanged, with the same parameters")
	}
	at, err := decodeCursor(payload)
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" cannot be read; start again without it")
	}
	if e.now().Sub(at.Issued) > cursorLife {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	}
	return at, nil
}

// detail returns the words that err has for the caller, or else.
func detail(err error, or string) string {
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Detail != "" {
		return e.Detail
	}
	return or
}
