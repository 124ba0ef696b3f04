package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// Source says where an object was read: [Official], [Own] or "upstream:" and a third party's name.
type Source string

// The sources of the specification.
const (
	Official Source = "official" // the platform's documented interface
	Own      Source = "own"      // a public page or undocumented public answer of the platform
)

// Upstream returns the source of objects that the third party name delivers.
func Upstream(name string) Source { return Source("upstream:" + name) }

// Common holds the fields that nearly every object carries. Providers set ID, URL and Raw; the engine sets the rest.
type Common struct {
	Platform   platform.ID          `json:"platform"`
	ID         string               `json:"id"`  // as the platform writes it
	URL        string               `json:"url"` // the public page
	FetchedAt  time.Time            `json:"fetched_at"`
	Source     Source               `json:"source"`
	Raw        json.RawMessage      `json:"raw,omitempty"`       // the untouched upstream object; absent unless asked for
	Enrichment Optional[Enrichment] `json:"enrichment,omitzero"` // absent unless asked for; null when it failed
}

// Shared returns the fields that c shares with every other object, for reading and for writing.
func (c *Common) Shared() *Common { return c }

// Object is a resource that carries the shared fields.
type Object interface {
	Shared() *Common
	// Validate reports the first way in which the object breaks the specification.
	Validate() error
	// Fill turns nil arrays into empty ones, so that they marshal as [].
	Fill()
	// EnrichText returns the text that says what the object is about; "" when it has none.
	EnrichText() string
}

func (c *Common) validate() error {
	var k check
	if !c.Platform.Valid() {
		k.failf("platform: %q is not a platform", c.Platform)
	}
	k.notEmpty("id", c.ID)
	k.uri("url", c.URL)
	if c.FetchedAt.IsZero() {
		k.failf("fetched_at: must be set")
	}
	if c.Source != Official && c.Source != Own && !strings.HasPrefix(string(c.Source), "upstream:") {
		k.failf("source: %q is not a source", c.Source)
	}
	if e := c.Enrichment.Value; e != nil {
		k.within("enrichment", e.Validate())
	}
	return k.err
}

// Optional is a value that may be absent (the zero Optional), null or present.
type Optional[T any] struct {
	Value *T   // nil when absent or null
	Set   bool // false when absent
}

// Some returns an Optional that is present, or null when v is nil.
func Some[T any](v *T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// IsZero tells whether o is absent; encoding/json then leaves its key out.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return Marshal(o.Value) }

// UnmarshalJSON reads a value or null.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set, o.Value = true, nil
	return json.Unmarshal(b, &o.Value)
}

// Marshal returns v as JSON in the service's form: compact, and with <, > and & left as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// check collects the first failure of a validation.
type check struct{ err error }

func (k *check) failf(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(format, args...)
	}
}

func (k *check) within(field string, err error) {
	if err != nil {
		k.failf("%s: %w", field, err)
	}
}

func (k *check) notEmpty(field, v string) {
	if v == "" {
		k.failf("%s: must not be empty", field)
	}
}

func (k *check) uri(field, v string) { k.within(field, validURI(v)) }

func (k *check) uriOrNil(field string, v *string) {
	if v != nil {
		k.uri(field, *v)
	}
}

func (k *check) uris(field string, vs []string) {
	for i, v := range vs {
		if err := validURI(v); err != nil {
			k.failf("%s[%d]: %w", field, i, err)
		}
	}
}

func (k *check) lang(v *string) {
	if v != nil && len([]rune(*v)) < 2 {
		k.failf("lang: %q is shorter than 2 characters", *v)
	}
}

func (k *check) country(field string, v *string) {
	if v != nil && len([]rune(*v)) != 2 {
		k.failf("%s: %q is not 2 characters", field, *v)
	}
}

func (k *check) count(field string, v *int64) {
	if v != nil && *v < 0 {
		k.failf("%s: %d is negative", field, *v)
	}
}

func (k *check) seconds(field string, v *float64) {
	if v != nil && *v < 0 {
		k.failf("%s: %v is negative", field, *v)
	}
}

func (k *check) upTo(field string, v, high float64) {
	if v < 0 || v > high || math.IsNaN(v) {
		k.failf("%s: %v is outside 0..%v", field, v, high)
	}
}

var errURI = errors.New("is not an absolute URI")

// validURI accepts what the format uri of JSON Schema accepts: a scheme, a colon, something behind it, ASCII only.
func validURI(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || (u.Host == "" && u.Opaque == "" && u.Path == "") {
		return fmt.Errorf("%q %w", s, errURI)
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte("\"<>\\^`{|}", s[i]) >= 0 {
			return fmt.Errorf("%q %w: character %q at %d", s, errURI, s[i], i)
		}
	}
	return nil
}

// nonNil turns a nil slice into an empty one.
func nonNil[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
