package socialdata

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

const (
	maxParam  = 512  // bytes of an identifier
	maxQuery  = 512  // characters of a search text
	maxText   = 4000 // characters of a text to enrich
	maxCursor = 8192 // bytes
)

// Form says how a parameter is written.
type Form string

// The forms of a parameter.
const (
	FormText    Form = "text"
	FormBool    Form = "bool"    // exactly true or false
	FormTime    Form = "time"    // RFC 3339, or a date
	FormCountry Form = "country" // ISO 3166-1 alpha-2
	FormLang    Form = "lang"    // BCP 47
	FormInt     Form = "int"
	FormList    Form = "list" // platforms, parted by commas
)

// Param is one parameter of an operation.
type Param struct {
	Name     string
	Doc      string
	Form     Form
	Enum     []string // the values that it may have; nil for any
	Required bool
	OneOf    bool // exactly one of the operation's OneOf parameters is given
	Filter   bool // given only where the platform can apply it
	Min, Max int  // of an int, or characters of a text; 0 is no bound
	subject  providers.Subject
	index    []int // of the field in the request struct
}

// params reads the parameters of a request struct from its tags.
func paramsOf(t reflect.Type) []Param {
	var out []Param
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("param"), ",")
		if name == "" {
			continue
		}
		p := Param{
			Name: name, Doc: f.Tag.Get("doc"), Form: FormText, index: f.Index,
			Required: opts == "required", OneOf: opts == "one", Filter: opts == "filter",
			subject: providers.Subject(f.Tag.Get("subject")),
		}
		if words := f.Tag.Get("enum"); words != "" {
			p.Enum = strings.Fields(words)
		}
		switch f.Type.Kind() {
		case reflect.Bool:
			p.Form = FormBool
		case reflect.Int:
			p.Form = FormInt
		case reflect.Slice:
			p.Form = FormList
		case reflect.Struct:
			p.Form = FormTime
		default:
			if form := f.Tag.Get("form"); form != "" {
				p.Form = Form(form)
			}
		}
		p.Min, _ = strconv.Atoi(f.Tag.Get("min"))
		p.Max, _ = strconv.Atoi(f.Tag.Get("max"))
		switch p.Name {
		case "query":
			p.Max = maxQuery
		case "text":
			p.Max = maxText
		}
		out = append(out, p)
	}
	return out
}

// args are the parameters of one call, each in its canonical form; "" was not given. They stand in the order of the
// operation's params.
type args struct {
	params []Param
	values []string
}

func (a args) get(name string) string {
	for i := range a.params {
		if a.params[i].Name == name {
			return a.values[i]
		}
	}
	return ""
}

func (a args) flag(name string) bool { return a.get(name) == "true" }

// seconds returns a parameter that is a number of seconds, or def when it was not given.
func (a args) seconds(name string, def time.Duration) time.Duration {
	if n, err := strconv.Atoi(a.get(name)); err == nil {
		return time.Duration(n) * time.Second
	}
	return def
}

func (a args) time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, a.get(name))
	return t
}

// fromStruct writes the fields of a request as parameters.
func fromStruct(params []Param, req any) url.Values {
	out := url.Values{}
	v := reflect.ValueOf(req)
	for _, p := range params {
		f := v.FieldByIndex(p.index)
		if f.IsZero() {
			continue
		}
		switch p.Form {
		case FormBool:
			out.Set(p.Name, "true")
		case FormInt:
			out.Set(p.Name, strconv.FormatInt(f.Int(), 10))
		case FormTime:
			out.Set(p.Name, f.Interface().(time.Time).UTC().Format(time.RFC3339))
		case FormList:
			var ids []string
			for _, id := range f.Interface().([]platform.ID) {
				ids = append(ids, string(id))
			}
			out.Set(p.Name, strings.Join(ids, ","))
		default:
			out.Set(p.Name, f.String())
		}
	}
	return out
}

