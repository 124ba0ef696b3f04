package read

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
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/providers"
)

// MaxEmpty is how many upstream pages without anything new are passed over in one call.
const MaxEmpty = 5

// walk reads the page that q.at points to. Upstreams whose lists shift between two reads repeat items: those are left
// out, and a page of nothing else is passed over. A token that leads back ends the walk.
func (r *Reader) walk(ctx context.Context, q *Query) (*cache.Entry, error) {
	at := q.at
	at.Used, at.Seen = slices.Clone(at.Used), slices.Clone(at.Seen)
	for empty := 0; ; empty++ {
		got, by, err := r.ask(ctx, q, &at)
		if err != nil {
			return nil, err
		}
		nothing, same := len(got.IDs) == 0, got.Next == at.Token
		back := !same && slices.Contains(at.Used, cursor.Hash(got.Next))
		if back || nothing && (same || empty == MaxEmpty) {
			got.Next = ""
		}
		if at.Token != "" && !same {
			at.Used = append(at.Used, cursor.Hash(at.Token))
		}
		at.Seen = append(at.Seen, got.IDs...)
		if !nothing || got.Next == "" {
			return r.entry(q, got, by.p.Name, &at), nil
		}
		at.Token, at.Provider = got.Next, by.p.Name
	}
}

// entry makes the cache entry of a page.
func (r *Reader) entry(q *Query, got Fetched, provider string, at *cursor.Cursor) *cache.Entry {
	entry := &cache.Entry{Data: string(got.Data), Page: string(got.Page), Provider: provider, FetchedAt: got.at}
	for _, raw := range got.Raw {
		entry.Raw = append(entry.Raw, string(raw))
	}
	if got.Next != "" && q.Row.Paged() {
		entry.Next = r.SealCursor(q.Bound, &cursor.Cursor{
			Provider: provider, Token: got.Next, Issued: entry.FetchedAt.Truncate(time.Hour),
			Used: cursor.KeepLast(at.Used, cursor.MaxUsed), Seen: cursor.KeepLast(at.Seen, cursor.MaxSeen),
		})
	}
	sum := sha256.New()
	sum.Write(got.Data)
	sum.Write([]byte(entry.Next))
	entry.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	return entry
}

// ask reads from the first provider that can answer. An absence, a refusal of the input and a dead cursor are final.
func (r *Reader) ask(ctx context.Context, q *Query, at *cursor.Cursor) (Fetched, *link, error) {
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
		got, err := r.try(ctx, l.p, q, at)
		done(err)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = &providers.Error{Kind: providers.ErrTimeout, Err: err}
		}
		if !isCounted(err) {
			r.health.count(q.Platform, isFailure(err) && !errors.Is(err, providers.ErrUnsupported))
		}
		if err == nil || !isFailure(err) {
			return got, l, err
		}
		r.cfg.Log.WarnContext(ctx, "upstream failed",
			"provider", l.p.Name, "platform", q.Platform, "operation", q.Row.Name, "error", err)
		last = errors.Join(last, err)
		if ctx.Err() != nil {
			break
		}
	}
	return Fetched{}, nil, last
}

// try makes one reading from one provider.
func (r *Reader) try(ctx context.Context, p *providers.Provider, q *Query, at *cursor.Cursor) (got Fetched, err error) {
	defer r.Rescue(ctx, q, &err)
	seen := make(map[uint64]bool, len(at.Seen))
	for _, id := range at.Seen {
		seen[id] = true
	}
	asked := r.cfg.Now().Truncate(time.Millisecond) // the answer may be as old as the question
	got, err = q.Row.Fetch(ctx, Reading{
		Provider: p, In: q.In, Token: at.Token, At: asked, Reader: r,
		skip: func(id uint64) bool { return seen[id] },
	})
	got.at = asked
	if err != nil && !inContract(err) {
		err = providers.Unavailable(err, "the upstream failed")
	}
	return got, err
}

// inContract tells whether err is one that the contract of providers knows.
func inContract(err error) bool {
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

// ErrPanic says that a provider, or what else was plugged in, panicked.
var ErrPanic = errors.New("panicked")

// Rescue turns a panic into an error. It is deferred by whoever starts a goroutine for q.
func (r *Reader) Rescue(ctx context.Context, q *Query, err *error) {
	if v := recover(); v != nil {
		r.cfg.Log.ErrorContext(ctx, "panic",
			"operation", q.Row.Name, "platform", q.Platform, "panic", v, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %v", ErrPanic, v)
	}
}
