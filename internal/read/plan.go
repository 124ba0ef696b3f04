package read

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Plan checks a read in the order of D1: platform, parameters, whether the operation is offered, and finally the
// platform's own rules.
func (p *Planner) Plan(ctx context.Context, row *Row, call operation.Call) (*Query, error) {
	info, ok := p.platforms.Lookup(platform.ID(call.Platform))
	if !ok {
		return nil, p.NoPlatform(problem.NotFound, "", call.Platform)
	}
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	return p.PlanFor(ctx, row, info, in)
}

// PlanFor is [Planner.Plan] after binding; the query takes over in.
func (p *Planner) PlanFor(ctx context.Context, row *Row, info platform.Info, in operation.Args) (*Query, error) {
	q := &Query{}
	if err := p.begin(q, row, info, in); err != nil {
		return q, err
	}
	return q, p.finish(ctx, q)
}

// begin makes the checks of a read that do not depend on its key.
func (p *Planner) begin(q *Query, row *Row, info platform.Info, in operation.Args) error {
	q.Row, q.Platform, q.In = row, info.ID, in
	q.Raw, q.Fresh, q.Enrich = in.Flag("include_raw"), in.Flag("fresh"), in.Get("enrich") != ""
	q.Most, q.Pages = in.MaxCredits(), in.Pages()
	q.ages(in)
	// This comes first: for an operation that the platform lacks, no identifiers, cursors or filters could be right (D1,
	// D75).
	if err := p.offer(q); err != nil {
		return err
	}
	if q.Enrich && info.NoEnrich {
		return problem.New(problem.InvalidRequest,
			"parameter \"enrich\" cannot be used on %s: its content may not be sent through enrichment", info.ID)
	}
	if q.Enrich && p.cfg.Enricher == nil {
		return errNoEnricher
	}
	return nil
}

// finish makes the other checks of a read, and prices it.
func (p *Planner) finish(ctx context.Context, q *Query) error {
	if err := p.normalize(q); err != nil {
		return err
	}
	if err := p.permit(q); err != nil {
		return err
	}
	if err := p.resume(ctx, q); err != nil {
		return err
	}
	probes, err := p.probes(q)
	if err != nil {
		return err
	}
	q.price(p.Base(q.Platform) + probes)
	return nil
}

// probes returns the base price of the platforms that a call probes in addition to its own, and refuses those that
// cannot be probed.
func (p *Planner) probes(q *Query) (int64, error) {
	if q.Row.Price != operation.PlatformAndProbes {
		return 0, nil
	}
	ids, err := p.Probed(q)
	n := int64(0)
	for _, id := range ids {
		if !p.cfg.Upstreams.Serves(id, providers.OpProfile) {
			return 0, p.notOffered(p.cfg.Profile, id)
		}
		n += p.Base(id)
	}
	return n, err
}

// normalize reduces the identifiers to the platform's form.
func (p *Planner) normalize(q *Query) error {
	for n := range q.In.Params {
		param, v := &q.In.Params[n], q.In.Values[n]
		if param.Subject == "" || v == "" {
			continue
		}
		pasted := v
		err := leadsElsewhere(param.Subject, v)
		if err == nil {
			v, _, err = p.cfg.Upstreams.Normalize(q.Platform, param.Subject, v)
		}
		if err != nil {
			return problem.Wrap(err, problem.InvalidRequest, "parameter %q: %s", param.Name, upstreams.Detail(err, "cannot be read"))
		}
		if v, err = p.inCountry(q, param, pasted, v); err != nil {
			return err
		}
		if v != pasted {
			if q.pasted == nil {
				q.pasted = map[string]string{}
			}
			q.pasted[string(param.Subject)] = pasted
		}
		q.In.Values[n] = v
	}
	return nil
}

