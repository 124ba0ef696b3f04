// Package redact blanks email addresses and telephone numbers in upstream answers, before they are stored or shown.
//
// [Redactor.JSON] searches every string of a JSON document once, in linear time, and replaces what it finds by [Mark].
// It does not change names of fields, numbers or anything else.
//
// An email address is LOCAL@DOMAIN in plain form, with a top-level domain of letters, in any script. These are not: a
// handle with its server (@ann@example.social), a repository (git@example.com:ann/repo), a file such as icon@2x.png.
//
// A telephone number has 7 to 15 digits, in any of Unicode's scripts, with at most two of space, - . ( ) / between
// groups, and is separate: no letter, digit, currency sign, #, @, _ or = is next to it, and no decimal or time
// continues it. It has one of these forms:
//
//   - + or 00, then a country code that does not begin with 0, and 9 to 15 digits in all;
//   - a leading 0 and 9 to 11 digits in all, the first group of at least two, such as 0551234567 and 020 7946 0958;
//   - three, three and four digits with something between them, such as (415) 555-2671, with an optional 1 in front;
//   - any other with at least 7 digits after a word for a telephone, such as "tel:", "WhatsApp", "هاتف" or ☎.
//
// These are not: dates and times, a number with one decimal point, a number after words such as id, order and ISBN, and
// in raw a string of digits only, which is an id. The value of a field whose name is a word for a telephone, such as
// contact_phone_number, is one if it is a string of at least 5 digits only, or a number of at least 7.
//
// Web addresses are not changed, so that they remain valid, except the targets of tel:, mailto: and links to WhatsApp,
// which contain nothing else.
//
// Addresses that are written to be hidden from programs, such as "ann at example dot com", are not found.
package redact

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// Mark replaces what is blanked.
const Mark = "[redacted]"

// Redactor blanks email addresses, telephone numbers or both. It is stateless and safe for concurrent use. A nil
// Redactor blanks nothing.
type Redactor struct{ emails, phones bool }

// New returns a Redactor; nil when there is nothing to blank.
func New(emails, phones bool) *Redactor {
	if !emails && !phones {
		return nil
	}
	return &Redactor{emails, phones}
}

// Found is what was blanked in one document.
type Found struct{ Emails, Phones int }

// Any reports whether anything was blanked.
func (f Found) Any() bool { return f.Emails+f.Phones > 0 }

// JSON returns data with everything blanked in its strings, except in the fields for which skip returns true, such as
// ids. A nil skip is for raw, in which ids are not known. data itself is not modified, and is returned when there is
// nothing to blank. Invalid JSON is searched as far as it is valid.
func (r *Redactor) JSON(data []byte, skip func(field []byte) bool) ([]byte, Found) {
	var found Found
	if r == nil {
		return data, found
	}
	var out []byte
	copied := 0 // of data
	for t := range jsontext.Walk(data) {
		var shown []byte
		switch {
		case t.Kind == '"' && (skip == nil || !skip(t.Name)):
			shown = r.text(t, skip != nil, &found)
		case t.Kind == '0' && r.phones && len(t.Value) >= least && onlyDigits(string(t.Value)) && fieldOfPhones(t.Name):
			shown = quote(Mark)
			found.Phones++
		}
		if shown != nil {
			out = append(append(out, data[copied:t.At]...), shown...)
			copied = t.At + len(t.Value)
		}
	}
	if copied == 0 {
		return data, found
	}
	return append(out, data[copied:]...), found
}

// text returns the redacted form of a JSON string; nil when there is nothing to blank.
func (r *Redactor) text(t jsontext.Token, whole bool, found *Found) []byte {
	if !r.promising(t.Value) {
		return nil
	}
	text := jsontext.Text(t.Value)
	if r.phones && fieldOfPhones(t.Name) && isNumber(text) {
		found.Phones++
		return quote(Mark)
	}
	shown, more := r.Text(text, whole)
	if !more.Any() {
		return nil
	}
	found.Emails, found.Phones = found.Emails+more.Emails, found.Phones+more.Phones
	return quote(shown)
}

// quote returns text as a JSON string.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// promising reports whether a string may contain anything to blank. Most do not.
func (r *Redactor) promising(value []byte) bool {
	if r.emails && bytes.IndexByte(value, '@') >= 0 {
		return true
	}
	escaped := false
	digits := 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= utf8.RuneSelf:
			digits++ // possibly a part of one
		case c == '\\':
			escaped = true
		}
	}
	if r.phones && digits >= leastOfField {
		return true
	}
	return escaped && r.emails && bytes.Contains(value, []byte(`\u0040`))
}
