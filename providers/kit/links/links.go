// Package links parses the identifiers that people paste: a bare handle or id, one with an @, or a public URL.
package links

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/providers"
)

// Link is a parsed public URL of the platform.
type Link struct {
	Host     string   // lower case, without www., m. and mobile.
	Segments []string // of the path, decoded, not empty, without what follows an &
	Fragment string

	whole []string // the segments including an & and what follows it
	query string
}

// Whole returns the i-th segment including an & and what follows it, which is a part of a few names and of texts. It
// is "" when the path is shorter.
func (l *Link) Whole(i int) string {
	if i < len(l.whole) {
		return l.whole[i]
	}
	return ""
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

// After returns the segment after the first one that equals word, or "".
func (l *Link) After(word string) string {
	if at := slices.Index(l.Segments, word); at >= 0 {
		return l.Segment(at + 1)
	}
	return ""
}

// searched returns the text that a page of search results is about, "" for any other page. The key of pages is the
// beginning of a path, or a host and the beginning of a path, as a pattern of [path.Match]. The value has the parameter
// with the text in braces, or empty braces for the segment that follows.
func (l *Link) searched(pages map[string]string) string {
	for n := len(l.Segments); n >= 0 && len(pages) > 0; n-- {
		start := strings.ToLower(strings.Join(l.Segments[:n], "/"))
		for page, text := range pages {
			at := start
			if strings.Contains(page, ".") {
				at = l.Host + "/" + start
			}
			if is, _ := path.Match(page, at); !is {
				continue
			}
			before, name, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
			found := l.Whole(n)
			if name != "" {
				found = l.Param(name)
			}
			if found = strings.TrimSpace(strings.TrimPrefix(found, before)); found != "" {
				return before + found
			}
		}
	}
	return ""
}

// Param returns the first value of a query parameter, or "".
func (l *Link) Param(name string) string { return weburl.Param(l.query, name) }

// Parse parses value if it is a URL on one of hosts. It returns nil for what is not a URL, and [providers.ErrInvalid]
// for the URL of another site. A host also matches with www., m. or mobile. before it; one that begins with a dot
// matches any subdomain. The scheme may be missing if the host is present. A URL that redirects to another URL in its
// query is parsed as that one.
func Parse(value string, hosts ...string) (*Link, error) {
	withScheme := value
	if !strings.Contains(value, "://") {
		host, _, slash := strings.Cut(value, "/")
		if !slash || !match(bare(host), hosts) {
			return nil, nil
		}
		withScheme = "https://" + value
	}
	u, err := url.Parse(withScheme)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return nil, providers.Invalid("%.200q is not a URL of %s", value, hosts[0])
	}
	l := take(weburl.Through(u), hosts)
	if l == nil {
		return nil, providers.Invalid("%.200q is a URL of another site, not of %s", value, hosts[0])
	}
	return l, nil
}

// take parses u; nil when it is not on one of hosts.
func take(u *url.URL, hosts []string) *Link {
	host := bare(u.Host)
	if !match(host, hosts) || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return nil
	}
	l := &Link{Host: host, Fragment: u.Fragment, query: u.RawQuery}
	if n := strings.Count(u.Path, "/"); n > 0 {
		l.Segments = make([]string, 0, n)
	}
	for s := range strings.SplitSeq(u.Path, "/") {
		if s != "" {
			l.Segments = append(l.Segments, s)
		}
	}
	l.whole = l.Segments
	for i, s := range l.whole {
		if head, _, cut := strings.Cut(s, "&"); cut {
			if &l.Segments[0] == &l.whole[0] {
				l.Segments = slices.Clone(l.whole)
			}
			l.Segments[i] = head
		}
	}
	return l
}

func bare(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
	for _, p := range [...]string{"www.", "m.", "mobile."} {
		host = strings.TrimPrefix(host, p)
	}
	return host
}

func match(bare string, hosts []string) bool {
	for _, h := range hosts {
		if bare == h || h[0] == '.' && strings.HasSuffix(bare, h) {
			return true
		}
	}
	return false
}

// Within reports whether s has from 1 to most characters, for all of which good returns true. A regular expression with
// such a large repeat count would cost megabytes, and milliseconds at each start of a program.
func Within(s string, most int, good func(rune) bool) bool {
	return s != "" && utf8.RuneCountInString(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return !good(r) })
}

// Digits reports whether s is a number in ASCII digits.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
