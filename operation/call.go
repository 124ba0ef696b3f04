package operation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"reflect"
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

// UserAgent is the User-Agent of the Go client of a server, by which the server recognizes its calls.
const UserAgent = "socialdata-go"

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
	Unknown  []string      `json:"-"` // fields that the upstream has and did not return, shared; for monitors
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

// Seal sets the tag and the lifetime of an answer that was just made. Place identifies the next page: the text of a
// cursor differs when it is sealed with another secret.
func (a *Answer) Seal(ttl time.Duration, place []byte) {
	sum := sha256.New()
	sum.Write(a.Data)
	sum.Write(place)
	a.Tag = hex.EncodeToString(sum.Sum(nil)[:12])
	a.TTL = max(0, ttl-time.Duration(a.Meta.DataAgeS)*time.Second)
}
