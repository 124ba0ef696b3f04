package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/platform"
)

// FieldError is the violation of the specification by an object.
type FieldError struct {
	Field  string // the path of the property, such as "media[2].thumbnail_url"; "" for the whole object
	Reason string // such as "-1 is less than 0"
}

// Error returns the field and the reason.
func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Place returns the path without array indexes, such as "media.thumbnail_url": it is the same for all objects with the
// same violation, so that they can be counted.
func (e *FieldError) Place() string {
	var b strings.Builder
	rest := e.Field
	for {
		before, after, found := strings.Cut(rest, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, rest, _ = strings.Cut(after, "]")
	}
}

// check checks one value; a nil check always succeeds.
type check func(v reflect.Value) *FieldError

// validate reports the first way in which v violates the rules of its type's fields.
func validate[T any](v *T) error { return specified.validate(reflect.ValueOf(v).Elem()) }

// Validator checks objects of a service that has more platforms than the specification. It is safe for concurrent use.
type Validator struct {
	platforms []string
	checks    sync.Map // of reflect.Type to check: the tags of a type are read once
}

// specified validates with the built-in platforms.
var specified = NewValidator(platform.Specified())

// NewValidator returns a Validator that knows the platforms of t.
func NewValidator(t *platform.Table) *Validator { return &Validator{platforms: t.Names()} }

// Validate is o.Check with the platforms of v: it reports the first way in which o is invalid.
func (v *Validator) Validate(o interface{ Check() error }) error {
	found, isFound := o.(SearchResult)
	if r, ok := o.(*SearchResult); ok {
		found, isFound = *r, true
	}
	if isFound {
		if !found.whole() {
			return errEmptyResult
		}
		o = found.Object
	}
	return v.validate(reflect.ValueOf(o).Elem())
}

func (v *Validator) validate(of reflect.Value) error {
	if err := v.checkOf(of.Type())(of); err != nil {
		return err
	}
	return nil // and not a nil *FieldError, which would be an error
}

func (v *Validator) checkOf(t reflect.Type) check {
	if c, ok := v.checks.Load(t); ok {
		return c.(check)
	}
	c, _ := v.checks.LoadOrStore(t, v.structCheck(t))
	return c.(check)
}

// structCheck returns the checks of a struct's fields, in order.
func (v *Validator) structCheck(t reflect.Type) check {
	type member struct {
		index int
		name  string // "" for an embedded struct, whose fields are the object's own
		check check
	}
	var members []member
	for i := range t.NumField() {
		sf := t.Field(i)
		if embedded(sf) {
			members = append(members, member{i, "", v.structCheck(sf.Type)})
		} else if f, ok := readField(t, sf); ok {
			if f.Words.Name == platformIDs {
				f.Words.Words = v.platforms
			}
			if c := v.check(&f, sf.Type); c != nil {
				members = append(members, member{i, f.Name, c})
			}
		}
	}
	return func(v reflect.Value) *FieldError {
		for i := range members {
			m := &members[i]
			if err := m.check(v.Field(m.index)); err != nil {
				return err.in(m.name)
			}
		}
		return nil
	}
}

// in prepends the path of the object that contains the field.
func (e *FieldError) in(name string) *FieldError {
	switch {
	case name == "":
	case e.Field == "" || e.Field[0] == '[':
		e.Field = name + e.Field
	default:
		e.Field = name + "." + e.Field
	}
	return e
}

func broken(format string, args ...any) *FieldError {
	return &FieldError{Reason: fmt.Sprintf(format, args...)}
}

// check returns the check of a value of type t in the field f; nil when it is always valid.
func (v *Validator) check(f *Field, t reflect.Type) check {
	switch t {
	case reflect.TypeFor[time.Time]():
		return f.checkTime()
	case reflect.TypeFor[Source]():
		return checkSource
	case rawType:
		return checkRaw
	case reflect.TypeFor[Optional[Enrichment]]():
		return checkEnrichment(v.check(f, reflect.TypeFor[*Enrichment]()))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNil(v.check(f, t.Elem()))
	case reflect.Slice:
		return each(v.check(f, t.Elem()))
	case reflect.Struct:
		return v.structCheck(t)
	case reflect.String:
		return f.checkText()
	case reflect.Int64:
		return f.checkInteger()
	case reflect.Float64:
		return f.checkNumber()
	default:
		return nil
	}
}

func orNil(c check) check {
	if c == nil {
		return nil
	}
	return func(v reflect.Value) *FieldError {
		if v.IsNil() {
			return nil
		}
		return c(v.Elem())
	}
}

func each(c check) check {
	if c == nil {
		return nil
	}
	return func(v reflect.Value) *FieldError {
		for i := range v.Len() {
			if err := c(v.Index(i)); err != nil {
				return err.in("[" + strconv.Itoa(i) + "]")
			}
		}
		return nil
	}
}

func (f *Field) checkText() check {
	var all []func(string) *FieldError
	if f.Min != nil || f.Max != nil {
		all = append(all, f.checkLength)
	}
	switch f.Form {
	case FormURI:
		all = append(all, checkURI)
	case FormID:
		all = append(all, checkID)
	}
	if len(f.Words.Words) > 0 {
		all = append(all, oneOf(f.Words.Words))
	}
	if len(all) == 0 {
		return nil
	}
	return func(v reflect.Value) *FieldError {
		s := v.String()
		for _, c := range all {
			if err := c(s); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f *Field) checkLength(s string) *FieldError {
	n := float64(utf8.RuneCountInString(s))
	switch {
	case s == "" && f.Min != nil && *f.Min > 0:
		return broken("must not be empty")
	case f.Min != nil && n < *f.Min:
		return broken("%q is shorter than %v characters", s, *f.Min)
	case f.Max != nil && n > *f.Max:
		return broken("%q is longer than %v characters", s, *f.Max)
	}
	return nil
}

func oneOf(words []string) func(string) *FieldError {
	known := map[string]bool{}
	for _, w := range words {
		known[w] = true
	}
	return func(s string) *FieldError {
		if known[s] {
			return nil
		}
		return broken("%q is not one of %s", s, strings.Join(words, ", "))
	}
}

func (f *Field) checkInteger() check {
	if f.Min == nil && f.Max == nil && f.Above == nil {
		return nil
	}
	return func(v reflect.Value) *FieldError { return f.checkRange(float64(v.Int())) }
}

// checkNumber refuses numbers that JSON cannot represent, whatever the bounds.
func (f *Field) checkNumber() check {
	return func(v reflect.Value) *FieldError {
		n := v.Float()
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return broken("%v is not a number in JSON", n)
		}
		return f.checkRange(n)
	}
}

func (f *Field) checkRange(n float64) *FieldError {
	if f.Min != nil && n < *f.Min {
		return broken("%v is less than %v", n, *f.Min)
	}
	if f.Above != nil && n <= *f.Above {
		return broken("%v is not greater than %v", n, *f.Above)
	}
	if f.Max != nil && n > *f.Max {
		return broken("%v is greater than %v", n, *f.Max)
	}
	return nil
}

// checkTime refuses a required time that is not set, and one that RFC 3339, and so encoding/json, cannot represent.
func (f *Field) checkTime() check {
	required := f.Type == reflect.TypeFor[time.Time]()
	return func(v reflect.Value) *FieldError {
		t, _ := reflect.TypeAssert[*time.Time](v.Addr()) // the value itself would be copied to the heap
		if required && t.IsZero() {
			return broken("must be set")
		}
		if y := t.Year(); y < 0 || y > 9999 {
			return broken("the year %d cannot be written", y)
		}
		if _, offset := t.Zone(); offset <= -24*60*60 || offset >= 24*60*60 {
			return broken("the time zone, %d s from UTC, cannot be written", offset)
		}
		return nil
	}
}

func checkSource(v reflect.Value) *FieldError {
	if s := Source(v.String()); s != Official && s != Own && !strings.HasPrefix(string(s), string(Upstream(""))) {
		return broken("%q is not a source", s)
	}
	return nil
}

func checkRaw(v reflect.Value) *FieldError {
	if b := v.Bytes(); len(b) > 0 && !json.Valid(b) {
		return broken("is not JSON")
	}
	return nil
}

func checkEnrichment(c check) check {
	return func(v reflect.Value) *FieldError { return c(v.Field(0)) }
}

// checkID refuses ids that would corrupt a line, a log or a key, or could not be requested.
func checkID(s string) *FieldError {
	if len(s) > MaxID {
		return broken("%.50q is longer than %d bytes", s, MaxID)
	}
	if !utf8.ValidString(s) {
		return broken("%q is not UTF-8", s)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return broken("%q holds a control character", s)
	}
	return nil
}

// checkURI accepts what the format uri of JSON Schema accepts: a scheme, a colon and a non-empty rest, in ASCII only.
func checkURI(s string) *FieldError {
	for i := range len(s) {
		if notInURI[s[i]] {
			return broken("%q is not an absolute URI: character %q at %d", s, s[i], i)
		}
	}
	if plainURL(s) {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || (u.Host == "" && u.Opaque == "" && u.Path == "") {
		return broken("%q is not an absolute URI", s)
	}
	return nil
}

// notInURI has true for each byte that no URI may have. Searching a list of these bytes, for each byte of a URI, took a
// twentieth of a fan-out (BenchmarkFanOut in the root package).
var notInURI = func() (table [256]bool) {
	for c := range table {
		table[c] = c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", byte(c)) >= 0
	}
	return table
}()

// plainURL reports whether s is a web address that needs no parser: a plain host after the scheme, and no escape.
// Almost all are, and parsing them takes longer than all other checks.
func plainURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	return ok && host != "" && !strings.ContainsFunc(host, notInName) && !strings.Contains(rest, "%")
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-'
}
