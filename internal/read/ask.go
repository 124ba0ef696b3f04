package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers"
)

// ask reads from the first provider that can answer. An absence, a refusal of the input and a dead cursor are final, but
// for the absence that a source of limited sight tells: it is final when nobody else has seen more.
func (r *Reader) ask(ctx context.Context, q *Query, at *cursor.Cursor) (Fetched, *link, error) {
	links := q.issuers(at)
	var failed, unseen error
	for i, l := range links {
		done, err := l.admit(q.Row.Op, r.cfg.Now())
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		got, err := r.turn(ctx, l, q, at, r.anyReady(links[i+1:], q))
		done(l.blame(err, q.subject(), q.Row.raw()))
		l.heed(err, q.Row.Op, r.cfg.Now())
		r.health.count(q.Platform, r.tallyOf(q, got, err))
		switch {
		case err == nil, isFinal(err):
			return got, l, err
		case errors.Is(err, providers.ErrNotHere):
			unseen = errors.Join(unseen, err)
		default:
			r.cfg.Log.WarnContext(ctx, "upstream failed",
				"provider", l.p.Name, "platform", q.Platform, "operation", q.Row.Name, "error", providers.Loggable(err))
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed == nil && unseen != nil {
		return Fetched{}, nil, &providers.Error{Kind: providers.ErrNotFound, Detail: Detail(unseen, ""), Err: unseen}
	}
	return Fetched{}, nil, failed
}

// issuers returns who may read the page at a place: all who serve the operation, or who issued the cursor.
func (q *Query) issuers(at *cursor.Cursor) []*link {
	if at.Provider == "" {
		return q.links
	}
	for i, l := range q.links {
		if l.p.Name == at.Provider {
			return q.links[i : i+1]
		}
	}
	return nil
}

// subject names what is read, so that a failure is held against the upstream once for each.
func (q *Query) subject() string { return strings.Join(q.In.Values, "|") }

// raw tells whether a read is forwarded as the caller has put it.
func (r *Row) raw() bool { return r.Op == "" && r.Fetch != nil }

func (r *Reader) anyReady(links []*link, q *Query) bool {
	for _, l := range links {
		if l.ready(q.Row.Op, r.cfg.Now()) {
			return true
		}
	}
	return false
}

// tallyOf says what a reading counts for in the platform's health.
func (r *Reader) tallyOf(q *Query, got Fetched, err error) tally {
	t := tally{calls: 1, rows: int64(got.Rows), drifted: int64(got.drifted)}
	if isFailure(err) {
		switch providers.BlameOf(err) {
		case providers.BlameUpstream:
			t.failed = 1
		case providers.BlameSubject:
			if !q.Row.raw() {
				t.failed = 1
			}
		case providers.BlameNobody:
		}
	}
	return t
}

// turn gives one provider its share of the time: half of what is left when another one could still answer, else all.
// A provider that does not heed its context is left behind.
func (r *Reader) turn(ctx context.Context, l *link, q *Query, at *cursor.Cursor, others bool) (Fetched, error) {
	if end, ok := ctx.Deadline(); ok && others {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2) // deadlines are real time, whatever clock the engine has
		defer cancel()
	}
	type outcome struct {
		got Fetched
		err error
	}
	ended, token, seen := make(chan outcome, 1), at.Token, setOf(at.Seen) // what is left behind reads nothing that goes on
	go func() {
		got, err := r.try(ctx, l.p, q, token, seen)
		ended <- outcome{got, err}
	}()
	var o outcome
	select {
	case o = <-ended:
	case <-ctx.Done():
		o.err = ctx.Err()
	}
	if errors.Is(o.err, context.DeadlineExceeded) {
		o.err = &providers.Error{Kind: providers.ErrTimeout, Err: o.err}
	}
	if o.err != nil {
		o.err = &providers.UpstreamError{Provider: l.p.Name, Op: cmp.Or(q.Row.Op, providers.OpRaw), Err: o.err}
	}
	return o.got, o.err
}

func setOf(ids []uint64) map[uint64]bool {
	set := make(map[uint64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// try makes one reading from one provider: the page at token, without what has been seen.
func (r *Reader) try(
	ctx context.Context, p *providers.Provider, q *Query, token string, seen map[uint64]bool,
) (got Fetched, err error) {
	defer r.Rescue(ctx, q, &err)
	w := &watch{r: r, q: q, p: p}
	ctx = providers.WithPasted(ctx, q.pasted)
	got, err = q.Row.Fetch(providers.WithTrace(ctx, w.trace()), Reading{
		Provider: p, In: q.In, Token: token, now: r.now, watch: w, skip: func(id uint64) bool { return seen[id] },
	})
	if got.At.IsZero() {
		got.At = r.now()
	}
	got.drifted, got.LeftOut = int(w.drifted.Load()), int(w.leftOut.Load())
	got.Rows += int(w.lost.Load())
	if err != nil && !inContract(err) {
		err = providers.Unavailable(err, "the upstream failed")
	}
	return got, err
}

// inContract tells whether err is one that the contract of providers knows.
func inContract(err error) bool {
	for _, kind := range []error{
		providers.ErrNotFound, providers.ErrNotHere, providers.ErrUnavailable, providers.ErrTimeout, providers.ErrInvalid,
		providers.ErrCursor, context.Canceled, context.DeadlineExceeded,
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
			"operation", q.Row.Name, "platform", q.Platform, "panic", observe.Recovered(v), "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %s", ErrPanic, observe.Recovered(v))
	}
}
