package operation

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// Args are the parameters of one call, each in its canonical form; "" was not given. They are in the order of the
// operation's params.
type Args struct {
	Params []Param
	Values []string
}

// Get returns a parameter, or "".
func (a Args) Get(name string) string {
	for i := range a.Params {
		if a.Params[i].Name == name {
			return a.Values[i]
		}
	}
	return ""
}

// Flag reports whether a parameter is true.
func (a Args) Flag(name string) bool { return a.Get(name) == "true" }

// Seconds returns a parameter that is a number of seconds, or def when it was not given.
func (a Args) Seconds(name string, def time.Duration) time.Duration {
	if n, err := strconv.Atoi(a.Get(name)); err == nil {
		return time.Duration(n) * time.Second
	}
	return def
}

// Limit returns the most rows that the caller wants, or def when it was not given or is higher.
func (a Args) Limit(def int) int {
	if n, err := strconv.Atoi(a.Get("limit")); err == nil && n < def {
		return n
	}
	return def
}

// Pages returns how many pages the caller wants.
func (a Args) Pages() int {
	if n, err := strconv.Atoi(a.Get("pages")); err == nil {
		return n
	}
	return 1
}

// MaxCredits returns the highest price that the caller allows, in credits; 0 is no limit.
func (a Args) MaxCredits() int64 {
	n, _ := strconv.ParseInt(a.Get("max_credits"), 10, 64)
	return n
}

// Time returns a parameter that is a time; the zero time when it was not given.
func (a Args) Time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, a.Get(name))
	return t
}

// fields adds the fields of a request that are set to parameters.
func fields[Req any](out Pairs, params []Param, req *Req) Pairs {
	v := reflect.ValueOf(req).Elem()
	for i := range params {
		p := &params[i]
		if p.index == nil {
			continue
		}
		f := v.FieldByIndex(p.index)
		if f.IsZero() {
			continue
		}
		text := ""
		switch p.Form {
		case FormBool:
			text = "true"
		case FormInt:
			text = strconv.FormatInt(whole(f), 10)
		case FormTime:
			at, _ := reflect.TypeAssert[time.Time](f)
			text = at.UTC().Format(time.RFC3339)
		case FormList:
			for i := range f.Len() {
				if i > 0 {
					text += ","
				}
				text += f.Index(i).String()
			}
		case FormKeys, FormAddresses:
			keys := make([]string, f.Len())
			for i := range keys {
				keys[i] = f.Index(i).String()
			}
			text = p.Join(keys)
		default:
			text = f.String()
		}
		out = append(out, Pair{Name: p.Name, Value: text})
	}
	return out
}

// whole returns a number; for a duration its seconds, rounded away from zero.
func whole(v reflect.Value) int64 {
	n := v.Int()
	if v.Type() != reflect.TypeFor[time.Duration]() {
		return n
	}
	d, part := n/int64(time.Second), n%int64(time.Second)
	switch {
	case part > 0:
		d++
	case part < 0:
		d--
	}
	return d
}

// Bind checks the parameters of a call against the operation and converts each to its canonical form, except for what
// only the platform knows. The problem names the parameter and says what it must be.
func Bind(params []Param, given url.Values) (Args, error) { return PairsOf(given).Bind(params) }

// Bind is [Bind] for the parameters of c.
func (c *Call) Bind(params []Param) (Args, error) { return c.Given().Bind(params) }

// Bind is [Bind] for parameters that are not in a map.
func (ps Pairs) Bind(params []Param) (Args, error) {
	a := Args{params, make([]string, len(params))}
	known := 0
	for i := range params {
		p := &params[i]
		at, n := ps.lookup(p.Name)
		if n == 0 {
			if p.Required {
				return a, missing(params, p, ps)
			}
			continue
		}
		known++
		if n != 1 {
			return a, problem.New(problem.InvalidRequest, "parameter %q must be given once", p.Name)
		}
		v, err := p.canonical(&ps[at])
		if err != nil {
			return a, problem.New(problem.InvalidRequest, "parameter %q %s", p.Name, err)
		}
		a.Values[i] = v
	}
	if known < len(ps) {
		return a, unknownParam(params, ps)
	}
	return a, oneOf(params, a)
}

// missing returns the error for a missing p. If an unknown name was given that is similar to p's, the error is about
// that name.
func missing(params []Param, p *Param, given Pairs) error {
	if err := unknownParam(params, given); err != nil {
		return err
	}
	doc := strings.TrimSuffix(strings.ToLower(p.Doc[:1])+p.Doc[1:], ".")
	return problem.New(problem.InvalidRequest, "parameter %q is required: %s", p.Name, doc)
}

// mostUnknown is how many unknown names an error lists.
const mostUnknown = 5

