package links

import (
	"net/url"
	"slices"
	"strconv"

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
	// Also is [providers.Provider.Also].
	Also map[providers.Subject][]providers.Subject
	// In returns the identifier of a subject in an address, in a form that ID accepts; "" when there is none.
	In func(s providers.Subject, l *Link) string
	// ID converts an identifier that is not an address to its canonical form. It returns [providers.ErrInvalid] if it is
	// not valid.
	ID func(s providers.Subject, value string) (string, error)
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
	if s.First != nil {
		if subject := s.First(l); subject != "" {
			return subject, s.idIn(subject, l), true
		}
	}
	for _, subject := range s.Order {
		if id := s.idIn(subject, l); id != "" {
			return subject, id, true
		}
	}
	return providers.SitePage, "", false
}

// idIn returns the canonical identifier of a subject in an address, or "".
func (s *Site) idIn(subject providers.Subject, l *Link) string {
	in := s.In(subject, l)
	if in == "" {
		return ""
	}
	id, err := s.ID(subject, in)
	if err != nil {
		return ""
	}
	return id
}

// Normalize is [providers.Provider.Normalize]. An address is accepted for what it identifies, and for what else its
// page identifies.
func (s *Site) Normalize(subject providers.Subject, value string) (string, error) {
	l, err := Parse(value, s.Hosts...)
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return s.ID(subject, value)
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
