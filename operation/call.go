package operation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Call is one operation with its parameters as text, as a front end receives them.
type Call struct {
	Platform       string     // of a read, or the provider of a raw one; "" for the service's own operations
	Path           string     // of a raw read, decoded, without a leading slash; else ""
	Params         url.Values // as received, not checked
	Pairs          Pairs      // the same without a map; Params is then ignored
	RequestID      string     // "" means a new one
	IdempotencyKey string     // "" for none
	LastEventID    string     // of a stream that goes on behind that event; "" for its beginning
	Typed          bool       // the caller is in this process: the answer may have an Envelope in place of Data
	// More takes so many calls more from the rate limit of the key, for a call that has been admitted and is worth
	// several; its error ends the call. Nil takes none.
	More func(ctx context.Context, n int) error
	// Explain returns the address of the page that explains a code, for problems inside an answer; "" if it has none. If
	// it is nil, none has.
	Explain func(problem.Code) string
}

// Given returns the parameters of c.
func (c *Call) Given() Pairs {
	if c.Pairs != nil {
		return c.Pairs
	}
	return PairsOf(c.Params)
}

// Answer is the encoded result of a [Call].
type Answer struct {
	Data     json.RawMessage // owned by the caller
	Envelope any             `json:"-"` // in place of Data, a *schema.Envelope of the data, if a Go value was requested
	Meta     schema.Meta
	Tag      string        // of the answer without what is about this one call, without quotes; "" if not cacheable
	TTL      time.Duration // how long the data stays valid, from now; negative when it has expired
	Fresh    bool          // the cache was skipped, and no one may answer the same request from a copy
	Replayed bool          // the answer was given before for the same idempotency key
	Pending  bool          // more will come under Meta.JobID
	Made     *Made         // of an operation that redirects; else nil
}

// Made is the call that was made instead of one that redirects.
type Made struct {
	Operation *Operation // read-only
	Platform  platform.ID
	Path      string   // path and query of its route
	Related   []string // those of the other calls that read the same thing
}

// Value returns data as a value of the operation's type, such as [schema.Profile].
func (m *Made) Value(data json.RawMessage) (any, error) {
	v := reflect.New(m.Operation.Data)
	err := json.Unmarshal(data, v.Interface())
	return v.Elem().Interface(), err
}

// Event is one step of a call that is watched as it goes. Of a search exactly one of Result and Meta is set, or
// neither, when a platform has ended. Of changes ID and Result are set, or neither, when nothing has come for a while.
type Event struct {
	Platform platform.ID          // that has ended; else ""
	State    schema.PlatformState // how it ended
	ID       string               // of a change: a stream that broke off goes on behind it
	Result   json.RawMessage      // one result, or one change
	Meta     *schema.Meta         // the end: what all of it came to
}

var idText = base32.HexEncoding.WithPadding(base32.NoPadding)

// NewRequestID returns a new id for a call: the time in milliseconds followed by 80 random bits, so that ids cannot be
// guessed and sort in the order of the calls, which is good for indexes.
func NewRequestID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(time.Now().UnixMilli())<<16)
	rand.Read(id[6:]) // crashes the program instead of failing
	text := [30]byte{'r', 'e', 'q', '_'}
	idText.Encode(text[4:], id[:])
	return string(text[:])
}

// requestIDKey is the context key of a call's id.
type requestIDKey struct{}

// callContext carries the id of a call, and when it began.
type callContext struct {
	context.Context
	id     string
	begun  time.Time // zero when there is no call
	counts time.Time // from when its time counts; zero for work that no caller waits for

	mu    sync.Mutex
	asked []string // the providers
}

// NoteAsked records that a provider was asked for the call in ctx.
func NoteAsked(ctx context.Context, provider string) {
	c, ok := ctx.Value(requestIDKey{}).(*callContext)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.asked, provider) {
		c.asked = append(c.asked, provider)
	}
}

// Asked returns the providers that were asked for the call in ctx: each once, in order.
func Asked(ctx context.Context) []string {
	c, ok := ctx.Value(requestIDKey{}).(*callContext)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// Value implements [context.Context]. The key returns the context itself, since an id in an interface would be a copy.
func (c *callContext) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestID returns a context for the work of the call with that id: logs carry the id, and the call's time counts
// from now.
func WithRequestID(ctx context.Context, id string) context.Context {
	if RequestID(ctx) == id {
		return ctx
	}
	now := time.Now()
	return &callContext{Context: ctx, id: id, begun: now, counts: now}
}

// Detach returns ctx without its end, as [context.WithoutCancel] does: for work that is completed even if the caller
// has left. It makes no context of its own, which would be one of ten allocations of a cached call
// (BenchmarkCachedProfile).
func Detach(ctx context.Context) context.Context {
	if c, ok := ctx.(*callContext); ok {
		return (*detached)(c) // the same memory with another type
	}
	return context.WithoutCancel(ctx)
}

type detached callContext

func (*detached) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (*detached) Done() <-chan struct{}                   { return nil }
func (*detached) Err() error                              { return nil }
func (d *detached) Value(key any) any                     { return (*callContext)(d).Value(key) }

// Begun returns when the call in ctx began, and the zero time if there is none.
func Begun(ctx context.Context) time.Time {
	if c, ok := ctx.Value(requestIDKey{}).(*callContext); ok {
		return c.begun
	}
	return time.Time{}
}

// Counts returns from when the time of the call in ctx counts, and the zero time if no caller waits for the work.
func Counts(ctx context.Context) time.Time {
	if c, ok := ctx.Value(requestIDKey{}).(*callContext); ok {
		return c.counts
	}
	return time.Time{}
}

// Extend returns ctx for the rest of a call that has waited for d because its caller asked it to: that does not count
// towards its time.
func Extend(ctx context.Context, d time.Duration) context.Context {
	counts := Counts(ctx)
	if counts.IsZero() || d <= 0 {
		return ctx
	}
	return &callContext{Context: ctx, id: RequestID(ctx), begun: Begun(ctx), counts: counts.Add(d)}
}

// After returns ctx for work of the call that its caller does not wait for: its id is still logged, and its time does
// not count.
func After(ctx context.Context) context.Context {
	return &callContext{Context: ctx, id: RequestID(ctx), begun: Begun(ctx)}
}

// RequestID returns the id of the call in ctx, or "".
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(requestIDKey{}).(*callContext); ok {
		return c.id
	}
	return ""
}

// Seal sets the tag and the lifetime of an answer that was just made. Place identifies the next page: the text of a
// cursor differs when it is sealed with another secret.
func (a *Answer) Seal(ttl time.Duration, place []byte) {
	sum := sha256.New()
	sum.Write(a.Data)
	sum.Write(place)
	a.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	a.TTL = max(0, ttl-time.Duration(a.Meta.DataAgeS)*time.Second)
}
