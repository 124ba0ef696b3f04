package operation

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/socialdata/socialdata/internal/country"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// MaxCursor is the maximum length of a cursor, in bytes.
const MaxCursor = 8192

// MaxPages is the maximum number of pages that one call reads.
const MaxPages = 10

// MaxAddress is the maximum length of a text with a web address, in bytes.
const MaxAddress = 2048

const maxParam = 512 // bytes of a parameter without a limit of its own

// Form is how a parameter is written.
type Form string

// The forms of a parameter.
const (
	FormText    Form = "text"
	FormProse   Form = "prose"   // unchanged: line breaks and spaces are part of it
	FormCursor  Form = "cursor"  // the place of a page
	FormBool    Form = "bool"    // exactly true or false
	FormTime    Form = "time"    // RFC 3339, or a date
	FormCountry Form = "country" // ISO 3166-1 alpha-2
	FormLang    Form = "lang"    // BCP 47
	FormInt     Form = "int"
	FormList    Form = "list"    // platforms, separated by commas
	FormKeys    Form = "keys"    // identifiers, separated by commas, or by line feeds if there is one
	FormAddress Form = "address" // text that contains a web address: line breaks are spaces
	// FormAddresses are such texts, each on a line of its own.
	FormAddresses Form = "addresses"
	FormFields    Form = "fields" // names of fields of the answer's objects, separated by commas
)

// Param is one parameter of an operation.
type Param struct {
	Name     string
	Doc      string
	Form     Form
	Enum     []string // the possible values; nil for any
	Required bool
	OneOf    bool              // exactly one of the operation's OneOf parameters is given
	Filter   bool              // only allowed if the platform can apply it
	Option   bool              // about the answer, not about what is read: no cursor or cache entry is bound to it
	Min, Max int               // of a whole number, or characters of a text; a Max of 0 is no limit
	Subject  providers.Subject // what an identifier identifies; "" if it is not one
	index    []int             // of the field in the request struct; nil if it has none
	data     reflect.Type      // whose fields are named; nil if that is known later
}

// MaxBytes returns the maximum length of the parameter.
func (p *Param) MaxBytes() int {
	switch {
	case p.Form == FormCursor:
		return MaxCursor
	case p.Form == FormAddress, p.Form == FormFields:
		return MaxAddress
	case p.lists():
		return MaxKeyList
	case p.Max > 0 && (p.Form == FormText || p.Form == FormProse):
		return p.Max * utf8.UTFMax
	}
	return maxParam
}

// names reports whether the parameter is about what is read: cursors and cache entries are bound to those.
func (p *Param) names() bool { return !p.Option && p.Form != FormCursor }

// shared are the parameters that mean the same in every operation: a request struct only names them. It is read-only.
var shared = map[string]Param{
	"cursor":      {Form: FormCursor, Doc: "The next_cursor of the previous page."},
	"include_raw": {Option: true, Doc: "Adds the untouched upstream object to each object as raw."},
	"fresh":       {Option: true, Doc: "Skips the cache; costs twice the base."},
	"pages": {Option: true, Min: 1, Max: MaxPages, Doc: "How many pages are read, 1 without it: one answer, at the price of those " +
		"read. A page that fails ends it, and next_cursor begins there."},
	"stop_at_id": {Doc: "Leaves out the post with this id or URL and all behind it, and reads no further."},
	"limit": {Option: true, Min: 1, Max: 1000, Doc: "At most so many of the rows that are read, at the same price. An answer " +
		"that it has cut short has no next_cursor."},
	"max_credits": {Option: true, Min: 1, Doc: "Refuses the call, as insufficient_credits, when it may cost more credits than this."},
	"max_age_s": {Option: true, Min: 0, Max: int(24 * time.Hour / time.Second), Doc: "Only data younger than this, in seconds, " +
		"up to the operation's lifetime; older data is read again, at twice the base."},
	"stale_if_error_s": {Option: true, Min: 1, Max: int(24 * time.Hour / time.Second), Doc: "When the platform fails, answers " +
		"with data that is up to so many seconds past its lifetime, at the price of a hit."},
	"enrich": {Option: true, Enum: []string{"arabic"}, Doc: "Adds dialect, sentiment, entities and topics to each object; " +
		"costs 3 credits more, which are refunded when it fails."},
}

// ParamsOf returns the parameters that the tags of a request struct describe, in the order of its fields: param has the
// name and whether it is required, one of several, a filter, an option or, of lists that are newest first, both; subject, enum, form, min, max and doc have the rest.
func ParamsOf(t reflect.Type) []Param {
	var out []Param
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("param"), ",")
		if name == "" {
			continue
		}
		p := shared[name]
		p.Name, p.index, p.Subject = name, f.Index, providers.Subject(f.Tag.Get("subject"))
		p.Required, p.OneOf, p.Filter = opts == "required", opts == "one", opts == "filter" || opts == "newest"
		p.Option = p.Option || opts == "option" || opts == "newest"
		p.Doc = cmp.Or(f.Tag.Get("doc"), p.Doc)
		if words := f.Tag.Get("enum"); words != "" {
			p.Enum = strings.Fields(words)
		}
		switch f.Type.Kind() {
		case reflect.Bool:
			p.Form = FormBool
		case reflect.Int, reflect.Int64: // a number, or a time.Duration in seconds
			p.Form = FormInt
		case reflect.Slice:
			p.Form = cmp.Or(Form(f.Tag.Get("form")), FormList)
		case reflect.Struct:
			p.Form = FormTime
		default:
			p.Form = cmp.Or(Form(f.Tag.Get("form")), p.Form, FormText)
		}
		p.Min, p.Max = bound(f.Tag.Get("min"), p.Min), bound(f.Tag.Get("max"), p.Max)
		out = append(out, p)
	}
	return out
}