// inCountry applies the country that was named in an identifier or by the parameter region or country: it belongs to the
// identifier if the platform's identifiers name countries, and to the parameter if they do not. So a read is the same
// whichever way the country was given.
func (p *Planner) inCountry(q *Query, param *operation.Param, pasted, id string) (string, error) {
	at := slices.IndexFunc(q.In.Params, func(p operation.Param) bool { return p.Form == operation.FormCountry })
	if at < 0 {
		return id, nil
	}
	filter, given := q.In.Params[at].Name, q.In.Values[at]
	named := p.cfg.Upstreams.Country(q.Platform, param.Subject, pasted)
	if named != "" && given != "" && named != given {
		return "", problem.New(problem.InvalidRequest, "parameter %q is %s, but %q names %s: leave one of them out",
			filter, given, param.Name, named)
	}
	if given != "" {
		if in, ok := p.cfg.Upstreams.InCountry(q.Platform, param.Subject, id, given); ok {
			q.In.Values[at] = ""
			return in, nil
		}
	}
	_, prefixed := p.cfg.Upstreams.InCountry(q.Platform, param.Subject, id, named)
	if named == "" || named == given || prefixed || !p.cfg.Upstreams.FiltersBy(q.Platform, q.Row.Op, filter, named) {
		return id, nil
	}
	q.In.Values[at], q.from = named, nil
	return id, p.offer(q)
}

// leadsElsewhere refuses identifiers that no platform uses and that would lead to another path of the upstream than
// they seem to.
func leadsElsewhere(s providers.Subject, v string) error {
	if s == providers.Handle && strings.HasPrefix(v, "@@") {
		return providers.Invalid("a handle has one @ in front at most")
	}
	if !strings.ContainsAny(v, ".%") { // an escape may be that of a dot
		return nil
	}
	path := v
	if u, err := url.Parse(v); err == nil {
		path = u.Path // decoded
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return providers.Invalid("a path with dots leads elsewhere")
		}
	}
	return nil
}

// resume opens the cursor, if there is one, and sets the cache key.
func (p *Planner) resume(ctx context.Context, q *Query) error {
	b := append(make([]byte, 0, 256), q.Row.Name...) // most keys fit, and then need no heap
	b = append(append(b, '|'), q.Platform...)
	q.Bound = string(q.In.AppendBinding(b))
	q.list = p.cfg.Redact.key() + q.Bound
	q.key, q.until = q.list, untilOf(q.Row, q.In)
	given := q.In.Cursor()
	if given == "" {
		return nil
	}
	at, err := p.OpenCursor(ctx, q.Bound, given)
	if err != nil {
		return err
	}
	if err := q.goOn(at); err != nil {
		return err
	}
	return q.ContinueAt(at)
}

// OpenCursor opens what [Planner.SealCursor] sealed for the same binding. Every error except a fault of ours is an
// invalid_request problem.
func (p *Planner) OpenCursor(ctx context.Context, bound, given string) (*cursor.Cursor, error) {
	place, err := p.cfg.Cursors.Open(ctx, bound, given)
	switch {
	case errors.Is(err, cursor.ErrInvalid):
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" is not a cursor of this request; "+
			"pass meta.next_cursor of the previous page unchanged, with the same parameters")
	case errors.Is(err, cursor.ErrLost):
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	case err != nil:
		return nil, err
	}
	at, err := cursor.Decode(place)
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" cannot be read; start again without it")
	}
	if p.cfg.Now().Sub(at.Issued) > cursor.Life {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	}
	return at, nil
}

// SealCursor encodes a cursor as text that only opens for the same binding.
func (p *Planner) SealCursor(ctx context.Context, bound string, at *cursor.Cursor) (string, error) {
	return p.cfg.Cursors.Seal(ctx, bound, at.Encode(), "")
}

// OutOfReachError means that a platform serves the operation, but not with these parameters: a search of several
// platforms leaves the platform out (D76).
type OutOfReachError struct{ Err error } // the provider's error; nil when a parameter is missing

// Error implements error.
func (e *OutOfReachError) Error() string { return "out of the platform's reach" }

// Unwrap returns the provider's error.
func (e *OutOfReachError) Unwrap() error { return e.Err }

