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
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Call is one operation with its parameters as text, as a skin gets them.
type Call struct {
	Platform       string     // of a read, or the provider of a raw one; "" for the service's own operations
	Path           string     // of a raw read, decoded, without a leading slash; else ""
	Params         url.Values // as they came, not checked
	Pairs          Pairs      // the same, where they need no map; Params is then not looked at
	RequestID      string     // "" means a new one
	IdempotencyKey string     // "" for none
}

// Given returns the parameters of c.
func (c *Call) Given() Pairs {
	if c.Pairs != nil {
		return c.Pairs
	}
	return PairsOf(c.Params)
}

// Answer is what a [Call] came to, encoded.
type Answer struct {
	Data     json.RawMessage // the caller's own
	Envelope any             `json:"-"` // in place of Data, a *schema.Envelope of the data, where a Go value was asked for
	Meta     schema.Meta
	Tag      string        // of all that is answered but what is about this one call, without quotes; "" when it is not cacheable
	TTL      time.Duration // how long the data stays good, from now
	Fresh    bool          // the cache was not asked, and nobody may answer the same request from a copy
	Replayed bool          // the answer was given before under the same idempotency key
	Pending  bool          // more will come under Meta.JobID
}

// Event is one step of a call that is watched as it goes. Exactly one of Result and Meta is set, or neither, when a
// platform has ended.
type Event struct {
	Platform platform.ID          // that has ended; else ""
	State    schema.PlatformState // how it ended
	Result   json.RawMessage      // one result
	Meta     *schema.Meta         // the end: what all of it came to
}

// NewRequestID returns a new id for a call: the time in milliseconds and behind it 80 random bits, so that nobody
// guesses one and they sort as the calls came, which is kind to an index over them.
func NewRequestID() string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(time.Now().UnixMilli())<<16)
	rand.Read(id[6:]) // ends the program rather than fail
	text := [30]byte{'r', 'e', 'q', '_'}
	base32.HexEncoding.WithPadding(base32.NoPadding).Encode(text[4:], id[:])
	return string(text[:])
}

// requestIDKey is the context key of a call's id.
type requestIDKey struct{}

// callContext carries the id of a call, and when it began.
type callContext struct {
	context.Context
	id    string
	begun time.Time // zero for what is done after the call
}

// Value implements [context.Context]. The key asks for the context itself: an id in an interface would be a copy.
func (c *callContext) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestID returns a context in which work for the call of that id is done: what is logged carries the id, and the
// call's time counts from now.
func WithRequestID(ctx context.Context, id string) context.Context {
	if RequestID(ctx) == id {
		return ctx
	}
	return &callContext{ctx, id, time.Now()}
}

// Detach returns ctx without its end, as [context.WithoutCancel] does: for what is finished even if the caller has left.
func Detach(ctx context.Context) context.Context {
	if c, ok := ctx.(*callContext); ok {
		return (*detached)(c) // the same memory, seen otherwise
	}
	return context.WithoutCancel(ctx)
}

type detached callContext

func (*detached) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (*detached) Done() <-chan struct{}                   { return nil }
func (*detached) Err() error                              { return nil }
func (d *detached) Value(key any) any                     { return (*callContext)(d).Value(key) }

// Begun returns when the call began that is worked for in ctx, and the zero time where no call waits for the work.
func Begun(ctx context.Context) time.Time {
	if c, ok := ctx.Value(requestIDKey{}).(*callContext); ok {
		return c.begun
	}
	return time.Time{}
}

// After returns ctx for what is done when the call is over: its id is still logged, and its time does not count.
func After(ctx context.Context) context.Context {
	return &callContext{ctx, RequestID(ctx), time.Time{}}
}

// RequestID returns the id of the call that is worked for in ctx, or "".
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(requestIDKey{}).(*callContext); ok {
		return c.id
	}
	return ""
}

// Seal gives an answer that was put together on the spot its tag and its lifetime. Place stands for the next page: the
// text of a cursor says the same thing in other words when it is sealed with another secret.
func (a *Answer) Seal(ttl time.Duration, place []byte) {
	sum := sha256.New()
	sum.Write(a.Data)
	sum.Write(place)
	a.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	a.TTL = max(0, ttl-time.Duration(a.Meta.DataAgeS)*time.Second)
}
