package providers

import (
	"context"
	"time"
)

// Drift is one row or object of an upstream with an unexpected shape. It never contains a value.
type Drift struct {
	// Paths are the malformed parts: names joined by dots, [] for the rows of a list, such as
	// items[].statistics.likeCount; "" is the row or answer itself.
	Paths []string
	// LeftOut reports that the row was left out, and not only the values at the paths.
	LeftOut bool
}

// UpstreamCall is one request to an upstream. It contains no secrets: neither path nor query.
type UpstreamCall struct {
	Method   string
	Host     string
	Status   int           // of the answer; 0 if there was none
	Err      error         // why no complete answer was read; nil if there was one
	Duration time.Duration // until the answer was read completely, or given up
	// Revalidated reports that the upstream answered 304: its earlier answer is still current, and no body was sent.
	Revalidated bool
}

// Trace receives the events of a read. Each function may be nil, and must be safe for concurrent use.
type Trace struct {
	// Drift is called once for each malformed row or object.
	Drift func(Drift)
	// Upstream is called once for each request, including retries.
	Upstream func(UpstreamCall)
	// Paid is called when the upstream has charged for a read, with the amount in its own credits.
	Paid func(credits int64)
	// Room is called before further bytes of an answer are read, and waits until the program has memory for them. The
	// read returns its error.
	Room func(ctx context.Context, bytes int64) error
	// Kept is called for each answer that is stored for a later 304 of the upstream, or was taken from that store.
	// forget removes it: if the answer turns out to be unusable, it is read completely the next time.
	Kept func(forget func())
	// Keeps is called with the store of such answers whenever it stores one, so that they can all be removed.
	Keeps func(Purger)
}

// Purger stores something in memory that it can discard.
type Purger interface{ Purge() }

type traceKey struct{}

// WithTrace returns a context whose reads call t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of ctx. All of its functions are set and may be called.
func TraceOf(ctx context.Context) Trace {
	var t Trace
	if in, ok := ctx.Value(traceKey{}).(*Trace); ok && in != nil {
		t = *in
	}
	if t.Drift == nil {
		t.Drift = func(Drift) {}
	}
	if t.Upstream == nil {
		t.Upstream = func(UpstreamCall) {}
	}
	if t.Paid == nil {
		t.Paid = func(int64) {}
	}
	if t.Room == nil {
		t.Room = func(context.Context, int64) error { return nil }
	}
	if t.Kept == nil {
		t.Kept = func(func()) {}
	}
	if t.Keeps == nil {
		t.Keeps = func(Purger) {}
	}
	return t
}

type wholeKey struct{}

// WithWhole returns a context whose reads request complete answers, and never ask whether they have changed: for a
// caller who does not trust stored answers.
func WithWhole(ctx context.Context) context.Context { return context.WithValue(ctx, wholeKey{}, true) }

// WantsWhole reports whether ctx was returned by [WithWhole] or derived from such a context.
func WantsWhole(ctx context.Context) bool { return ctx.Value(wholeKey{}) != nil }
