package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

const (
	// absenceTTL is how long an absence is cached.
	absenceTTL = time.Minute
	// passing is how long an answer is valid that may be better on the next try.
	passing = time.Minute
	// cachePatience is how long the cache may take: in more time than that, an upstream could answer.
	cachePatience = time.Second
)

// Recall returns the entry of q from the cache, which may be an absence, or nil when q must be read: an expired entry,
// or one older than q accepts, does not count.
func (r *Reader) Recall(ctx context.Context, q *Query) *cache.Entry {
	if q.Fresh {
		return nil
	}
	now := r.cfg.Now()
	var entry *cache.Entry
	if r.near != nil { // takes a fraction of the time of a look-up that may have to wait
		entry = r.near.Peek(q.key)
	}
	if entry == nil || !good(q, entry, now) {
		if entry = r.cached(ctx, q); entry == nil || !good(q, entry, now) {
			return nil
		}
	}
	if q.skipped = q.Within && now.Sub(entry.FetchedAt) >= q.MaxAge; q.skipped {
		return nil
	}
	return entry
}

// good reports whether an entry is within its lifetime.
func good(q *Query, entry *cache.Entry, now time.Time) bool {
	return now.Sub(entry.FetchedAt) < q.Row.life(entry)
}

// Lookup answers q from the cache, or from upstream, within the time of one call.
func (r *Reader) Lookup(ctx context.Context, q *Query) (*cache.Entry, schema.CacheState, error) {
	return r.read(ctx, q, r.Recall(ctx, q))
}

// read answers q from the known entry, from upstream, or, if the upstream fails and q accepts it, from an expired
// entry.
func (r *Reader) read(ctx context.Context, q *Query, known *cache.Entry) (*cache.Entry, schema.CacheState, error) {
	if known != nil {
		return known, schema.Hit, cmp.Or(r.recalled(known), ctx.Err())
	}
	entry, state, err := r.share(ctx, q)
	if q.Stale > 0 && failed(err) {
		if old := r.past(ctx, q); old != nil {
			q.late = true
			return old, schema.Hit, nil
		}
	}
	return entry, state, err
}

// failed reports whether err is the upstream's failure: neither an answer, nor a fault or a missing setting of ours.
func failed(err error) bool {
	return (errors.Is(err, providers.ErrUnavailable) || errors.Is(err, providers.ErrTimeout) ||
		errors.Is(err, context.DeadlineExceeded)) &&
		!upstreams.IsFinal(err) && !errors.Is(err, providers.ErrBusy)
}

// past returns the stored entry of q, if it is not older than q accepts. It never returns an absence.
func (r *Reader) past(ctx context.Context, q *Query) *cache.Entry {
	entry := r.cached(context.WithoutCancel(ctx), q)
	if entry == nil || entry.NotFound || r.cfg.Now().Sub(entry.FetchedAt) > q.Row.life(entry)+q.Stale {
		return nil
	}
	return entry
}

