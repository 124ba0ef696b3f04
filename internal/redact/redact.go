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
	"strings"
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
// nothing to blank. Invalid JSON is searched as far as it has strings.
func (r *Redactor) JSON(data []byte, skip func(field []byte) bool) ([]byte, Found) {
	var found Found
	if r == nil {
		return data, found
	}
	var out []byte
	copied := 0 // of data
	var key []byte
	var room [32]bool
	arrays := room[:0] // whether each open value is an array
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if arrays = append(arrays, data[i] == '['); data[i] == '{' {
				key = nil
			}
		case '}', ']':
			if len(arrays) > 0 {
				arrays = arrays[:len(arrays)-1]
			}
			key = nil
		case ',':
			if len(arrays) > 0 && !arrays[len(arrays)-1] {
				key = nil
			}
		case '"':
			n := jsontext.Closing(data[i+1:])
			value := data[i+1 : i+1+n]
			inObject := len(arrays) > 0 && !arrays[len(arrays)-1]
			switch {
			case inObject && key == nil:
				key = value
			case key != nil && skip != nil && skip(key):
			default:
				if shown, ok := r.value(key, value, skip != nil, &found); ok {
					out = append(append(out, data[copied:i+1]...), shown...)
					copied = i + 1 + n
				}
			}
			i += n + 1
		default:
			n := numberIn(data[i:])
			if n >= least && r.phones && fieldOfPhones(key) {
				out = append(append(out, data[copied:i]...), `"`+Mark+`"`...)
				copied = i + n
				found.Phones++
			}
			i += max(0, n-1)
		}
	}
	if copied == 0 {
		return data, found
	}
	return append(out, data[copied:]...), found
}

// numberIn returns the length of the number at the beginning of data; 0 when there is none.
func numberIn(data []byte) int {
	n := 0
	for n < len(data) && data[n] >= '0' && data[n] <= '9' {
		n++
	}
	if n < len(data) && (data[n] == '.' || data[n]|0x20 == 'e') {
		return 0
	}
	return n
}

// value returns the redacted form of a JSON string without its quotes; false when nothing was changed.
func (r *Redactor) value(key, value []byte, whole bool, found *Found) ([]byte, bool) {
	if !r.promising(value) {
		return nil, false
	}
	text := string(value)
	if strings.IndexByte(text, '\\') >= 0 {
		if err := json.Unmarshal([]byte(`"`+text+`"`), &text); err != nil {
			return nil, false
		}
	}
	var shown string
	var more Found
	if r.phones && fieldOfPhones(key) && isNumber(text) {
		shown, more = Mark, Found{Phones: 1}
	} else {
		shown, more = r.Text(text, whole)
	}
	if !more.Any() {
		return nil, false
	}
	found.Emails, found.Phones = found.Emails+more.Emails, found.Phones+more.Phones
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(shown); err != nil {
		return []byte(Mark), true // a string can always be encoded
	}
	quoted := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return quoted[1 : len(quoted)-1], true
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
