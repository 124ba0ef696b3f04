package providers

import (
	"context"
	"time"
)

// Drift is one row or object of an upstream that was not as it should be. It never holds a value.
type Drift struct {
	// Paths says where: names joined by dots, [] for the rows of a list, such as items[].statistics.likeCount; "" is the
	// row or answer itself.
	Paths []string
	// LeftOut tells that the row was given up, not only what stood at the paths.
	LeftOut bool
}

// UpstreamCall is one request that went to an upstream. It holds no secret: neither path nor query.
type UpstreamCall struct {
	Method   string
	Host     string
	Status   int           // of the answer; 0 when there was none
	Err      error         // why there was no answer that could be read whole; nil when there was one
	Duration time.Duration // until the answer was read whole, or given up
	// Revalidated reports that the upstream answered 304: what it said before is its answer, and no body was sent.
	Revalidated bool
}

// Trace is told what happens during a read. Each function may be nil, and is called by several goroutines at once.
type Trace struct {
	// Drift is called once for each row or object that has drifted.
	Drift func(Drift)
	// Upstream is called once for each request, repeated ones included.
	Upstream func(UpstreamCall)
	// Room is called before so many more bytes of an answer are read, and waits until the program has memory for them. Its
	// error is that of the read.
	Room func(ctx context.Context, bytes int64) error
	// Kept is called for each answer that is kept for the upstream's next 304, or was taken from there. Forget gives it up:
	// an answer that turns out to be unusable is read whole the next time.
	Kept func(forget func())
	// Keeps is called with what keeps answers for that, whenever it keeps one: it can be made to give up all of them.
	Keeps func(Purger)
}

// Purger keeps something in memory that it can give up.
type Purger interface{ Purge() }

type traceKey struct{}

// WithTrace returns a context whose reads tell t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of ctx. It is never nil, and all its functions may be called.
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

// WithWhole returns a context whose reads ask upstreams for the whole answer, and never whether it has changed: for a
// caller who does not believe what was kept.
func WithWhole(ctx context.Context) context.Context { return context.WithValue(ctx, wholeKey{}, true) }

// WantsWhole reports whether ctx is one of [WithWhole].
func WantsWhole(ctx context.Context) bool { return ctx.Value(wholeKey{}) != nil }
