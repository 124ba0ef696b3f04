package engine

import (
	"context"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// planned is a call that has been checked and priced, but not begun: a read, a batch, a search of several platforms,
// or, when all are nil, a free call.
type planned struct {
	read   *read.Query
	batch  *batch
	search *search.Plan
}

// planner checks and prices a call of one of the service's own operations that cost credits.
type planner func(ctx context.Context, s *Session, row *read.Row, call operation.Call) (planned, error)

// planners returns the planner of each row that costs credits and is not read from a provider as it is, by name.
func planners() map[string]planner {
	return map[string]planner{"raw": planRaw, "enrich": planText, "search_across": planSearch, "stats": planStats}
}

func planRaw(_ context.Context, s *Session, row *read.Row, call operation.Call) (planned, error) {
	q, err := s.reader.PlanRaw(row, call)
	return planned{read: q}, err
}

func planText(_ context.Context, s *Session, row *read.Row, call operation.Call) (planned, error) {
	q, err := s.reader.PlanText(row, call)
	return planned{read: q}, err
}

func planSearch(ctx context.Context, s *Session, row *read.Row, call operation.Call) (planned, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return planned{}, err
	}
	plan, err := s.search.Plan(ctx, in)
	return planned{search: plan}, err
}

// plan checks and prices a call in the same way as making it.
func (s *Session) plan(ctx context.Context, row *read.Row, call operation.Call) (planned, error) {
	if row.Of != nil {
		b, err := s.planBatch(ctx, row, call)
		return planned{batch: b}, err
	}
	if plan := s.planners[row.Name]; plan != nil {
		return plan(ctx, s, row, call)
	}
	if !row.Service {
		q, err := s.reader.Plan(ctx, row, call)
		return planned{read: q}, err
	}
	if len(row.Params) == 0 {
		return planned{}, nil
	}
	_, err := call.Bind(row.Params)
	return planned{}, err
}

// estimate returns the price of another call, without making it.
func estimate(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	of, asked, err := s.called(in.Get("of"))
	if err != nil {
		return nil, err
	}
	if of.Redirects { // an estimate does not open a short link
		if of, asked, _, err = s.redirect(ctx, of, asked, false); err != nil {
			return nil, err
		}
	}
	plan, err := s.plan(ctx, of, asked)
	if err != nil {
		return nil, problemOf(of.Operation, asked, err)
	}
	out, most := schema.Estimate{Cache: schema.Miss, Providers: []schema.EstimateProvider{}}, int64(0)
	switch {
	case plan.read != nil:
		out, most = s.reader.Estimate(ctx, plan.read), plan.read.Most
	case plan.batch != nil:
		out, most = plan.batch.estimate(ctx), plan.batch.most
	case plan.search != nil:
		out, most = s.search.Estimate(ctx, plan.search), plan.search.Most()
	}
	if out.Affordable, err = s.who.Affords(ctx, out.Credits.Most); err != nil {
		return nil, err
	}
	out.Affordable = out.Affordable && account.Within(out.Credits.Most, most) == nil
	if out.Balance, err = s.who.Balance(ctx); err != nil {
		return nil, err
	}
	return freeAnswer(call, out, out.Balance)
}

// estimate returns what the batch may cost and what the cache has of its answer. The minimum is the price of what is in
// the cache: a key that is not found is free.
func (b *batch) estimate(ctx context.Context) schema.Estimate {
	out, known := schema.Estimate{Providers: []schema.EstimateProvider{}}, 0
	for i, q := range b.Reads {
		one := b.reader.Estimate(ctx, q)
		out.Credits.Base += one.Credits.Base
		out.Credits.Fresh += one.Credits.Fresh
		if i == 0 && b.addresses == nil {
			out.Providers = one.Providers
		}
		if one.Cache == schema.Miss {
			continue
		}
		if out.DataAgeS = max(out.DataAgeS, one.DataAgeS); known == 0 || one.GoodForS < out.GoodForS {
			out.GoodForS = one.GoodForS
		}
		known++
		out.Credits.Least += one.Credits.Least
	}
	out.Credits.Most, out.Credits.Enrich, out.Cache = b.quote.Total(), b.quote.Enrich, schema.Hit
	shorts := b.quote.Base - out.Credits.Base - out.Credits.Fresh // of short links, which are not opened
	if out.Credits.Base += shorts; b.doubled() {
		out.Credits.Base -= shorts / 2
		out.Credits.Fresh += shorts / 2
	}
	if known < len(b.Reads) || b.shorts() {
		out.Cache, out.DataAgeS, out.GoodForS = schema.Miss, 0, 0
	}
	return out
}

// called parses the path and query of a call like the HTTP API.
func (e *Engine) called(of string) (*read.Row, operation.Call, error) {
	escaped, query, _ := strings.Cut(of, "?")
	path, err := url.PathUnescape(escaped)
	if err != nil || !strings.HasPrefix(path, "/") {
		return nil, operation.Call{}, problem.New(problem.InvalidRequest,
			`parameter "of" must be the path and query of a call, such as /v1/github/profile?handle=octocat`)
	}
	below, ok := strings.CutPrefix(path, "/v1/")
	var o *operation.Operation
	var call operation.Call
	if ok && !operation.Odd(escaped) {
		o, call.Platform, call.Path = e.routes.Find(below)
	}
	if o == nil {
		return nil, call, problem.New(problem.NotFound, `parameter "of": there is no route %s below /v1%s`,
			path, e.routes.Meant(path, e.cfg.Platforms))
	}
	call.Pairs, err = operation.ParseQuery(query)
	if call.Pairs == nil {
		call.Pairs = operation.Pairs{}
	}
	if err != nil && (o.Service || e.cfg.Platforms.Has(platform.ID(call.Platform))) { // else the plan reports it
		return nil, call, problem.Wrap(err, problem.InvalidRequest, `parameter "of": the query string is malformed; `+
			"escape special characters as %%XX")
	}
	return e.rows[o.Name], call, nil
}
