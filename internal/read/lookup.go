package read

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// absenceTTL is how long it is remembered that there is no such thing.
const absenceTTL = time.Minute

// Lookup answers q from the cache, or from upstream. Callers who ask the same at the same time share one read.
func (r *Reader) Lookup(ctx context.Context, q *Query) (*cache.Entry, schema.CacheState, error) {
	if !q.Fresh {
		if entry := r.cached(ctx, q); entry != nil {
			return entry, schema.Hit, r.recalled(entry)
		}
	}
	flight := q.key
	if q.Fresh {
		flight = "fresh|" + flight
	}
	landed := r.flights.DoChan(flight, func() (entry any, err error) {
		// Detached: one caller who leaves must not fail the others.
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Timeout)
		defer cancel()
		defer r.Rescue(detached, q, &err) // nobody above could: this is a goroutine of its own
		return r.fetch(detached, q)
	})
	select {
	case <-ctx.Done():
		return nil, schema.Miss, ctx.Err()
	case got := <-landed:
		if got.Err != nil {
			return nil, schema.Miss, got.Err
		}
		entry := got.Val.(*cache.Entry)
		return entry, schema.Miss, found(entry)
	}
}

// cached returns the entry of q. A cache that fails is a cache that misses.
func (r *Reader) cached(ctx context.Context, q *Query) *cache.Entry {
	entry, err := r.cfg.Cache.Get(ctx, q.key)
	if err != nil {
		r.warn(ctx, "cache read failed", q, err)
		return nil
	}
	return entry
}

// found turns a remembered absence back into a problem.
func found(entry *cache.Entry) error {
	if !entry.NotFound {
		return nil
	}
	return problem.Wrap(providers.ErrNotFound, problem.NotFound, "%s", entry.Detail)
}

// recalled is [found] for an entry of the cache: an absence tells its age.
func (r *Reader) recalled(entry *cache.Entry) error {
	p, absent := errors.AsType[*problem.Error](found(entry))
	if !absent {
		return nil
	}
	p.Remembered, p.Age = true, max(0, r.cfg.Now().Sub(entry.FetchedAt))
	return p
}

// fetch makes the entry of q and keeps it, an absence too.
func (r *Reader) fetch(ctx context.Context, q *Query) (*cache.Entry, error) {
	entry, err := r.make(ctx, q)
	ttl := q.Row.TTL
	if errors.Is(err, providers.ErrNotFound) {
		entry, err, ttl = &cache.Entry{NotFound: true, Detail: absence(q, err), FetchedAt: r.cfg.Now()}, nil, absenceTTL
	}
	if err != nil {
		return nil, err
	}
	if err := r.cfg.Cache.Set(ctx, q.key, entry, ttl-r.cfg.Now().Sub(entry.FetchedAt)); err != nil {
		r.warn(ctx, "cache write failed", q, err)
	}
	return entry, nil
}

// make makes the entry of q: an enrichment on the spot, everything else from upstream.
func (r *Reader) make(ctx context.Context, q *Query) (*cache.Entry, error) {
	if q.Row.Fetch == nil {
		return r.enrichEntry(ctx, q)
	}
	return r.walk(ctx, q)
}

// absence says what is not there.
func absence(q *Query, err error) string {
	if d := Detail(err, ""); d != "" {
		return d
	}
	for i, p := range q.In.Params {
		if v := q.In.Values[i]; v != "" && (p.Required || p.OneOf) {
			return fmt.Sprintf("%s has no %s for %s %q", q.Platform, q.Row.Name, p.Name, v)
		}
	}
	return fmt.Sprintf("%s has no %s", q.Platform, q.Row.Name)
}