// share answers q from upstream, within the time of one call. Concurrent callers with the same request share one read.
// A caller that joined a read makes another one in the remaining time, if the read ended with the time or the quota
// share of the caller that began it, or if its result is older than this caller accepts.
func (r *Reader) share(ctx context.Context, q *Query) (*cache.Entry, schema.CacheState, error) {
	caller, begun := ctx, r.cfg.Now()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	for {
		got, led, err := r.join(ctx, q)
		switch {
		case err == nil && q.Within && !q.skipped && begun.Sub(got.entry.FetchedAt) > q.MaxAge:
			q.skipped = true
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

// landing is the result of a flight.
type landing struct {
	entry *cache.Entry
	state schema.CacheState
}

// join begins a flight for q, or joins that of another caller with the same request, waits for it, and reports whether
// it was begun for this caller.
func (r *Reader) join(ctx context.Context, q *Query) (got landing, led bool, err error) {
	flight, anew := q.key, q.Fresh || q.skipped
	if epoch := r.cfg.Erased.Epoch(); epoch > 0 { // a caller after an erasure must not get what was read before it
		flight = strconv.FormatInt(epoch, 10) + "|" + flight
	}
	switch {
	case q.Fresh:
		flight = "fresh|" + flight
	case q.skipped: // may ask an upstream whether its answer has changed
		flight = "anew|" + flight
		if q.Row.Derive != nil { // cached data that it is derived from would be as old
			own := *q
			own.Fresh, q = true, &own
		}
	}
	began := false // written by the flight, and only read after it has landed
	if r.flying.has(flight) {
		q.member.Leave() // it waits for the read of another caller, and its group need not wait for it
	}
	landed := r.flights.DoChan(flight, func() (any, error) {
		defer r.flying.begin(flight)()
		began = true
		return r.fly(ctx, q, flight, anew)
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

// fly makes the read of a flight. It skips the cache if anew is set. It does not end with the caller's context, because
// one caller that leaves must not fail the others. It has a time limit of its own, after which callers no longer join
// it, even if the read never ends.
func (r *Reader) fly(ctx context.Context, q *Query, flight string, anew bool) (got landing, err error) {
	if !r.work.Begin() {
		return got, errClosed
	}
	defer r.work.End()
	paying := callctx.WithPurse(context.WithoutCancel(ctx), r.cfg.Upstreams.Charges(q.Platform, q.Row.Op))
	detached, cancel := context.WithTimeout(paying, r.cfg.Timeout)
	defer cancel()
	// Later than the context, so that it never affects the flight of callers that try again.
	forget := time.AfterFunc(r.cfg.Timeout+2*cachePatience, func() { r.flights.Forget(flight) })
	defer forget.Stop()
	defer upstreams.Rescue(detached, r.cfg.Log, &err, "operation", q.Row.Name, "platform", q.Platform)
	if !anew {
		// Another read may have landed between this caller's look-up and now.
		claim := r.claim(detached, q)
		switch {
		case claim.Done != nil:
			defer func() { claim.Done(context.WithoutCancel(detached), encodeFailure(err)) }()
		case claim.Failure != "":
			return got, decodeFailure(claim.Failure)
		case good(q, claim.Entry, r.cfg.Now()):
			return landing{claim.Entry, schema.Hit}, nil
		}
	}
	entry, err := r.fetch(detached, q)
	return landing{entry, schema.Miss}, err
}

var errClosed = problem.New(problem.PlatformUnavailable, "the service is shutting down")

// cached returns the entry of q. A cache that fails counts as a miss, and so does one that the call has no time for.
func (r *Reader) cached(ctx context.Context, q *Query) *cache.Entry {
	patience := cachePatience
	if counts := callctx.Of(ctx).Counts; !counts.IsZero() {
		patience = min(patience, r.cfg.Timeout-time.Since(counts))
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	entry, err := r.cfg.Cache.Get(bounded, q.key)
	if err != nil {
		r.warn(ctx, "cache read failed", q, err)
		return nil
	}
	return entry
}

// found converts a cached absence to a problem.
func found(entry *cache.Entry) error {
	if !entry.NotFound {
		return nil
	}
	return problem.Wrap(&providers.Error{Kind: providers.ErrNotFound, Detail: entry.Detail}, problem.NotFound, "%s", entry.Detail)
}

// recalled is [found] for an entry of the cache: an absence has an age.
func (r *Reader) recalled(entry *cache.Entry) error {
	if !entry.NotFound {
		return nil
	}
	p, _ := errors.AsType[*problem.Error](found(entry))
	p.Remembered, p.Age = true, max(0, r.cfg.Now().Sub(entry.FetchedAt))
	return p
}

// fetch makes the entry of q and stores it, even if it is an absence.
func (r *Reader) fetch(ctx context.Context, q *Query) (*cache.Entry, error) {
	asked, begun := r.now(), time.Now()
	entry, err := r.make(ctx, q)
	if errors.Is(err, providers.ErrNotFound) {
		entry, err = &cache.Entry{
			NotFound: true, Detail: absence(q, err), FetchedAt: r.now(), TTL: absenceTTL, Subjects: subjects(r.cfg.Erased, q, &Fetched{Withheld: withheldFor(err)}),
		}, nil
	}
	if err != nil {
		return nil, err
	}
	if !entry.NotFound && q.Row.Upstream() {
		// For callers that accept expired entries.
		entry.Keep = max(0, min(cache.MostKept, r.cfg.Retention.Of(q.Platform)-q.Row.life(entry)))
	}
	if leave, may := r.cfg.Erased.Enter(ctx, entry.Subjects, begun); may {
		defer leave()
		r.keep(ctx, q, entry, asked)
	}
	return entry, nil
}

// keep stores an entry that was requested at the time asked, unless an answer from after that time is stored already.
func (r *Reader) keep(ctx context.Context, q *Query, entry *cache.Entry, asked time.Time) {
	if newer := r.cached(ctx, q); newer != nil && newer.FetchedAt.After(asked) {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, cachePatience)
	defer cancel()
	if err := r.cfg.Cache.Set(bounded, q.key, entry, entry.TTL-r.cfg.Now().Sub(entry.FetchedAt)); err != nil {
		r.warn(ctx, "cache write failed", q, err)
	}
}

// make makes the entry of q: an enrichment with the enricher, derived data from other reads, everything else from
// upstream.
func (r *Reader) make(ctx context.Context, q *Query) (*cache.Entry, error) {
	switch {
	case q.Row.Derive != nil:
		got, err := q.Row.Derive(ctx, r, q)
		if err == nil {
			err = r.withhold(ctx, q, &got)
		}
		if err != nil {
			return nil, err
		}
		return r.entry(q, got, "", &q.at), nil
	case q.Row.Fetch == nil:
		return r.enrichEntry(ctx, q)
	}
	return r.walk(ctx, q)
}

// absence returns the text of a not-found error.
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
