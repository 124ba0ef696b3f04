package search

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// fetcher reads what platforms find.
type fetcher struct {
	reader *read.Reader
	log    *slog.Logger
}

// partResult is the result of one platform's search.
type partResult struct {
	data    []byte // the results, with raw and enrichment if requested
	list    []ranked
	entry   *cache.Entry
	state   schema.CacheState
	price   int64 // credits
	hasText bool  // something could be enriched
	spoilt  bool  // something with text could not be
}

// readPart makes one platform's search and adds raw and enrichment to its results.
func (f *fetcher) readPart(ctx context.Context, plan *Plan, q *read.Query) (r partResult, err error) {
	defer upstreams.Rescue(ctx, f.log, &err, "operation", q.Row.Name, "platform", q.Platform)
	r.entry, r.state, err = f.reader.Lookup(ctx, q)
	if err != nil {
		return r, err
	}
	r.price = f.reader.Priced(q, r.entry).Base
	r.data = []byte(r.entry.Data)
	if plan.raw {
		if r.data, err = read.Splice(r.data, "raw", r.entry.Raw); err != nil {
			return r, err
		}
	}
	if plan.enrich && !bytes.Equal(r.data, []byte("[]")) {
		f.enrich(ctx, q, &r)
	}
	// Here, because this runs concurrently for each platform. Raw and enrichment are added to the encoded data.
	if plan.typed && !plan.raw && !plan.enrich {
		if value, err := f.reader.Value(q, r.entry); err == nil {
			r.list = rankedAs(*value.(*[]schema.SearchResult), r.data)
		}
	}
	if r.list == nil {
		r.list = rankedOf(r.data)
	}
	return r, ctx.Err()
}

// enrich adds enrichment to results, and notes whether there was anything to enrich and whether all of it was.
func (f *fetcher) enrich(ctx context.Context, q *read.Query, r *partResult) {
	a := &operation.Answer{Data: r.data}
	outcome := f.reader.Enrich(ctx, q, r.entry, a)
	r.spoilt, r.hasText = outcome == read.PartlyEnriched, outcome != read.NothingToEnrich
	r.data = a.Data
}
