// Package callctx is what the context of a call says about it: its id, when it began, who it is for, what it may spend,
// and who wants to know what happens meanwhile. The front ends and the engine set it; logs and providers read it.
package callctx

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// Call is what a context says about the call that it belongs to. It is read-only.
type Call struct {
	ID     string    // the request id; "" if there is no call
	Begun  time.Time // when the call began; zero if there is no call
	Counts time.Time // from when its time counts; zero for work that no caller waits for
	// Background reports that no caller waits for the reads: those of a monitor, or of an export.
	Background bool
	Caller     Caller            // who the reads are for; the zero Caller if it is unknown
	Pasted     map[string]string // how the caller wrote identifiers, by subject, if not in canonical form
	Whole      bool              // reads request complete answers, and never ask whether they have changed
	Purse      *Purse            // what the reads may spend; nil has no limits
	Trace      Trace             // what the reads report to; all of its functions can be called

	done []*done // of each call that the work belongs to, its own first; nil if there is none
}

// done is what has been done for a call.
type done struct {
	mu    sync.Mutex
	asked []Asked
	held  int64
}

// Asked is a provider that was asked for a call.
type Asked struct {
	Provider string
	Calls    int           // how often it was called; 0 if it was passed over
	Took     time.Duration // all of its calls together, including those at the same time
	Status   int           // HTTP status of the upstream's answer to the last call that found nothing; 0 for none
	// Cause is why that found nothing, or why the provider was passed over, without anything from the request; "" if all
	// calls found something.
	Cause string
}

// Caller identifies the account that a read is made for, as far as limits that are shared by callers require it.
type Caller struct {
	// Account is opaque: it is only compared, and neither shown nor logged.
	Account string
	// Keys is, for a joined read of several accounts, the number of keys that each of them has requested: the read
	// counts against the share of each in proportion. Nil is a read for Account alone. It is read-only.
	Keys map[string]int
	// Alone reports that there is no other account.
	Alone bool
	// Asked is called when a request has been sent to an upstream. It must be safe for concurrent use, and may be nil.
	Asked func()
}

type key struct{}

// none is the call of a context without one.
var none = &Call{Trace: Trace{}.filled()}

// Of returns the call of ctx; without one, a Call that says nothing. It is never nil.
func Of(ctx context.Context) *Call {
	if c, ok := ctx.Value(key{}).(*Call); ok {
		return c
	}
	return none
}

// with returns a context whose call is that of ctx with a change.
func with(ctx context.Context, change func(*Call)) context.Context {
	c := *Of(ctx)
	change(&c)
	return context.WithValue(ctx, key{}, &c)
}

// InBackground returns a context whose reads no caller waits for.
func InBackground(ctx context.Context) context.Context {
	return with(ctx, func(c *Call) { c.Background = true })
}

// WithCaller returns a context for reads of that caller.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return with(ctx, func(c *Call) { c.Caller = caller })
}

// WithPasted returns a context for reads of things that the caller identified with these texts; see [Call].
func WithPasted(ctx context.Context, pasted map[string]string) context.Context {
	return with(ctx, func(c *Call) { c.Pasted = pasted })
}

// WithPurse returns a context whose reads share a purse: that of ctx if it has one, otherwise a new one with limits, in
// the credits of each named provider. A provider without a limit here only has its own.
func WithPurse(ctx context.Context, limits map[string]int64) context.Context {
	if Of(ctx).Purse != nil {
		return ctx
	}
	return with(ctx, func(c *Call) { c.Purse = &Purse{limits: limits} })
}

// WithTrace returns a context whose reads report to t.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return with(ctx, func(c *Call) { c.Trace = t.filled() })
}

// WithWhole returns a context whose reads request complete answers, and never ask whether they have changed: for a
// caller who does not trust stored answers.
func WithWhole(ctx context.Context) context.Context {
	return with(ctx, func(c *Call) { c.Whole = true })
}

// Begin returns a context for the work of the call with that id, whose time counts from now. If ctx belongs to that call
// already, it is returned.
func Begin(ctx context.Context, id string) context.Context {
	if Of(ctx).ID == id {
		return ctx
	}
	now := time.Now()
	return with(ctx, func(c *Call) { c.ID, c.Begun, c.Counts, c.done = id, now, now, []*done{{}} })
}

// ForCalls returns ctx for work that also belongs to the calls of those contexts: what is asked is recorded for each of
// them.
func ForCalls(ctx context.Context, calls ...context.Context) context.Context {
	return with(ctx, func(c *Call) {
		c.done = slices.Clone(c.done)
		for _, call := range calls {
			for _, d := range Of(call).done {
				if !slices.Contains(c.done, d) {
					c.done = append(c.done, d)
				}
			}
		}
	})
}

// Extend returns ctx for the rest of a call that has waited for d because its caller asked it to: that does not count
// towards its time.
func Extend(ctx context.Context, d time.Duration) context.Context {
	if Of(ctx).Counts.IsZero() || d <= 0 {
		return ctx
	}
	return with(ctx, func(c *Call) { c.Counts = c.Counts.Add(d) })
}

// After returns ctx for work of the call that its caller does not wait for: its id is still logged, and its time does
// not count.
func After(ctx context.Context) context.Context {
	return with(ctx, func(c *Call) { c.Counts = time.Time{} })
}

// NoteAsked records that a provider was asked for the call. What is recorded of the same provider is added up.
func (c *Call) NoteAsked(a Asked) {
	for _, d := range c.done {
		d.noteAsked(a)
	}
}

func (d *done) noteAsked(a Asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.asked, func(b Asked) bool { return b.Provider == a.Provider })
	if i < 0 {
		d.asked = append(d.asked, a)
		return
	}
	sum := &d.asked[i]
	sum.Calls += a.Calls
	sum.Took += a.Took
	if a.Cause != "" {
		sum.Status, sum.Cause = a.Status, a.Cause
	}
}

// NoteHeld records that credits were held for the call.
func (c *Call) NoteHeld(credits int64) {
	if len(c.done) == 0 {
		return
	}
	c.done[0].mu.Lock()
	defer c.done[0].mu.Unlock()
	c.done[0].held += credits
}

// Done returns the providers that were asked for the call, each once, in order, and the credits that were held for it,
// including what was charged or released since.
func (c *Call) Done() (asked []Asked, held int64) {
	if len(c.done) == 0 {
		return nil, 0
	}
	c.done[0].mu.Lock()
	defer c.done[0].mu.Unlock()
	return slices.Clone(c.done[0].asked), c.done[0].held
}

var idText = base32.HexEncoding.WithPadding(base32.NoPadding)

// NewID returns a new id for a call: the time in milliseconds followed by 80 random bits, so that ids cannot be guessed
// and sort in the order of the calls, which is good for indexes.
func NewID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(time.Now().UnixMilli())<<16)
	rand.Read(id[6:]) // crashes the program instead of failing
	return "req_" + idText.EncodeToString(id[:])
}
