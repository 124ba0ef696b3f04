package search

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

const defaultWait = 8 * time.Second

// Plan is a fan-out search that has been checked: the platforms and their queries.
type Plan struct {
	parts  []searchPart
	failed []part   // named by the caller, but they have no search, or not with these filters
	bound  string   // what its cursor is bound to
	seen   []uint64 // hashes of the URLs of earlier pages
	wait   time.Duration
	most   int64 // maximum price in credits; 0 is no limit
	recent bool  // newest first, and not by rank
	enrich bool
	raw    bool
	fresh  bool // do not use the cache
	typed  bool // the caller gets Go values if possible
}

// searchPart is the search of one platform.
type searchPart struct {
	platform platform.ID
	q        *read.Query
}

// Price returns the price of the search if every platform answers.
func (p *Plan) Price() int64 {
	n := p.enrichPrice()
	for _, part := range p.parts {
		n += part.q.Quote.Base
	}
	return n
}

// Younger makes the search skip entries that are older than age, at the same price.
func (p *Plan) Younger(age time.Duration) {
	for _, part := range p.parts {
		part.q.Younger(age)
	}
}

// enrichPrice returns the price of the enrichment, for all platforms together.
func (p *Plan) enrichPrice() int64 {
	if p.enrich {
		return credits.EnrichPrice
	}
	return 0
}

// planner checks requests for searches and plans their reads.
type planner struct {
	reader    *read.Reader
	upstreams *upstreams.Pool
	row       *read.Row            // the search of one platform
	all       *operation.Operation // the search of several platforms
	explain   func(platform.ID, error) schema.PlatformError
	cursors   *cursors
	now       func() time.Time
}

// Plan checks a fan-out search and plans the reads of the platforms.
func (s *Service) Plan(ctx context.Context, in operation.Args) (*Plan, error) {
	return s.planner.plan(ctx, in)
}

// plan implements [Service.Plan].
func (p *planner) plan(ctx context.Context, in operation.Args) (*Plan, error) {
	plan := &Plan{
		bound: p.all.Name + in.Binding(), wait: in.Seconds("wait_s", defaultWait), recent: in.Get("sort") == "recent",
		enrich: in.Get("enrich") != "", raw: in.Flag("include_raw"), fresh: in.Flag("fresh"),
		most: in.MaxCredits(),
	}
	named, err := p.namedPlatforms(in.Get("platforms"), plan.enrich)
	if err != nil {
		return nil, err
	}
	var inner map[platform.ID]*cursor.Cursor
	if given := in.Cursor(); given != "" {
		if inner, err = p.resume(ctx, plan, given); err != nil {
			return nil, err
		}
	}
	reach := named
	if reach == nil {
		reach = p.searchable(plan.enrich)
	}
	return plan, p.planParts(ctx, plan, in, reach, named != nil, inner)
}

// planParts plans the search of each platform in scope. A platform that has no search, or not with these filters or
// this query, fails if the caller named it, and is otherwise left out.
func (p *planner) planParts(
	ctx context.Context, plan *Plan, in operation.Args, reach []platform.ID, named bool,
	inner map[platform.ID]*cursor.Cursor,
) error {
	var refusal, lacking error
	for _, id := range reach {
		if inner != nil && inner[id] == nil {
			continue // ended, or failed on an earlier page
		}
		asked, err := p.planPartAt(ctx, in, id, inner[id])
		if err == nil {
			plan.parts = append(plan.parts, asked)
			continue
		}
		_, outOfReach := errors.AsType[*read.OutOfReachError](err)
		switch why, is := errors.AsType[*problem.Error](err); {
		case is && outOfReach:
			beyond := *why
			beyond.Code, lacking = problem.PlatformUnavailable, &beyond // another platform could serve it
		case is && why.Code == problem.InvalidRequest:
			refusal = err
		default:
			lacking = err
		}
		if named {
			plan.failed = append(plan.failed, part{Platform: id, Stage: failed, Why: new(p.explain(id, err))})
		}
	}
	switch {
	case len(plan.parts) > 0:
		return nil
	case refusal != nil:
		return refusal
	case len(reach) == 1 && lacking != nil:
		return lacking
	}
	return problem.New(problem.PlatformUnavailable,
		"none of the platforms can search: %s is not offered by %s", p.row.On("{platform}"), joinIDs(reach))
}

// planPartAt plans one platform's search from a position; nil is the first page.
func (p *planner) planPartAt(
	ctx context.Context, in operation.Args, id platform.ID, at *cursor.Cursor,
) (searchPart, error) {
	q, err := p.planPart(ctx, in, id)
	if err != nil || at == nil {
		return searchPart{platform: id, q: q}, err
	}
	return searchPart{platform: id, q: q}, q.ContinueAt(at)
}

func joinIDs(ids []platform.ID) string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, string(id))
	}
	return strings.Join(out, ", ")
}

// namedPlatforms reads the list of platforms; nil means that there is none.
func (p *planner) namedPlatforms(list string, enrich bool) ([]platform.ID, error) {
	if list == "" {
		return nil, nil
	}
	var out []platform.ID
	for word := range strings.SplitSeq(list, ",") {
		id := platform.ID(strings.TrimSpace(word))
		info, ok := p.upstreams.Platforms().Lookup(id)
		switch {
		case !ok:
			return nil, p.reader.NoPlatform(problem.InvalidRequest, `parameter "platforms": `, word)
		case enrich && info.NoEnrich:
			return nil, problem.New(problem.InvalidRequest,
				"parameter \"enrich\" cannot be used on %s: its content may not be sent through enrichment", id)
		case !slices.Contains(out, id):
			out = append(out, id)
		}
	}
	return out, nil
}

// planPart plans one platform's search exactly like /v1/{platform}/search, so that both share a cache entry.
func (p *planner) planPart(ctx context.Context, in operation.Args, id platform.ID) (*read.Query, error) {
	params := url.Values{}
	for _, name := range []string{
		"query", "kind", "sort", "since", "until", "lang", "fresh", "max_age_s", "stale_if_error_s",
	} {
		v := in.Get(name)
		if name == "sort" && !p.upstreams.FiltersBy(id, p.row.Op, name, v) {
			continue // the merge sorts the results
		}
		if v != "" {
			params.Set(name, v)
		}
	}
	bound, err := operation.Bind(p.row.Params, params)
	if err != nil {
		return nil, err
	}
	info, _ := p.upstreams.Platforms().Lookup(id)
	return p.reader.PlanFor(ctx, p.row, info, bound)
}

// searchable returns the platforms that are searched by default. The sandbox, whose data is invented, is included only
// if there is no other.
func (p *planner) searchable(enrich bool) []platform.ID {
	var out []platform.ID
	var sandboxes []platform.ID
	for _, info := range p.upstreams.Platforms().All() {
		switch {
		case !p.upstreams.Serves(info.ID, p.row.Op) || enrich && info.NoEnrich:
		case info.Sandbox:
			sandboxes = append(sandboxes, info.ID)
		default:
			out = append(out, info.ID)
		}
	}
	if out == nil {
		return sandboxes
	}
	return out
}
