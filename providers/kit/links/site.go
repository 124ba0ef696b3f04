package links

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/internal/country"
	"github.com/socialdata/socialdata/providers"
)

// Site describes how the addresses and identifiers of one platform are parsed. Names and Normalize use the same parts,
// so that they always agree. A Site is read-only.
type Site struct {
	Hosts []string // of its pages, as for [Parse]
	// Order lists what an address may identify, the most specific first: a comment before its post.
	Order []providers.Subject
	// First returns what an address identifies regardless of Order; "" for nothing. It is nil if Order is enough.
	First func(l *Link) providers.Subject
	// Searches are the pages of search results and of hashtags: the beginning of their path, in which * is any segment,
	// and what is searched for: the parameter in braces, or for empty braces the segment that follows. Examples are
	// "search": "{q}" and "tags": "#{}".
	Searches map[string]string
	// AdSearches are the same for the ad library of the site.
	AdSearches map[string]string
	// Also is [providers.Provider.Also].
	Also map[providers.Subject][]providers.Subject
	// In returns the identifier of a subject in an address, in a form that ID accepts; "" when there is none.
	In func(s providers.Subject, l *Link) string
	// ID converts an identifier that is not an address to its canonical form. It returns [providers.ErrInvalid] if it is
	// not valid.
	ID func(s providers.Subject, value string) (string, error)
	// Country returns the word for a country in an address, in the form of ISO 3166-1 alpha-2 or not; nil if addresses
	// have none.
	Country func(l *Link) string
	// Markets is set if identifiers name a country.
	Markets *Markets
	// Short reports whether only the site can resolve an address; nil if it has no such addresses.
	Short func(l *Link) bool
}

// Names is [providers.Provider.Names].
func (s *Site) Names(u *url.URL) (providers.Subject, string, bool) {
	if l := take(u, s.Hosts); l != nil {
		return s.named(l)
	}
	return "", "", false
}

func (s *Site) named(l *Link) (providers.Subject, string, bool) {
	if s.Short != nil && s.Short(l) {
		return providers.ShortLink, "", false
	}
	if text := l.searched(s.Searches); text != "" {
		return providers.SearchPage, text, true
	}
	if s.First != nil {
		if subject := s.First(l); subject != "" {
			return subject, s.idIn(subject, l), true
		}
	}
	for _, subject := range s.Order {
		id := s.idIn(subject, l)
		if id == "" {
			continue
		}
		if subject.Owns() && s.post(l, id) {
			break
		}
		return subject, id, true
	}
	if text := l.searched(s.AdSearches); text != "" {
		return providers.AdSearchPage, text, true
	}
	return providers.SitePage, "", false
}

// postMarkers are the path segments that come before a post on one site or another.
var postMarkers = []string{
	"article", "clip", "comments", "p", "photo", "post", "posts", "reel", "status", "statuses", "v", "video",
}

// post reports whether an address, from which an account or a community with that id was read, is that of a post: the
// site or a marker says so, or a number follows the account.
func (s *Site) post(l *Link, id string) bool {
	if slices.Contains(s.Order, providers.PostID) && s.In(providers.PostID, l) != "" {
		return true
	}
	id = "/" + strings.ReplaceAll(strings.ToLower(id), ":", "/")
	isAccount := func(segment string) bool { // or ends with it, after a title
		segment = strings.ToLower(strings.TrimPrefix(segment, "@"))
		return strings.HasSuffix(id, "/"+segment) || strings.HasSuffix(segment, "-"+id[1:])
	}
	for i := 1; i < len(l.Segments); i++ {
		before, segment := l.Segments[i-1], l.Segments[i]
		if isAccount(segment) {
			continue
		}
		numbered := Digits(segment) && (i == 1 || isAccount(before))
		if numbered || slices.Contains(postMarkers, strings.ToLower(before)) {
			return true
		}
	}
	return false
}

// idIn returns the canonical identifier of a subject in an address, or "".
func (s *Site) idIn(subject providers.Subject, l *Link) string {
	in := s.In(subject, l)
	if in == "" {
		return ""
	}
	id, err := s.canonical(subject, in)
	if err != nil {
		return ""
	}
	if s.Country == nil || !s.Markets.have(subject) {
		return id
	}
	word := s.Country(l)
	switch at := country.Code(word); {
	case at != "":
		return s.Markets.ID(at, id)
	case len(word) == 2: // of a country that does not exist
		return ""
	}
	return id
}

// countryIn returns the country in an address, "" when there is none.
func (s *Site) countryIn(l *Link) string {
	if s.Country == nil {
		return ""
	}
	return country.Code(s.Country(l))
}

// CountryOf is [providers.Provider.Country].
func (s *Site) CountryOf(subject providers.Subject, value string) string {
	if l, err := Parse(value, s.Hosts...); err == nil && l != nil {
		return s.countryIn(l)
	}
	if !s.Markets.have(subject) {
		return ""
	}
	at, _ := s.Markets.cut(value)
	return at
}

// InCountry is [providers.Provider.InCountry].
func (s *Site) InCountry(subject providers.Subject, id, at string) (string, bool) {
	if !s.Markets.have(subject) {
		return id, false
	}
	_, bare := s.Markets.Cut(id)
	return s.Markets.ID(at, bare), true
}

// canonical is ID for what people paste: a slash may follow the identifier, or a parameter of the address from which it
// was copied.
func (s *Site) canonical(subject providers.Subject, value string) (string, error) {
	if s.Markets.have(subject) {
		if at, bare := s.Markets.cut(value); at != "" {
			id, err := s.canonical(subject, bare)
			return s.Markets.ID(at, id), err
		}
	}
	if head, query, _ := strings.Cut(value, "?"); strings.Contains(query, "=") {
		value = head
	}
	bare := strings.TrimRight(value, "/")
	id, err := s.ID(subject, bare)
	if at := strings.IndexAny(value, "&?"); err != nil && at > 0 {
		bare = strings.TrimRight(value[:at], "/")
		if cut, cutErr := s.ID(subject, bare); cutErr == nil {
			id, err = cut, nil
		}
	}
	if err != nil {
		return "", err
	}
	if bare == "" || id == "" {
		return "", providers.Invalid("%.200q names no %s", value, subject)
	}
	return id, nil
}

// Normalize is [providers.Provider.Normalize]. An address is accepted for what it identifies, and for what else its
// page identifies.
func (s *Site) Normalize(subject providers.Subject, value string) (string, error) {
	l, err := Parse(value, s.Hosts...)
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return s.canonical(subject, value)
	}
	named, id, ok := s.named(l)
	if ok && named == subject {
		return id, nil
	}
	if slices.Contains(s.Also[named], subject) {
		if id := s.idIn(subject, l); id != "" {
			return id, nil
		}
	}
	switch named {
	case providers.ShortLink:
		return "", ErrShort
	case providers.SitePage:
		return "", providers.Invalid("%.200q names no %s", value, subject)
	default:
		// Made without fmt, because resolving a URL normalizes each subject that its page may have.
		return "", &providers.Error{
			Kind: providers.ErrInvalid, Detail: quoted(value) + " is the address of a " + string(named) + ", not of a " +
				string(subject),
		}
	}
}

// quoted returns value formatted with %.200q.
func quoted(value string) string {
	n := 0
	for i := range value {
		if n++; n > 200 {
			return strconv.Quote(value[:i])
		}
	}
	return strconv.Quote(value)
}

// ErrShort refuses a short link where an identifier is required.
var ErrShort = providers.Invalid("a short link does not show its target: open it and pass the address that it leads to")
