package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

const (
	// absenceTTL is how long it is remembered that there is no such thing.
	absenceTTL = time.Minute
	// passing is how long an answer is good that another moment could better.
	passing = time.Minute
	// cachePatience is how long the cache may take: an upstream would be asked meanwhile.
	cachePatience = time.Second
)

// Recall returns the entry of q from the cache, an absence too, or nil when q must be read.
func (r *Reader) Recall(ctx context.Context, q *Query) *cache.Entry {
	if q.Fresh {
		return nil
	}
	if r.near != nil { // a fraction of the time that the clocks of a look-up take which may have to wait
		if entry := r.near.Peek(q.key); entry != nil {
			return entry
		}
	}
	return r.cached(ctx, q)
}

// Lookup answers q from the cache, or from upstream, within the time of one call.
func (r *Reader) Lookup(ctx context.Context, q *Query) (*cache.Entry, schema.CacheState, error) {
	return r.read(ctx, q, r.Recall(ctx, q))
}

// read answers q from the entry that is known, or from upstream, within the time of one call. Callers who ask the same
// at the same time share one read. A caller who has joined one, and lost it to the clock or to the share of whoever began
// it, makes another in the time that remains.
func (r *Reader) read(ctx context.Context, q *Query, known *cache.Entry) (*cache.Entry, schema.CacheState, error) {
	if known != nil {
		return known, schema.Hit, cmp.Or(r.recalled(known), ctx.Err())
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	for {
		got, led, err := r.join(ctx, q)
		switch {
		case err == nil:
			if got.state == schema.Hit {
				return got.entry, got.state, r.recalled(got.entry)
			}
			return got.entry, got.state, found(got.entry)
		case caller.Err() != nil:
			return nil, schema.Miss, caller.Err()
		case ctx.Err() != nil:
			return nil, schema.Miss, &providers.Error{Kind: providers.ErrTimeout, Err: err}
		case led || !upstreams.OnlyTimeouts(err) && !errors.Is(err, providers.ErrShare):
			return nil, schema.Miss, err
		}
	}
}

// landing is what a flight brought.
type landing struct {
	entry *cache.Entry
	state schema.CacheState
}

// join waits for the flight of those who ask the same, and tells whether it was begun for this caller.
func (r *Reader) join(ctx context.Context, q *Query) (got landing, led bool, err error) {
	flight := q.key
	if q.Fresh {
		flight = "fresh|" + flight
	}
	began := false // written by the flight, and read only after it has landed
	landed := r.flights.DoChan(flight, func() (any, error) {
		began = true
		return r.fly(ctx, q, flight)
	})
	select {
	case <-ctx.Done():
		return got, false, ctx.Err()
	case l := <-landed:
		if l.Err != nil {
			return got, began, l.Err
		}
		return l.Val.(landing), began, nil
	}
}

// fly makes the read that a flight is for. It is detached: one caller who leaves must not fail the others. And it has an
// end of its own, after which nobody joins it any more, even if what it waits for never ends.
func (r *Reader) fly(ctx context.Context, q *Query, flight string) (got landing, err error) {
	if !r.work.Begin() {
		return got, errClosed
	}
	defer r.work.End()
	detached, cancel := context.WithTimeout(providers.WithPurse(context.WithoutCancel(ctx)), r.cfg.Timeout)
	defer cancel()
	// Later than the context, so that it never meets the flight of those who try again.
	forget := time.AfterFunc(r.cfg.Timeout+2*cachePatience, func() { r.flights.Forget(flight) })
	defer forget.Stop()
	defer upstreams.Rescue(detached, r.cfg.Log, &err, "operation", q.Row.Name, "platform", q.Platform)
	if !q.Fresh {
		// Somebody may have landed between this caller's look into the cache and now.
		turn := r.turnOf(detached, q)
		switch {
		case turn.Entry != nil:
			return landing{turn.Entry, schema.Hit}, nil
		case turn.Failure != "":
			return got, failureOf(turn.Failure)
		}
		defer func() { turn.Done(context.WithoutCancel(detached), inWords(err)) }()
	}
	entry, err := r.fetch(detached, q)
	return landing{entry, schema.Miss}, err
}

var errClosed = problem.New(problem.PlatformUnavailable, "the service is shutting down")

// cached returns the entry of q. A cache that fails is a cache that misses.
func (r *Reader) cached(ctx context.Context, q *Query) *cache.Entry {
	ctx, cancel := context.WithTimeout(ctx, cachePatience)
	defer cancel()
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
	return problem.Wrap(&providers.Error{Kind: providers.ErrNotFound, Detail: entry.Detail}, problem.NotFound, "%s", entry.Detail)
}

// recalled is [found] for an entry of the cache: an absence tells its age.
func (r *Reader) recalled(entry *cache.Entry) error {
	if !entry.NotFound {
		return nil
	}
	p, _ := errors.AsType[*problem.Error](found(entry))
	p.Remembered, p.Age = true, max(0, r.cfg.Now().Sub(entry.FetchedAt))
	return p
}

// fetch makes the entry of q and keeps it, an absence too.
func (r *Reader) fetch(ctx context.Context, q *Query) (*cache.Entry, error) {
	asked := r.now()
	entry, err := r.make(ctx, q)
	if errors.Is(err, providers.ErrNotFound) {
		entry, err = &cache.Entry{NotFound: true, Detail: absence(q, err), FetchedAt: r.now(), TTL: absenceTTL}, nil
	}
	if err != nil {
		return nil, err
	}
	r.keep(ctx, q, entry, asked)
	return entry, nil
}

// keep stores an entry, unless somebody has stored an answer that was read after this one was asked for.
func (r *Reader) keep(ctx context.Context, q *Query, entry *cache.Entry, asked time.Time) {
	if newer := r.cached(ctx, q); newer != nil && newer.FetchedAt.After(asked) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cachePatience)
	defer cancel()
	if err := r.cfg.Cache.Set(ctx, q.key, entry, entry.TTL-r.cfg.Now().Sub(entry.FetchedAt)); err != nil {
		r.warn(ctx, "cache write failed", q, err)
	}
}

// make makes the entry of q: an enrichment on the spot, what is derived from other reads, everything else from upstream.
func (r *Reader) make(ctx context.Context, q *Query) (*cache.Entry, error) {
	switch {
	case q.Row.Derive != nil:
		got, err := q.Row.Derive(ctx, r, q)
		if err != nil {
			return nil, err
		}
		return r.entry(q, got, "", &q.at), nil
	case q.Row.Fetch == nil:
		return r.enrichEntry(ctx, q)
	}
	return r.walk(ctx, q)
}

// absence says what is not there.
func absence(q *Query, err error) string {
	if d := upstreams.Detail(err, ""); d != "" {
		return d
	}
	if q.Row.raw() {
		return fmt.Sprintf("the upstream has nothing at %s", q.In.Values[0])
	}
	for i, p := range q.In.Params {
		if v := q.In.Values[i]; v != "" && (p.Required || p.OneOf) {
			return fmt.Sprintf("%s has no %s for %s %q", q.Platform, q.Row.Name, p.Name, v)
		}
	}
	return fmt.Sprintf("%s has no %s", q.Platform, q.Row.Name)
}
