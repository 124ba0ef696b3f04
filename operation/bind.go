package operation

import (
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
	if v := a.Get(name); v != "" { // else the error would have to be made
		if n, err := strconv.Atoi(v); err == nil {
			return time.Duration(n) * time.Second
		}
	}
	return def
}

// MaxCredits returns the highest price that the caller allows, in credits; 0 is no limit.
func (a Args) MaxCredits() int64 {
	v := a.Get("max_credits")
	if v == "" {
		return 0
	}
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}

// Time returns a parameter that is a time; the zero time when it was not given.
func (a Args) Time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, a.Get(name))
	return t
}

// FromStruct appends the fields of a request as parameters.
func FromStruct[Req any](out Pairs, params []Param, req *Req) Pairs {
	v := reflect.ValueOf(req).Elem()
	for i := range params {
		p := &params[i]
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
			own := *req // what is taken out of an interface is on the heap, and so would be every request
			at, _ := reflect.TypeAssert[time.Time](reflect.ValueOf(&own).Elem().FieldByIndex(p.index))
			text = at.UTC().Format(time.RFC3339)
		case FormList:
			for i := range f.Len() {
				if i > 0 {
					text += ","
				}
				text += f.Index(i).String()
			}
		case FormKeys:
			keys := make([]string, f.Len())
			for i := range keys {
				keys[i] = f.Index(i).String()
			}
			text = JoinKeys(keys)
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
func Bind(params []Param, given url.Values) (Args, error) { return PairsOf(given).Bind(params, nil) }

// Bind is [Bind] for the parameters of c.
func (c *Call) Bind(params []Param) (Args, error) { return c.Given().Bind(params, nil) }

// Bind is [Bind] for parameters that are not in a map. The values are written to room, if they fit.
func (ps Pairs) Bind(params []Param, room []string) (Args, error) {
	if len(room) < len(params) {
		room = make([]string, len(params))
	}
	a := Args{params, room[:len(params)]}
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

// unknownParam returns the error for a given name that is not a parameter, with the most similar one; nil when all are.
func unknownParam(params []Param, given Pairs) error {
	names := make([]string, 0, len(params))
	for _, p := range params {
		names = append(names, p.Name)
	}
	var unknown []string
	for _, p := range given {
		if !slices.Contains(names, p.Name) {
			unknown = append(unknown, strconv.Quote(p.Name)+problem.DidYouMean(p.Name, names))
		}
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	accepts := "this operation takes none"
	if len(names) > 0 {
		accepts = "this operation takes " + strings.Join(names, ", ")
	}
	return problem.New(problem.InvalidRequest, "unknown parameter %s; %s", strings.Join(unknown, ", "), accepts)
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
