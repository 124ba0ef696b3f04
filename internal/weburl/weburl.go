// Package weburl finds web addresses in texts, and converts them to the form of RFC 3986. The providers and the
// derivation of linked profiles share it, so that both see the same links. It runs in linear time.
package weburl

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The limits of a search in a text. No real text is longer or has more addresses.
const (
	MostText  = 64 << 10 // bytes of a text that are searched
	MostFinds = 100      // different addresses
)

// mostHost is the maximum length of a host, in bytes. A name in DNS has at most 253; in another script it is longer.
const mostHost = 1024

// Searched returns the part of a text that is searched: all of it, or what comes before the last space of its first
// [MostText] bytes.
func Searched(s string) string {
	if len(s) <= MostText {
		return s
	}
	s = s[:MostText]
	if at := strings.LastIndexFunc(s, unicode.IsSpace); at >= 0 {
		return s[:at]
	}
	return strings.ToValidUTF8(s, "") // the last character may have been cut
}

// Absolute returns s as an absolute http or https URI, in ASCII: a missing scheme becomes https, characters that a URI
// may not contain are escaped, invisible characters are removed. It returns false if s is not a web address, for
// example a mail address.
func Absolute(s string) (string, bool) {
	if plain(s) {
		return s, true
	}
	s = strings.TrimSpace(strings.Map(visible, s))
	switch {
	case s == "":
		return "", false
	case strings.HasPrefix(s, "//"):
		s = "https:" + s
	case !strings.Contains(s, "://"):
		host, _, _ := strings.Cut(s, "/")
		if name, port, found := strings.Cut(host, ":"); strings.Contains(name, "@") || found && !digits(port) {
			return "", false // mail, and other schemes: mailto:, tel:
		}
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || len(u.Host) > mostHost ||
		strings.ContainsAny(u.Host, " <>\"") || !strings.Contains(u.Host, ".") && u.Hostname() != "localhost" {
		return "", false
	}
	if u.Host, err = asciiHost(u.Host); err != nil {
		return "", false
	}
	u.RawQuery = escape(u.RawQuery)
	return u.String(), true
}

// plain reports whether [Absolute] returns s unchanged. It is also false for what is rare: hosts in upper case or
// another script, ports and fragments. Nearly all addresses of upstreams are plain, and parsing one takes ten times as
// long, which was a tenth of the time of a page of posts (BenchmarkAbsolute, and BenchmarkMiss in providers/all).
func plain(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	i := 0
	for i < len(rest) && forms[rest[i]]&inName != 0 {
		i++
	}
	if !strings.Contains(rest[:i], ".") || i > mostHost || i < len(rest) && rest[i] != '/' && rest[i] != '?' {
		return false
	}
	for ; i < len(rest); i++ {
		if forms[rest[i]]&inPath != 0 {
			continue
		}
		if rest[i] != '%' || i+2 >= len(rest) || forms[rest[i+1]]&forms[rest[i+2]]&inHex == 0 {
			return false
		}
	}
	return true
}

// What a character may be a part of in a [plain] address.
const (
	inName = 1 << iota
	inPath // or in a query
	inHex
)

// forms has the parts of a plain address that each character may be in.
var forms = func() (table [256]byte) {
	for part, characters := range map[byte]string{
		inName: "abcdefghijklmnopqrstuvwxyz0123456789.-",
		inPath: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?=&+,;:@!$*'()",
		inHex:  "0123456789ABCDEFabcdef",
	} {
		for _, c := range []byte(characters) {
			table[c] |= part
		}
	}
	return table
}()

// visible drops format characters: direction marks, zero-width spaces, byte-order marks.
func visible(r rune) rune {
	if r >= utf8.RuneSelf && unicode.Is(unicode.Cf, r) {
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

// escape escapes what a URI may not contain and net/url leaves unchanged in a query.
func escape(q string) string {
	i := 0
	for i < len(q) && !barred(q[i]) {
		i++
	}
	if i == len(q) { // as most are
		return q
	}
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; barred(c) {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// barred reports whether a URI may not contain c.
func barred(c byte) bool { return c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 }

var (
	scheme = regexp.MustCompile(`(?i)https?://`)
	// bare matches a host followed by a path, as people write it: t.me/salma.
	bare = regexp.MustCompile(`(?i)https?://|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}/`)
)

// InText returns the addresses with a scheme in s, each once, in order, without the punctuation around them. It returns
// at most the first [MostFinds] in what is [Searched].
func InText(s string) []string { return find(scheme, s) }

// InBio is [InText] for texts in which people omit the scheme: a host with a path is an address too.
func InBio(s string) []string { return find(bare, s) }

func find(start *regexp.Regexp, s string) []string {
	s = Searched(s)
	var out []string
	seen := map[string]bool{}
	for from := 0; len(out) < MostFinds; {
		at := start.FindStringIndex(s[from:])
		if at == nil {
			break
		}
		begin := from + at[0]
		end := begin + extent(s[begin:])
		if from = end; end < begin+at[1]-at[0] { // not even its beginning is an address
			from = begin + at[1] - at[0]
		}
		if glued(s[:begin]) && !scheme.MatchString(s[begin:end]) {
			continue // part of a mail address or of another word
		}
		if u, ok := Absolute(trim(s[begin:end])); ok && !seen[u] {
			seen[u] = true
			out = append(out, u)
		}
	}
	return out
}

// glued reports whether what follows before is part of a longer word.
func glued(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@._-:/%+", r))
}

// extent returns the length of the address at the beginning of s: what RFC 3986 allows in one, and letters and digits
// of any script.
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

// trim removes the punctuation of the sentence. A closing bracket belongs to an address that opens it.
func trim(s string) string {
	open := strings.Count(s, "(") - strings.Count(s, ")")
	for {
		s = strings.TrimRight(s, ".,;:!?'*")
		if open >= 0 || !strings.HasSuffix(s, ")") {
			return s
		}
		s, open = s[:len(s)-1], open+1
	}
}
