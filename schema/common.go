package schema

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// Source is where an object was read: [Official], [Own] or "upstream:" and a third party's name.
type Source string

// The sources of the specification.
const (
	Official Source = "official" // the platform's documented API
	Own      Source = "own"      // a public page or undocumented public API of the platform
)

// Upstream returns the source of objects from the third party called name.
func Upstream(name string) Source { return Source("upstream:" + name) }

// Common is the set of fields that nearly every object has. Providers set ID, URL and Raw; the engine sets the rest.
type Common struct {
	Platform platform.ID `json:"platform"` // the platform of the object
	// the object's id on the platform; every id in an answer is valid in a request
	ID        string    `json:"id" min:"1" form:"id"`
	URL       string    `json:"url" form:"uri"` // the public page of the object, or the closest page that shows it
	FetchedAt time.Time `json:"fetched_at"`     // when the platform's answer was read
	// where the object was read: official is the platform's documented API, own a public page that this service reads
	// itself, upstream:NAME a third party
	Source Source `json:"source"`
	// the unchanged upstream object; only with include_raw=true
	Raw json.RawMessage `json:"raw,omitempty"`
	// the analysis of the object's text; only with enrich=arabic, and null if the object has no text or the analysis
	// failed
	Enrichment Optional[Enrichment] `json:"enrichment,omitzero"`
}

// Shared returns the common fields of c, for reading and for writing.
func (c *Common) Shared() *Common { return c }

// Object is a resource with the shared fields.
type Object interface {
	Shared() *Common
	// Check reports the first way in which the object violates the specification.
	Check() error
	// Fill replaces nil arrays with empty ones, so that they marshal as [].
	Fill()
	// EnrichText returns the text to analyze; "" if there is none.
	EnrichText() string
}

// Optional is a value that may be absent (the zero Optional), null or present.
type Optional[T any] struct {
	Value *T   // nil if absent or null
	Set   bool // false if absent
}

// Some returns an Optional that is present, or null if v is nil.
func Some[T any](v *T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// IsZero reports whether o is absent; encoding/json then omits its key.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return Marshal(o.Value) }

// UnmarshalJSON reads a value or null.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set, o.Value = true, nil
	return json.Unmarshal(b, &o.Value)
}

// Marshal returns v as JSON in the service's form: compact, and with <, > and & unescaped. It is the only encoder of
// the service: answers, problems, events and the API description all use it.
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append appends to dst what [Marshal] returns. After an error it returns nil.
func Append(dst []byte, v any) ([]byte, error) {
	if r, ok := v.(*SearchResult); ok { // encoding/json would go over what that has written once more
		return r.appendJSON(dst)
	}
	e := encoders.Get().(*encoder) //nolint:forcetypeassert // the pool has nothing else
	defer e.release()
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return append(dst, bytes.TrimSuffix(e.out.Bytes(), []byte("\n"))...), nil
}

// encoder is an encoder with its own buffer. Each is used again: a buffer that grows with every object was a tenth of
// what a fan-out allocates (BenchmarkFanOut in the root package).
type encoder struct {
	*json.Encoder

	out bytes.Buffer
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.Encoder = json.NewEncoder(&e.out)
	e.SetEscapeHTML(false)
	return e
}}

// largestKept is the size of the largest buffer that is kept for the next value, in bytes.
const largestKept = 64 << 10

func (e *encoder) release() {
	if e.out.Cap() <= largestKept {
		e.out.Reset()
		encoders.Put(e)
	}
}

// nonNil replaces a nil slice with an empty one.
func nonNil[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
