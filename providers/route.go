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

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/platform"
)

// Route is an entry in the allow-list of a provider's raw reads.
type Route struct {
	// Pattern is a path without a leading slash, such as "users/{login}/repos"; a segment in braces matches any one
	// segment.
	Pattern string
	// Query lists the query parameters that are forwarded, by exact name; "*" alone means any. Others are refused.
	Query    []string
	Platform platform.ID // the platform whose base price the read costs
}

// Routes returns an allow-list of templates whose reads all cost the base price of one platform. A template is a
// pattern with its query parameters, as in RFC 6570: "users/{login}/repos{?sort,page}".
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

// Owner describes what an upstream only shows to the owner of the credential.
type Owner struct {
	// Words identify the owner in place of an account, such as "me": segments in braces do not match them, in any case.
	Words []string
	// Fields are the names of members that only occur in answers about the owner; they are removed from every raw
	// answer, at any depth.
	Fields []string
}

// Route returns the route of p that matches path. Segments that could lead elsewhere, and those that identify the owner
// of the credential, match none.
func (p *Provider) Route(path string) (Route, bool) {
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

func (p *Provider) matches(want, got []string) bool {
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

// Refuse returns an [ErrInvalid] that names a parameter in query that r does not accept, or in which the upstream
// accepts credentials: callers must not choose those. It is nil if there is none.
func (p *Provider) Refuse(r Route, query url.Values) error {
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

// Public returns raw without white space and without the members in [Owner.Fields], or nil if it is not JSON. The rest
// is unchanged, byte for byte.
func (p *Provider) Public(raw []byte) []byte {
	if len(p.Owner.Fields) == 0 {
		out, _ := jsontext.Compact(raw, nil)
		return out
	}
	f := filter{fields: p.Owner.Fields}
	for _, name := range f.fields {
		f.lengths |= 1 << (len(name) % 64)
	}
	found := false
	out, _ := jsontext.Compact(raw, func(name []byte) { found = found || f.hides(name) })
	if out == nil || !found {
		return out // most answers have no such member, and are not copied again
	}
	f.in, f.out = out, make([]byte, 0, len(out))
	f.value()
	return f.out
}

// filter copies JSON without white space, without some members.
type filter struct {
	in      []byte
	fields  []string
	lengths uint64 // bit n is set if a field has n bytes, or n and a multiple of 64
	at      int    // everything before it has been processed
	out     []byte
}

// hides reports whether a member of that name, with its quotes, is one of the fields.
func (f *filter) hides(name []byte) bool {
	plain := name[1 : len(name)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		var text string
		if json.Unmarshal(name, &text) != nil {
			return true
		}
		plain = []byte(text)
	}
	return f.lengths&(1<<(len(plain)%64)) != 0 && slices.Contains(f.fields, string(plain))
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

// list copies the elements between two brackets, and writes the commas itself. part copies one element, and reports
// whether the copy is kept.
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

// member copies a member of an object, and reports whether it may stay; otherwise list removes the copy.
func (f *filter) member() bool {
	name := f.text()
	f.out = append(append(f.out, name...), ':')
	f.at++
	f.value()
	return !f.hides(name)
}

// text skips the string at f.at and returns it, with its quotes.
func (f *filter) text() []byte {
	from := f.at
	f.at = min(from+1+jsontext.Closing(f.in[from+1:])+1, len(f.in))
	return f.in[from:f.at]
}
