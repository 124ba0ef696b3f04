package providers

import (
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

// NamesSubject reports whether the members of raw answers with a name identify an account or an object, as user_id and
// screenName do at every upstream, and those in [Provider.Subjects].
func (p *Provider) NamesSubject(member string) bool {
	plain := strings.ToLower(strings.ReplaceAll(member, "_", ""))
	for _, end := range []string{"id", "idstr", "login", "username", "handle", "screenname"} {
		if strings.HasSuffix(plain, end) {
			return true
		}
	}
	return slices.Contains(p.Subjects, member)
}

// Public returns raw without white space and without the members in [Owner.Fields], or nil if it is not JSON. The rest
// is unchanged, byte for byte.
func (p *Provider) Public(raw []byte) []byte {
	out, _ := jsontext.Without(raw, func(name string) bool { return slices.Contains(p.Owner.Fields, name) })
	return out
}
