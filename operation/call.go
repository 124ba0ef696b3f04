package operation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// Call is one operation with its parameters as text, as a skin gets them.
type Call struct {
	Platform       string     // of a read, or the provider of a raw one; "" for the service's own operations
	Path           string     // of a raw read, decoded, without a leading slash; else ""
	Params         url.Values // as they came, not checked
	RequestID      string     // "" means a new one
	IdempotencyKey string     // "" for none
}

// Answer is what a [Call] came to, encoded.
type Answer struct {
	Data     json.RawMessage // the caller's own
	Meta     schema.Meta
	Tag      string        // of all that is answered but what is about this one call, without quotes; "" when it is not cacheable
	TTL      time.Duration // how long the data stays good, from now
	Fresh    bool          // the cache was not asked, and nobody may answer the same request from a copy
	Replayed bool          // the answer was given before under the same idempotency key
	Pending  bool          // more will come under Meta.JobID
}

// NewRequestID returns a new random id for a call.
func NewRequestID() string { return "req_" + rand.Text() }

// requestIDKey is the context key of a call's id.
type requestIDKey struct{}

// WithRequestID returns a context in which work for the call of that id is done: what is logged carries the id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the call that is worked for in ctx, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
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
