package socialdata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// lookup answers q from the cache, or from upstream. Callers who ask the same at the same time share one read.
func (e *engine) lookup(ctx context.Context, q *query) (*cache.Entry, schema.CacheState, error) {
	if !q.fresh {
		if entry := e.cached(ctx, q.key); entry != nil {
			return entry, schema.Hit, found(entry)
		}
	}
	flight := q.key
	if q.fresh {
		flight = "fresh|" + flight
	}
	ch := e.flights.DoChan(flight, func() (entry any, err error) {
		// Detached: one caller who leaves must not fail the others.
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.timeout)
		defer cancel()
		defer e.rescue(detached, q, &err) // nobody above could: this is a goroutine of its own
		return e.fetch(detached, q)
	})
	select {
	case <-ctx.Done():
		return nil, schema.Miss, ctx.Err()
	case r := <-ch:
		if r.Err != nil {
			return nil, schema.Miss, r.Err
		}
		entry := r.Val.(*cache.Entry)
		return entry, schema.Miss, found(entry)
	}
}

// cached returns the entry under key. A cache that fails is a cache that misses.
func (e *engine) cached(ctx context.Context, key string) *cache.Entry {
	entry, err := e.cache.Get(ctx, key)
	if err != nil {
		e.log.WarnContext(ctx, "cache read failed", "error", err)
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

// fetch reads q upstream and stores what comes, an absence too.
func (e *engine) fetch(ctx context.Context, q *query) (*cache.Entry, error) {
	entry, err := q.op.entry(e, ctx, q)
	ttl := q.op.TTL
	if errors.Is(err, providers.ErrNotFound) {
		entry, err, ttl = &cache.Entry{NotFound: true, Detail: absence(q, err), FetchedAt: e.now()}, nil, notFoundTTL
	}
	if err != nil {
		return nil, err
	}
	if err := e.cache.Set(ctx, q.key, entry, ttl-e.now().Sub(entry.FetchedAt)); err != nil {
		e.log.WarnContext(ctx, "cache write failed", "error", err)
	}
	return entry, nil
}

// absence says what is not there.
func absence(q *query, err error) string {
	if d := detail(err, ""); d != "" {
		return d
	}
	for i, p := range q.in.params {
		if v := q.in.values[i]; v != "" && (p.Required || p.OneOf) {
			return fmt.Sprintf("%s has no %s for %s %q", q.platform, q.op.Name, p.Name, v)
		}
	}
	return fmt.Sprintf("%s has no %s", q.platform, q.op.Name)
}

// maxEmpty is how many upstream pages without anything new are passed over in one call.
const maxEmpty = 5

// walk reads the page that q.at points to. Upstreams whose lists shift between two reads repeat items: those are left
// out, and a page of nothing else is passed over. A token that leads back ends the walk.
func (e *engine) walk(ctx context.Context, q *query) (*cache.Entry, error) {
	at := q.at
	at.Used, at.Seen = slices.Clone(at.Used), slices.Clone(at.Seen)
	for empty := 0; ; empty++ {
		got, by, err := e.ask(ctx, q, &at)
		if err != nil {
			return nil, err
		}
		nothing, same := len(got.ids) == 0, got.next == at.Token
		back := !same && slices.Contains(at.Used, hashOf(got.next))
		if back || nothing && (same || empty == maxEmpty) {
			got.next = ""
		}
		if at.Token != "" && !same {
			at.Used = append(at.Used, hashOf(at.Token))
		}
		at.Seen = append(at.Seen, got.ids...)
		if !nothing || got.next == "" {
			return e.entry(q, got, by.p.Name, &at), nil
		}
		at.Token, at.Provider = got.next, by.p.Name
	}
}

// entry makes the cache entry of a page.
func (e *engine) entry(q *query, got fetched, provider string, at *cursor) *cache.Entry {
	entry := &cache.Entry{Data: got.data, Raw: got.raw, Page: got.page, Provider: provider, FetchedAt: got.at}
	if got.next != "" && q.op.Paged() {
		next := cursor{
			Provider: provider, Token: got.next, Issued: entry.FetchedAt.Truncate(time.Hour),
			Used: keepLast(at.Used, maxUsed), Seen: keepLast(at.Seen, maxSeen),
		}
		entry.Next = e.sealer.seal(q.bound, next.encode())
	}
	sum := sha256.New()
	sum.Write(entry.Data)
	sum.Write([]byte(entry.Next))
	entry.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	return entry
}

// ask reads from the first provider that can answer. An absence, a refusal of the input and a dead cursor are final.
func (e *engine) ask(ctx context.Context, q *query, at *cursor) (fetched, *link, error) {
	var last error
	for _, l := range q.links {
		if at.Provider != "" && l.p.Name != at.Provider {
			continue
		}
		done, err := l.breaker.Allow()
		if err != nil {
			last = errors.Join(last, providers.Unavailable(err, "the upstream has failed too often and is given a rest"))
			continue
		}
		got, err := e.try(ctx, l.p, q, at)
		done(err)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = &providers.Error{Kind: providers.ErrTimeout, Err: err}
		}
		if !isCounted(err) {
			e.health.count(q.platform, isFailure(err) && !errors.Is(err, providers.ErrUnsupported))
		}
		if err == nil || !isFailure(err) {
			return got, l, err
		}
		e.log.WarnContext(ctx, "upstream failed", "provider", l.p.Name, "platform", q.platform, "operation", q.op.Name, "error", err)
		last = errors.Join(last, err)
		if ctx.Err() != nil {
			break
		}
	}
	return fetched{}, nil, last
}

// errPanic says that a provider, or what else was plugged in, panicked.
var errPanic = errors.New("panicked")

// rescue turns a panic into an error.
func (e *engine) rescue(ctx context.Context, q *query, err *error) {
	if v := recover(); v != nil {
		e.log.ErrorContext(ctx, "panic", "operation", q.op.Name, "platform", q.platform, "panic", v, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %v", errPanic, v)
	}
}

func (e *engine) try(ctx context.Context, p *providers.Provider, q *query, at *cursor) (got fetched, err error) {
	defer e.rescue(ctx, q, &err)
	seen := make(map[uint64]bool, len(at.Seen))
	for _, id := range at.Seen {
		seen[id] = true
	}
	asked := e.now().Truncate(time.Millisecond) // the answer may be as old as the question
	got, err = q.op.fetch(ctx, reading{
		engine: e, p: p, in: q.in, token: at.Token, at: asked,
		skip: func(id uint64) bool { return seen[id] },
	})
	got.at = asked
	if err != nil && !spoken(err) {
		err = providers.Unavailable(err, "the upstream failed")
	}
	return got, err
}

// spoken tells whether err is one that the contract knows.
func spoken(err error) bool {
	for _, kind := range []error{
		providers.ErrNotFound, providers.ErrUnavailable, providers.ErrTimeout, providers.ErrInvalid, providers.ErrCursor,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
