package wire

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/socialdata/socialdata/providers/kit/dates"
)

// Count is the number of something: a number without a fraction, or a string of digits. V is nil when it is unknown:
// absent, null, empty, negative, or not a count.
type Count struct {
	V   *int64
	odd bool
}

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(b []byte) error {
	n, odd := integer(b)
	if n != nil && *n < 0 {
		n, odd = nil, true
	}
	*c = Count{n, odd}
	return nil
}

// Absent reports whether the value is absent or null, for upstreams that leave out what they do not count.
func (c Count) Absent() bool { return c.V == nil && !c.odd }

// Score is a [Count] on a platform with negative scores, which become 0.
type Score struct {
	V   *int64
	odd bool
}

// UnmarshalJSON never fails.
func (s *Score) UnmarshalJSON(b []byte) error {
	n, odd := integer(b)
	if n != nil {
		n = new(max(0, *n))
	}
	*s = Score{n, odd}
	return nil
}

// Float is a number that may have a fraction, also written as a string. V is nil when it is unknown.
type Float struct {
	V   *float64
	odd bool
}

// UnmarshalJSON never fails.
func (f *Float) UnmarshalJSON(b []byte) error {
	*f = Float{}
	s, ok := number(b)
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		f.V = &n
	} else {
		f.odd = !ok || s != ""
	}
	return nil
}

// Absent reports whether the value is absent or null: a thing without a price differs from one whose price cannot be
// read.
func (f Float) Absent() bool { return f.V == nil && !f.odd }

// Seconds converts a duration in milliseconds to seconds; nil when it is unknown or negative.
func (f Float) Seconds() *float64 {
	if f.V == nil || *f.V < 0 {
		return nil
	}
	return new(*f.V / 1000)
}

// Bool is a boolean whose absence means neither true nor false. V is nil when it is unknown.
type Bool struct {
	V   *bool
	odd bool
}

// UnmarshalJSON never fails.
func (f *Bool) UnmarshalJSON(b []byte) error {
	*f = Bool{}
	switch s := string(bytes.TrimSpace(b)); s {
	case "true", "false":
		f.V = new(s == "true")
	case "null":
	default:
		f.odd = true
	}
	return nil
}

// Is reports whether it is known to be true.
func (f Bool) Is() bool { return f.V != nil && *f.V }

// Not reports whether it is false or absent, for a flag that the upstream leaves out when it is false. If the value is
// not a boolean, neither Is nor Not is true.
func (f Bool) Not() bool { return !f.odd && (f.V == nil || !*f.V) }

// Flag is a [Bool] for an upstream that also writes true as "true" or 1, and false as "false" or 0.
type Flag struct{ Bool }

// UnmarshalJSON never fails.
func (f *Flag) UnmarshalJSON(b []byte) error {
	switch word := strings.ToLower(string(bytes.TrimSpace(b))); word {
	case `"true"`, "1":
		b = []byte("true")
	case `"false"`, "0":
		b = []byte("false")
	}
	return f.Bool.UnmarshalJSON(b)
}

// Time is a date in one of the forms that upstreams write: RFC 3339 and variants of it, the dates of mail and of
// Twitter, a day, or seconds or milliseconds since 1970 as a number or digits. V is nil when it is unknown, which
// upstreams write as a number before 1971, or as a date in the year 1.
//
// It is not for the release date of a record or a film, which may be only a year: use a string for that.
type Time struct {
	V   *time.Time
	odd bool
}

// layouts are the forms of a date, the common ones first.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 -0700", "2006/01/02 15:04:05 -0700", time.RubyDate, time.RFC1123Z, time.RFC1123, time.DateOnly,
}

// UnmarshalJSON never fails.
func (t *Time) UnmarshalJSON(b []byte) error {
	*t = Time{}
	s, ok := number(b)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		t.V = unix(n)
	} else if at := dates.Parse(s, layouts...); at != nil {
		t.V = at
	} else {
		t.odd = !ok || s != "" && !strings.HasPrefix(s, "0001-01-01") // the zero value of other systems
	}
	return nil
}

const (
	millis   = 1e11 // larger numbers are milliseconds: as seconds they would be after the year 5138
	thisYear = 31_536_000
)

// unix converts seconds or milliseconds since 1970.
func unix(n float64) *time.Time {
	if n > millis {
		n /= 1000
	}
	if !(n >= thisYear && n < millis) {
		return nil
	}
	s, fraction := math.Modf(n)
	return new(time.Unix(int64(s), int64(math.Round(fraction*1e3))*int64(time.Millisecond)).UTC())
}

// Token leads to the next page: a string, or a number as it is written. The last page has none, null, or "".
type Token struct {
	v   string
	odd bool
}

// UnmarshalJSON never fails.
func (t *Token) UnmarshalJSON(b []byte) error {
	s, ok := number(b)
	*t = Token{s, !ok}
	return nil
}

// Next returns the token, "" on the last page. It returns [providers.ErrUnavailable] when the value, called name as in
// "nextPageToken", is not a token: ending the walk would lose the rest of the list.
func (t Token) Next(ctx context.Context, name string) (string, error) {
	return t.v, Need(ctx, name, !t.odd)
}

// ID is an identifier that may be written as a number or a string. It is "" when it is missing: absent, null, 0,
// negative, or neither of the two types. An object with such an id is invalid.
type ID string

// UnmarshalJSON never fails.
func (id *ID) UnmarshalJSON(b []byte) error {
	*id = ""
	if s, ok := number(b); ok && s != "0" && !negative(s) && (isString(b) || digits(s)) {
		*id = ID(s)
	}
	return nil
}

// Serial is an [ID] that is a positive whole number on this platform, written as one or as its digits.
type Serial string

// UnmarshalJSON never fails.
func (id *Serial) UnmarshalJSON(b []byte) error {
	*id = ""
	if s, ok := number(b); ok && digits(s) && strings.Trim(s, "0") != "" {
		*id = Serial(s)
	}
	return nil
}

// number returns a number as it is written, or the contents of a string; ok is false for everything else except null.
func number(b []byte) (s string, ok bool) {
	b = bytes.TrimSpace(b)
	switch {
	case isString(b):
		err := json.Unmarshal(b, &s)
		return strings.TrimSpace(s), err == nil
	case isNull(b):
		return "", true
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		return string(b), true
	}
	return "", false
}

func isString(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '"'
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func negative(s string) bool { return strings.HasPrefix(s, "-") && digits(s[1:]) }

// integer parses a whole number; nil and odd if the value is something else.
func integer(b []byte) (n *int64, odd bool) {
	s, ok := number(b)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &i, false
	}
	// The bounds are those of int64, as precisely as a float allows.
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && f > -1<<63 && f < 1<<63 {
		return new(int64(f)), false
	}
	return nil, !ok || s != ""
}
