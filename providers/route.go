package providers

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/platform"
)

// Route is an entry in the allow-list of a provider's raw reads.
type Route struct {
	// Pattern is a path without a leading slash, such as "users/{login}/repos"; a segment in braces matches any one
	// segment.
	Pattern string
	// Query lists the query parameters that are forwarded, by exact name; "*" alone is any. Everything else is refused.
	Query    []string
	Platform platform.ID // whose base the read costs
}

// Routes returns an allow-list of templates whose reads all cost the base of one platform. A template is a pattern and the
// query parameters that it takes, written as in RFC 6570: "users/{login}/repos{?sort,page}".
func Routes(id platform.ID, templates ...string) []Route {
	out := make([]Route, len(templates))
	for i, template := range templates {
		pattern, query, _ := strings.Cut(template, "{?")
		out[i] = Route{Pattern: pattern, Platform: id}
		if query = strings.TrimSuffix(query, "}"); query != "" {
			out[i].Query = strings.Split(query, ",")
		}
	}
	return out
}

// Owner is what only the owner of a provider's credential is shown.
type Owner struct {
	// Words name the owner where an account is named, such as "me": no segment in braces is one of them, in any case.
	Words []string
	// Fields are the names of members that an answer about the owner has and no other; they are left out of every raw
	// answer, however deep.
	Fields []string
}

// Route returns the route of p on which path is. Segments that could lead elsewhere, and those that name the owner of the
// credential, are on none.
func (p Provider) Route(path string) (Route, bool) {
	got := strings.Split(path, "/")
	if slices.ContainsFunc(got, leadsElsewhere) {
		return Route{}, false
	}
	for _, r := range p.Routes {
		if p.matches(strings.Split(r.Pattern, "/"), got) {
			return r, true
		}
	}
	return Route{}, false
}

func (p Provider) matches(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i, segment := range got {
		isOwner := func(word string) bool { return strings.EqualFold(word, segment) }
		switch named := strings.HasPrefix(want[i], "{"); {
		case !named && segment != want[i], named && slices.ContainsFunc(p.Owner.Words, isOwner):
			return false
		}
	}
	return true
}

func leadsElsewhere(segment string) bool {
	return segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "\\?#%") ||
		strings.ContainsFunc(segment, unicode.IsControl) || !utf8.ValidString(segment)
}

// Refuse returns an [ErrInvalid] that names a parameter of query that r does not take, or by which the upstream takes
// credentials: whose they are is not for a caller to say. It is nil when there is none.
func (p Provider) Refuse(r Route, query url.Values) error {
	for _, name := range p.Credentials {
		if query.Has(name) {
			return Invalid("the parameter %s is not forwarded: credentials are a setting", name)
		}
	}
	if slices.Equal(r.Query, []string{"*"}) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case slices.Contains(r.Query, name):
		case len(r.Query) == 0:
			return Invalid("the parameter %q is not forwarded: this route takes none", name)
		default:
			return Invalid("the parameter %q is not forwarded: this route takes %s", name, strings.Join(r.Query, ", "))
		}
	}
	return nil
}

// Public returns raw, which is JSON without white space, without what [Owner.Fields] names. What else is in it stays as it
// is, byte for byte.
func (p Provider) Public(raw []byte) []byte {
	named := func(field string) bool { return bytes.Contains(raw, []byte(`"`+field+`"`)) }
	if !slices.ContainsFunc(p.Owner.Fields, named) && !bytes.Contains(raw, []byte(`\u`)) { // a name may be escaped
		return raw
	}
	f := filter{in: raw, fields: p.Owner.Fields, out: make([]byte, 0, len(raw))}
	f.value()
	return f.out
}

// filter copies JSON without white space, and leaves out some members.
type filter struct {
	in     []byte
	fields []string
	at     int // what is before it has been looked at
	out    []byte
}

// value copies the value at f.at.
func (f *filter) value() {
	switch f.in[f.at] {
	case '{':
		f.list('}', f.member)
	case '[':
		f.list(']', func() bool { f.value(); return true })
	case '"':
		f.out = append(f.out, f.text()...)
	default:
		from := f.at
		for f.at < len(f.in) && f.in[f.at] != ',' && f.in[f.at] != ']' && f.in[f.at] != '}' {
			f.at++
		}
		f.out = append(f.out, f.in[from:f.at]...)
	}
}

// list copies what is between two brackets, the commas by itself. Part copies one of the parts, and reports whether it did.
func (f *filter) list(end byte, part func() bool) {
	f.out = append(f.out, f.in[f.at])
	f.at++
	for first := true; f.in[f.at] != end; {
		before := len(f.out)
		if !first {
			f.out = append(f.out, ',')
		}
		if part() {
			first = false
		} else {
			f.out = f.out[:before]
		}
		if f.in[f.at] == ',' {
			f.at++
		}
	}
	f.out = append(f.out, end)
	f.at++
}

// member copies a member of an object, and reports whether it may stay.
func (f *filter) member() bool {
	name := f.text()
	f.out = append(append(f.out, name...), ':')
	f.at++
	f.value()
	if bytes.IndexByte(name, '\\') < 0 {
		return !slices.Contains(f.fields, string(name[1:len(name)-1]))
	}
	var plain string
	return json.Unmarshal(name, &plain) == nil && !slices.Contains(f.fields, plain)
}

// text goes over the string at f.at and returns it, with its quotes.
func (f *filter) text() []byte {
	from := f.at
	for f.at++; f.in[f.at] != '"'; f.at++ {
		if f.in[f.at] == '\\' {
			f.at++
		}
	}
	f.at++
	return f.in[from:f.at]
}
