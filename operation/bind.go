package operation

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// Args are the parameters of one call, each in its canonical form; "" was not given. They stand in the order of the
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

// Flag tells whether a parameter is true.
func (a Args) Flag(name string) bool { return a.Get(name) == "true" }

// Seconds returns a parameter that is a number of seconds, or def when it was not given.
func (a Args) Seconds(name string, def time.Duration) time.Duration {
	if n, err := strconv.Atoi(a.Get(name)); err == nil {
		return time.Duration(n) * time.Second
	}
	return def
}

// Time returns a parameter that is a time; the zero time when it was not given.
func (a Args) Time(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, a.Get(name))
	return t
}

// FromStruct writes the fields of a request as parameters.
func FromStruct(params []Param, req any) url.Values {
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

// Bind checks the parameters of a call against the operation and brings each into its canonical form, but for what
// only the platform knows. The problem names the parameter and says what it must be.
func Bind(params []Param, given url.Values) (Args, error) {
	a := Args{params, make([]string, len(params))}
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
		a.Values[i] = v
	}
	if known < len(given) {
		return a, unknownParam(params, given)
	}
	return a, oneOf(params, a)
}

func unknownParam(params []Param, given url.Values) error {
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

func oneOf(params []Param, a Args) error {
	var names []string
	n := 0
	for i, p := range params {
		if p.OneOf {
			names = append(names, p.Name)
			if a.Values[i] != "" {
				n++
			}
		}
	}
	if len(names) > 0 && n != 1 {
		return problem.New(problem.InvalidRequest, "exactly one of the parameters %s must be given", strings.Join(names, ", "))
	}
	return nil
}

// Binding returns what the parameters ask to be read as text: equal for calls that differ only in options of the answer
// and in the page. Cursors and cache entries are bound to it.
func (a Args) Binding() string {
	var b strings.Builder
	for i := range a.Params {
		if p, v := &a.Params[i], a.Values[i]; v != "" && p.names() {
			b.WriteString("|" + p.Name + "=" + strconv.Quote(v))
		}
	}
	return b.String()
}

// Cursor returns the cursor, or "" for the first page.
func (a Args) Cursor() string {
	for i := range a.Params {
		if a.Params[i].Form == FormCursor {
			return a.Values[i]
		}
	}
	return ""
}