// offer finds the sources that serve the operation with the given parameters. If there is none, but there would be one
// once a missing setting is made, the error names the setting and does not blame the caller's parameters.
func (p *Planner) offer(q *Query) error {
	var beyond, refused, lacking error
	all := p.cfg.Upstreams.Sources(q.Platform)
	for i, source := range all {
		err := filters(q, source.Provider)
		if !source.Serves(q.Row.Op) {
			if err == nil && len(source.Provider.Missing[q.Row.Op]) > 0 {
				lacking = source.Lacking(q.Row.Op)
			}
			continue
		}
		if err != nil {
			refused = err
			continue
		}
		if err := reach(q, source.Provider); err != nil {
			beyond = err
			continue
		}
		if len(q.from) == i { // so far all do: the list is never written to, so that a part of it needs no copy
			q.from = all[: i+1 : i+1]
			continue
		}
		q.from = append(q.from, source)
	}
	switch {
	case len(q.from) > 0:
		return nil
	case beyond != nil:
		return beyond
	case refused != nil && lacking != nil:
		return problem.Wrap(lacking, problem.PlatformUnavailable, "%s does not offer %s with these parameters: %s",
			q.Platform, q.Row.On(string(q.Platform)), lacking)
	case refused != nil:
		return refused
	}
	return p.notOffered(q.Row, q.Platform)
}

// reach returns why a provider that serves the operation cannot serve this query: a required parameter is missing, or
// the query is of a kind that it cannot search for.
func reach(q *Query, p *providers.Provider) error {
	for _, name := range p.Required[q.Row.Op] {
		if q.In.Get(name) == "" {
			return problem.Wrap(&OutOfReachError{}, problem.InvalidRequest, "parameter %q is required for %s on %s",
				name, q.Row.On(string(q.Platform)), q.Platform)
		}
	}
	if q.Row.Reach == nil {
		return nil
	}
	err := q.Row.Reach(p, q.In)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, providers.ErrInvalid):
		return problem.Wrap(&OutOfReachError{err}, problem.InvalidRequest, "%s",
			upstreams.Detail(err, string(q.Platform)+" cannot use this input"))
	}
	return problem.Wrap(&OutOfReachError{err}, problem.PlatformUnavailable, "%s%s",
		q.Row.Prefix(operation.Call{Platform: string(q.Platform)}), upstreams.Detail(err, "the upstream cannot serve this"))
}

// notOffered returns the problem of an operation that the platform does not serve, with the route and the reason.
func (p *Planner) notOffered(row *Row, id platform.ID) error {
	reason := p.cfg.Upstreams.Reason(id, row.Op)
	phrase := problem.Phrase{HTTP: reason, Go: reason, Command: reason}
	if len(p.cfg.Upstreams.Sources(id)) == 0 {
		phrase.Go += "; " + pass(id)
	}
	return problem.Wrap(p.cfg.Upstreams.Lacking(id, row.Op), problem.PlatformUnavailable, "%s does not offer %s: %s",
		id, row.On(string(id)), phrase)
}

// pass says which provider a Go program has to pass for a platform.
func pass(id platform.ID) string {
	if _, ours := platform.Lookup(id); !ours {
		return "pass one to socialdata.WithProviders"
	}
	name := strings.ReplaceAll(string(id), "_", "") // of the package
	return "pass " + name + ".New(" + name + ".Config{…}), of the package providers/" + name + ", to socialdata.WithProviders"
}

// filters refuses a filter that the platform cannot apply: ignoring it silently would give a wrong answer.
func filters(q *Query, p *providers.Provider) error {
	for i := range q.In.Params {
		param, v := &q.In.Params[i], q.In.Values[i]
		if !param.Filter || v == "" {
			continue
		}
		values, ok := p.Filters[q.Row.Op][param.Name]
		if !ok {
			return problem.New(problem.InvalidRequest, "parameter %q: %s cannot filter by it on %s",
				param.Name, q.Platform, q.Row.On(string(q.Platform)))
		}
		if values != nil && !slices.Contains(values, v) {
			return problem.New(problem.InvalidRequest, "parameter %q must be one of %s on %s",
				param.Name, strings.Join(values, ", "), q.Platform)
		}
	}
	return nil
}
