package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/internal/dates"
)

// Count is how many there are of something: a number without a fraction, or a string of digits. V is nil when it is
// unknown: absent, null, empty, negative, or no count.
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

// Absent tells whether nothing stands there, or null, where the upstream leaves out what it does not count.
func (c Count) Absent() bool { return c.V == nil && !c.odd }

// Score is a [Count] of a platform whose scores may be negative: such a one is 0.
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

// Float is a number that may have a fraction, also as a string. V is nil when it is unknown.
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

// Absent tells whether nothing stands there, or null: that a thing has no price is another thing than one that cannot be read.
func (f Float) Absent() bool { return f.V == nil && !f.odd }

// Seconds is how long something takes whose length is written in milliseconds; nil when it is unknown or negative.
func (f Float) Seconds() *float64 {
	if f.V == nil || *f.V < 0 {
		return nil
	}
	return new(*f.V / 1000)
}

// Bool is true or false where its absence means neither. V is nil when it is unknown.
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

// Is tells whether it is known to be true.
func (f Bool) Is() bool { return f.V != nil && *f.V }

// Not tells whether it is false, for a flag that the upstream may leave out when it does not fly. It is neither Is nor Not
// when something else than a flag stands there.
func (f Bool) Not() bool { return !f.odd && (f.V == nil || !*f.V) }

// Time is a date in one of the forms that upstreams write: RFC 3339 and its looser relatives, the dates of mail and of
// Twitter, a day, or seconds or milliseconds since 1970 as a number or digits. V is nil when it is unknown, which the
// years before 1971 stand for where it is a number, and the year 1 where it is a date.
//
// It is not for the release of a record or a film, which may be a year alone: take a string for that.
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
		if at.Year() > 1 {
			t.V = at
		}
	} else {
		t.odd = !ok || s != ""
	}
	return nil
}

const (
	millis   = 1e11 // above it a number is milliseconds: as seconds it would be the year 5138
	thisYear = 31_536_000
)

// unix reads seconds or milliseconds since 1970.
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

// Next returns the token, "" on the last page. It fails with [providers.ErrUnavailable] when something else than a token,
// named as in "nextPageToken", stands there: to end the walk would lose the rest of the list.
func (t Token) Next(ctx context.Context, name string) (string, error) {
	return t.v, Need(ctx, name, !t.odd)
}

// ID is an identifier that may be written as a number or a string. It is "" where none is: absent, null, 0, negative, or
// neither of the two. An object with such an id is invalid.
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

// number returns a number as it is written, or what a string holds; ok is false for everything else but null.
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

// integer reads a whole number; nil and odd when something else stands there.
func integer(b []byte) (n *int64, odd bool) {
	s, ok := number(b)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &i, false
	}
	// The bounds are those of int64 as far as a float tells them apart.
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && f > -1<<63 && f < 1<<63 {
		return new(int64(f)), false
	}
	return nil, !ok || s != ""
}
