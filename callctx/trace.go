package callctx

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
	// Rows is called with the number of rows of each list in an answer, before any are left out.
	Rows func(n int)
	// Unknown is called with the fields that an answer lacks because a secondary request for them failed, as they are
	// called in its JSON: names joined by dots, such as host.avatar_url. Monitors keep what they knew of them.
	Unknown func(fields ...string)
	// Upstream is called once for each request, including retries.
	Upstream func(UpstreamCall)
	// Paid is called when the upstream has charged for a read, with the amount in its own credits.
	Paid func(credits int64)
	// Reserve is called before further bytes of an answer are read, and waits until the program has memory for them. The
	// read returns its error.
	Reserve func(ctx context.Context, bytes int64) error
	// Kept is called for each answer that is stored for a later 304 of the upstream, or was taken from that store.
	// forget removes it: if the answer turns out to be unusable, it is read completely the next time.
	Kept func(forget func())
	// Keeps is called with the store of such answers whenever it stores one, so that they can all be removed.
	Keeps func(Purger)
}

// Purger stores something in memory that it can discard.
type Purger interface{ Purge() }

// filled returns t with functions that do nothing in place of those that are nil.
func (t Trace) filled() Trace {
	if t.Drift == nil {
		t.Drift = func(Drift) {}
	}
	if t.Rows == nil {
		t.Rows = func(int) {}
	}
	if t.Unknown == nil {
		t.Unknown = func(...string) {}
	}
	if t.Upstream == nil {
		t.Upstream = func(UpstreamCall) {}
	}
	if t.Paid == nil {
		t.Paid = func(int64) {}
	}
	if t.Reserve == nil {
		t.Reserve = func(context.Context, int64) error { return nil }
	}
	if t.Kept == nil {
		t.Kept = func(func()) {}
	}
	if t.Keeps == nil {
		t.Keeps = func(Purger) {}
	}
	return t
}