// bound returns a bound from a tag, or def when the tag has none.
func bound(tag string, def int) int {
	if n, err := strconv.Atoi(tag); err == nil {
		return n
	}
	return def
}

var lang = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// canonical checks one value and converts it to the form in keys.
func (p *Param) canonical(given *Pair) (string, error) {
	v, limit := given.Value, p.MaxBytes()
	switch {
	case v == "":
		return "", fmt.Errorf("must not be empty")
	case len(v) > limit:
		return "", fmt.Errorf("must be at most %d bytes long", limit)
	case p.lists() && given.sent > limit: // it takes up the head of the request as it was received
		return "", fmt.Errorf("must be at most %d bytes long as it is sent, with its escapes", limit)
	case p.lists():
		return v, p.countKeys(v)
	case !utf8.ValidString(v):
		return "", fmt.Errorf("must be valid UTF-8")
	}
	if p.Form == FormBool {
		if v != "true" && v != "false" {
			return "", fmt.Errorf("must be exactly true or false")
		}
		return v, nil
	}
	if p.Form == FormProse {
		if n := utf8.RuneCountInString(v); n > p.Max {
			return "", fmt.Errorf("must be at most %d characters long, not %d", p.Max, n)
		}
		return v, nil
	}
	if p.Form == FormAddress {
		v = breaks.Replace(v)
	}
	if strings.ContainsFunc(v, unicode.IsControl) {
		return "", fmt.Errorf("must not hold control characters")
	}
	if v = strings.TrimSpace(strings.Map(seen, v)); v == "" {
		return "", fmt.Errorf("must not be empty")
	}
	if p.Enum != nil && !slices.Contains(p.Enum, v) {
		if len(p.Enum) == 1 {
			return "", fmt.Errorf("must be %s", p.Enum[0])
		}
		return "", fmt.Errorf("must be one of %s%s", strings.Join(p.Enum, ", "), problem.DidYouMean(v, p.Enum))
	}
	switch p.Form {
	case FormText, FormAddress:
		if v = norm.NFC.String(v); len(v) > limit { // a few letters become longer when they are composed
			return "", fmt.Errorf("must be at most %d bytes long", limit)
		}
		if p.Max > 0 && utf8.RuneCountInString(v) > p.Max {
			return "", fmt.Errorf("must be at most %d characters long", p.Max)
		}
	case FormTime:
		return canonicalTime(v)
	case FormCountry:
		if v = country.Code(v); v == "" {
			return "", fmt.Errorf("must be the ISO 3166-1 alpha-2 code of a country, such as SA")
		}
	case FormLang:
		if !lang.MatchString(v) {
			return "", fmt.Errorf("must be a language code, such as ar")
		}
		v = strings.ToLower(v)
	case FormInt:
		n, err := strconv.Atoi(v)
		switch {
		case p.Max == 0 && (err != nil || n < p.Min):
			return "", fmt.Errorf("must be a whole number of %d or more", p.Min)
		case p.Max > 0 && (err != nil || n < p.Min || n > p.Max):
			return "", fmt.Errorf("must be a whole number from %d to %d", p.Min, p.Max)
		}
		if v[0] < '1' || v[0] > '9' { // a sign, or zeros in front
			v = strconv.Itoa(n)
		}
	case FormFields:
		if _, err := p.selects(v); err != nil {
			return "", fmt.Errorf("is wrong: %w", err)
		}
	case FormBool, FormList, FormKeys, FormAddresses, FormProse, FormCursor:
	}
	return v, nil
}

// breaks replaces the line breaks of a pasted text with spaces.
var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// seen drops invisible characters that come along when people paste: direction marks, characters without width,
// byte-order marks (D69).
func seen(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case unicode.Is(unicode.Bidi_Control, r),
		r >= '\u200b' && r <= '\u200d', // zero-width space, non-joiner, joiner
		r >= '\u2060' && r <= '\u2064', // word joiner, invisible operators
		r == '\u180e', r == '\ufeff':   // Mongolian vowel separator, byte-order mark
		return -1
	}
	return r
}

func canonicalTime(v string) (string, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		t, err := time.Parse(layout, v)
		// Times outside of these years could not be formatted again; the zero time means none.
		if t = t.UTC(); err == nil && !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999 {
			return t.Format(time.RFC3339), nil
		}
	}
	return "", fmt.Errorf("must be a time such as 2026-11-01T00:00:00Z, or a date")
}