// bind checks the parameters of a call against the operation and brings each into its canonical form, but for what
// only the platform knows. The problem names the parameter and says what it must be.
func bind(params []Param, given url.Values) (args, *problem.Error) {
	a := args{params, make([]string, len(params))}
	known := 0
	for i := range params {
		p := &params[i]
		vs, there := given[p.Name]
		if !there {
			if p.Required {
				return a, problem.New(problem.InvalidRequest, "parameter %q is required: %s", p.Name, p.Doc)
			}
			continue
		}
		known++
		if len(vs) != 1 {
			return a, problem.New(problem.InvalidRequest, "parameter %q must be given once", p.Name)
		}
		v, err := p.canonical(vs[0])
		if err != nil {
			return a, problem.New(problem.InvalidRequest, "parameter %q %s", p.Name, err)
		}
		a.values[i] = v
	}
	if known < len(given) {
		return a, unknownParam(params, given)
	}
	return a, oneOf(params, a)
}

func unknownParam(params []Param, given url.Values) *problem.Error {
	names := make([]string, 0, len(params))
	for _, p := range params {
		names = append(names, p.Name)
	}
	var unknown []string
	for name := range given {
		if !slices.Contains(names, name) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	slices.Sort(unknown)
	accepts := "this operation takes none"
	if len(names) > 0 {
		accepts = "this operation takes " + strings.Join(names, ", ")
	}
	return problem.New(problem.InvalidRequest, "unknown parameter %s; %s", strings.Join(unknown, ", "), accepts)
}

func oneOf(params []Param, a args) *problem.Error {
	var names []string
	n := 0
	for i, p := range params {
		if p.OneOf {
			names = append(names, p.Name)
			if a.values[i] != "" {
				n++
			}
		}
	}
	if len(names) > 0 && n != 1 {
		return problem.New(problem.InvalidRequest, "exactly one of the parameters %s must be given", strings.Join(names, ", "))
	}
	return nil
}

var (
	country = regexp.MustCompile(`^[A-Za-z]{2}$`)
	lang    = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// canonical checks one value and brings it into the form that stands in keys.
func (p *Param) canonical(v string) (string, error) {
	limit := maxParam
	switch {
	case p.Name == "cursor":
		limit = maxCursor
	case p.Max > 0 && p.Form == FormText:
		limit = p.Max * utf8.UTFMax
	}
	switch {
	case v == "":
		return "", fmt.Errorf("must not be empty")
	case len(v) > limit:
		return "", fmt.Errorf("must be at most %d bytes long", limit)
	case !utf8.ValidString(v):
		return "", fmt.Errorf("must be valid UTF-8")
	}
	if p.Form == FormBool {
		if v != "true" && v != "false" {
			return "", fmt.Errorf("must be exactly true or false")
		}
		return v, nil
	}
	if p.Name == "text" { // line breaks and spaces are part of a text
		if n := utf8.RuneCountInString(v); n > p.Max {
			return "", fmt.Errorf("must be at most %d characters long, not %d", p.Max, n)
		}
		return v, nil
	}
	if strings.ContainsFunc(v, unicode.IsControl) {
		return "", fmt.Errorf("must not hold control characters")
	}
	if v = strings.TrimSpace(v); v == "" {
		return "", fmt.Errorf("must not be empty")
	}
	if p.Enum != nil && !slices.Contains(p.Enum, v) {
		return "", fmt.Errorf("must be one of %s", strings.Join(p.Enum, ", "))
	}
	switch p.Form {
	case FormText:
		if v = norm.NFC.String(v); len(v) > limit { // a few letters grow when they are composed
			return "", fmt.Errorf("must be at most %d bytes long", limit)
		}
		if p.Max > 0 && utf8.RuneCountInString(v) > p.Max {
			return "", fmt.Errorf("must be at most %d characters long", p.Max)
		}
	case FormTime:
		return canonicalTime(v)
	case FormCountry:
		if !country.MatchString(v) {
			return "", fmt.Errorf("must be a country code of two letters, such as SA")
		}
		v = strings.ToUpper(v)
	case FormLang:
		if !lang.MatchString(v) {
			return "", fmt.Errorf("must be a language code, such as ar")
		}
		v = strings.ToLower(v)
	case FormInt:
		n, err := strconv.Atoi(v)
		if err != nil || n < p.Min || n > p.Max {
			return "", fmt.Errorf("must be a whole number from %d to %d", p.Min, p.Max)
		}
		v = strconv.Itoa(n)
	case FormBool, FormList:
	}
	return v, nil
}

func canonicalTime(v string) (string, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil && t.UTC().Year() <= 9999 { // a later one could not be read again
			return t.UTC().Format(time.RFC3339), nil
		}
	}
	return "", fmt.Errorf("must be a time such as 2026-11-01T00:00:00Z, or a date")
}
