// Package weburl finds web addresses in what people write, and brings them into the form of RFC 3986. It is shared by
// the providers and by what is derived from profiles, so that both see the same links.
package weburl

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Absolute returns s as an absolute URI of http or https, in ASCII: a missing scheme is https, characters that a URI may
// not hold are escaped, marks that nobody sees are left out. It is false for what is no address of the web, such as a
// mail address.
func Absolute(s string) (string, bool) {
	s = strings.TrimSpace(strings.Map(visible, s))
	switch {
	case s == "":
		return "", false
	case strings.HasPrefix(s, "//"):
		s = "https:" + s
	case !strings.Contains(s, "://"):
		host, _, _ := strings.Cut(s, "/")
		if name, port, found := strings.Cut(host, ":"); strings.Contains(name, "@") || found && !digits(port) {
			return "", false // mail, and schemes of their own: mailto:, tel:
		}
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(u.Host, " <>\"") ||
		!strings.Contains(u.Host, ".") && u.Hostname() != "localhost" {
		return "", false
	}
	if u.Host, err = asciiHost(u.Host); err != nil {
		return "", false
	}
	u.RawQuery = escape(u.RawQuery)
	return u.String(), true
}

// visible drops format characters: marks of direction, zero-width spaces, byte-order marks.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// asciiHost returns host with an internationalised name in its ASCII form.
func asciiHost(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

// escape escapes what a URI may not hold and net/url leaves in a query as it came.
func escape(q string) string {
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var (
	scheme = regexp.MustCompile(`(?i)https?://`)
	// bare is a host that a path follows, as people write it: t.me/salma.
	bare = regexp.MustCompile(`(?i)https?://|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}/`)
)

// InText returns the addresses that s writes out with their scheme, each once, in order, without the punctuation around
// them.
func InText(s string) []string { return find(scheme, s) }

// InBio is [InText] for texts in which people leave the scheme out: a host with a path is an address too.
func InBio(s string) []string { return find(bare, s) }

func find(start *regexp.Regexp, s string) []string {
	var out []string
	for from := 0; ; {
		at := start.FindStringIndex(s[from:])
		if at == nil {
			return out
		}
		begin := from + at[0]
		end := begin + extent(s[begin:])
		if from = end; end < begin+at[1]-at[0] { // not even the start belongs to it
			from = begin + at[1] - at[0]
		}
		if glued(s[:begin]) && !scheme.MatchString(s[begin:end]) {
			continue // the end of a mail address or of another word
		}
		if u, ok := Absolute(trim(s[begin:end])); ok && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
}

// glued tells whether what stands behind before is part of a longer word.
func glued(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@._-:/%+", r))
}

// extent returns how much of s belongs to the address at its beginning: what RFC 3986 allows in one, and letters and
// digits of any script.
func extent(s string) int {
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if r <= ' ' || strings.ContainsRune("\"<>\\^`{|}[]\x7f", r) {
				return i
			}
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
			return i
		}
	}
	return len(s)
}

// trim leaves off the punctuation of the sentence. A closing bracket belongs to an address that opens it.
func trim(s string) string {
	for cut := ""; cut != s; {
		cut, s = s, strings.TrimRight(s, ".,;:!?'*")
		if strings.HasSuffix(s, ")") && strings.Count(s, "(") < strings.Count(s, ")") {
			s = s[:len(s)-1]
		}
	}
	return s
}
