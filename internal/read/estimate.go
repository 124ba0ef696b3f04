package read

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// Estimate returns what q may cost and what the cache has of its answer, without calling an upstream.
func (r *Reader) Estimate(ctx context.Context, q *Query) schema.Estimate {
	out := schema.Estimate{Credits: r.Prices(q), Cache: schema.Miss, Providers: []schema.EstimateProvider{}}
	for _, source := range q.from {
		out.Providers = append(out.Providers, schema.EstimateProvider{
			Provider: source.Provider.Name, UpstreamCredits: source.Provider.Charges[q.Row.op()],
			State: r.cfg.Upstreams.StateOf(source, q.Row.op()),
		})
	}
	if q.Several() {
		r.estimatePages(ctx, q, &out)
		return out
	}
	entry := r.Recall(ctx, q)
	if entry == nil {
		return out
	}
	age := max(0, r.cfg.Now().Sub(entry.FetchedAt))
	out.Cache, out.DataAgeS = schema.Hit, int64(age.Seconds())
	life := q.Row.life(entry)
	if q.Within {
		life = min(life, q.MaxAge)
	}
	out.GoodForS = int64(max(0, life-age).Seconds())
	switch {
	case entry.NotFound:
		out.Credits.Least = 0
	case q.Row.Paged() && entry.Next == "":
		out.Pages = new(int64(1))
	}
	return out
}

// estimatePages adds what the cache has of an answer of several pages: all of it, or nothing. The list may end after any
// page.
func (r *Reader) estimatePages(ctx context.Context, q *Query, out *schema.Estimate) {
	oldest, good := time.Duration(0), q.Row.TTL
	for at, known := q, 1; ; known++ {
		entry := r.Recall(ctx, at)
		if entry == nil || entry.NotFound {
			return
		}
		age := max(0, r.cfg.Now().Sub(entry.FetchedAt))
		life := q.Row.life(entry)
		if q.Within {
			life = min(life, q.MaxAge)
		}
		oldest, good = max(oldest, age), min(good, max(0, life-age))
		next, err := at.behind(entry)
		if err != nil {
			return
		}
		if known == q.Pages || next == nil {
			break
		}
		at = next
	}
	out.Cache, out.DataAgeS, out.GoodForS = schema.Hit, int64(oldest.Seconds()), int64(good.Seconds())
}

// Prices splits the quote of q. Least is the price if every part that may fail does, and nothing has to be read again.
func (r *Reader) Prices(q *Query) schema.EstimateCredits {
	pages := int64(max(1, q.Pages))
	out := schema.EstimateCredits{
		Most: q.Total(), Base: pages * q.base, Fresh: pages * (q.Quote.Base - q.base), Enrich: q.Quote.Enrich,
	}
	least := q.base
	if q.Row.Price == operation.PlatformAndProbes { // a probe that fails is free
		least = r.Base(q.Platform)
	}
	out.Least = credits.Price(least, q.Fresh && q.Stale == 0, false).Base
	if !q.Row.Upstream() { // without an enrichment there is no answer
		out.Least = out.Most
	}
	return out
}
