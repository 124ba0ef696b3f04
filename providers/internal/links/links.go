// Package links reads the identifiers that people paste: a bare handle or id, one with an @, or a public URL.
package links

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/providers"
)

// Link is a public URL of the platform, taken apart.
type Link struct {
	Host     string   // lower case, without www. and m.
	Segments []string // of the path, decoded, none empty
	Query    url.Values
	Fragment string
}

// Segment returns the i-th segment, or "".
func (l *Link) Segment(i int) string {
	if i < len(l.Segments) {
		return l.Segments[i]
	}
	return ""
}

// Last returns the last segment, or "" when the path has none.
func (l *Link) Last() string {
	return l.Segment(max(len(l.Segments)-1, 0))
}

// Parse tells whether value is a URL, and takes it apart when it is one on one of hosts. It returns nil for what is no
// URL, and a [providers.ErrInvalid] for the URL of another site. A host matches with www., m. or mobile. before it; one that begins
// with a dot matches any subdomain. The scheme may be missing when the host is written.
func Parse(value string, hosts ...string) (*Link, error) {
	withScheme := value
	if !strings.Contains(value, "://") {
		host, _, slash := strings.Cut(value, "/")
		if !slash || !match(host, hosts) {
			return nil, nil
		}
		withScheme = "https://" + value
	}
	u, err := url.Parse(withScheme)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return nil, providers.Invalid("%q is not a URL of %s", value, hosts[0])
	}
	if !match(u.Host, hosts) {
		return nil, providers.Invalid("%q is a URL of another site, not of %s", value, hosts[0])
	}
	l := &Link{Host: bare(u.Host), Query: u.Query(), Fragment: u.Fragment}
	for s := range strings.SplitSeq(u.Path, "/") {
		if s != "" {
			l.Segments = append(l.Segments, s)
		}
	}
	return l, nil
}

func bare(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
	for _, p := range []string{"www.", "m.", "mobile."} {
		host = strings.TrimPrefix(host, p)
	}
	return host
}

func match(host string, hosts []string) bool {
	host = bare(host)
	return slices.ContainsFunc(hosts, func(h string) bool {
		return host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// Within tells whether s has from 1 to most characters, all of them good. Classes of letters that are repeated so often
// cost a regular expression megabytes, and each start of a program milliseconds.
func Within(s string, most int, good func(rune) bool) bool {
	return s != "" && utf8.RuneCountInString(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return !good(r) })
}

// Digits tells whether s is a number in ASCII digits.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