// unknownParam returns the error for a given name that is not a parameter, with the most similar one; nil when all are.
func unknownParam(params []Param, given Pairs) error {
	names := make([]string, 0, len(params))
	for _, p := range params {
		names = append(names, p.Name)
	}
	var unknown []string
	for _, p := range given {
		if !slices.Contains(names, p.Name) {
			unknown = append(unknown, problem.Quote(p.Name)+problem.DidYouMean(p.Name, names))
		}
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	unknown = unknown[:min(len(unknown), mostUnknown)]
	accepts := "this operation takes none"
	if len(names) > 0 {
		accepts = "this operation takes " + strings.Join(names, ", ")
	}
	text := fmt.Sprintf("unknown parameter %s; %s", strings.Join(unknown, ", "), accepts)
	return problem.New(problem.InvalidRequest, "%s", problem.Phrase{HTTP: text, Command: text, Go: notTaken(names, given)})
}

// notTaken says which fields of a request are not options of the operation: in Go, only those can be unknown.
func notTaken(names []string, given Pairs) string {
	var out []string
	for _, p := range given {
		if !slices.Contains(names, p.Name) {
			out = append(out, fieldOf(p.Name))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ") + " cannot be set: the operation does not take it"
}

// fieldOf returns the field of a request that holds a parameter.
func fieldOf(param string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(param, "_s"), "_") {
		switch part {
		case "id", "url":
			b.WriteString(strings.ToUpper(part))
		case "":
		default:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func oneOf(params []Param, a Args) error {
	there, given := 0, 0
	for i := range params {
		if params[i].OneOf {
			there++
			if a.Values[i] != "" {
				given++
			}
		}
	}
	if there == 0 || given == 1 {
		return nil
	}
	var names []string
	for i := range params {
		if params[i].OneOf {
			names = append(names, params[i].Name)
		}
	}
	return problem.New(problem.InvalidRequest, "exactly one of the parameters %s must be given", strings.Join(names, ", "))
}

// AppendBinding appends what the parameters request, as text: it is equal for calls that differ only in options of the
// answer and in the page. Cursors and cache entries are bound to it.
func (a Args) AppendBinding(b []byte) []byte {
	for i := range a.Params {
		if p, v := &a.Params[i], a.Values[i]; v != "" && p.names() {
			b = append(b, '|')
			b = append(b, p.Name...)
			b = append(b, '=')
			b = strconv.AppendQuote(b, v)
		}
	}
	return b
}

// Binding is [Args.AppendBinding] as a new string.
func (a Args) Binding() string { return string(a.AppendBinding(nil)) }

// Cursor returns the cursor, or "" for the first page.
func (a Args) Cursor() string {
	for i := range a.Params {
		if a.Params[i].Form == FormCursor {
			return a.Values[i]
		}
	}
	return ""
}

// Pair is one parameter as text.
type Pair struct {
	Name, Value string

	sent int // length of the value as it was received, which escapes make longer; 0 if it was not escaped
}

// Pairs are parameters as text, in any order. A call has few, so that searching them costs less than a map: 0.3 µs of
// the 9 of BenchmarkHandler in the package server.
type Pairs []Pair

// PairsOf returns the parameters of a map, sorted by name.
func PairsOf(given url.Values) Pairs {
	out := make(Pairs, 0, len(given))
	for name, values := range given {
		for _, v := range values {
			out = append(out, Pair{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ParseQuery parses the parameters of a query string as [url.ParseQuery] does: it returns those that are well formed,
// and an error when some are not.
func ParseQuery(query string) (Pairs, error) {
	if query == "" {
		return nil, nil
	}
	var failed error
	out := make(Pairs, 0, 2)
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		if strings.Contains(part, ";") {
			failed = errSemicolon
			continue
		}
		if len(out) == maxPairs {
			return out, errTooMany
		}
		name, sent, _ := strings.Cut(part, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(sent)
		if err := cmp.Or(nameErr, valueErr); err != nil {
			failed = err
			continue
		}
		out = append(out, Pair{name, value, len(sent)})
	}
	return out, failed
}

// maxPairs is how many parameters of a query are read.
const maxPairs = 1000

var (
	errSemicolon = errors.New("a semicolon does not separate parameters in a query: use &")
	errTooMany   = errors.New("there are too many parameters")
)

// Values returns the parameters as a map.
func (ps Pairs) Values() url.Values {
	out := make(url.Values, len(ps))
	for _, p := range ps {
		out.Add(p.Name, p.Value)
	}
	return out
}

// lookup returns the index of the last value of a name, and how many there are.
func (ps Pairs) lookup(name string) (at, n int) {
	for i := range ps {
		if ps[i].Name == name {
			at = i
			n++
		}
	}
	return at, n
}
