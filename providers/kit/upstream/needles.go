package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// needles are the texts to remove from answers: credentials in plain, reversed, in base64 and in hex. They do not
// change.
type needles struct {
	secrets []string // the credentials
	all     [][]byte
	longest int
	has     [256]bool // the bytes that are in any needle, and those that begin an escape
}

func needlesOf(secrets []string) *needles {
	n := &needles{secrets: secrets}
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		reversed := []byte(s)
		slices.Reverse(reversed)
		n.add(s)
		n.add(string(reversed))
		n.add(strings.ReplaceAll(s, " ", "+")) // form encoding
		n.add(hex.EncodeToString([]byte(s)))
		n.add(strings.ToUpper(hex.EncodeToString([]byte(s))))
		for offset := range 3 {
			core := based(s, offset)
			n.add(core)
			n.add(strings.NewReplacer("+", "-", "/", "_").Replace(core))
		}
	}
	for _, c := range []byte("\\%&") {
		n.has[c] = true
	}
	return n
}

func (n *needles) add(s string) {
	if len(s) < shortest || slices.ContainsFunc(n.all, func(have []byte) bool { return string(have) == s }) {
		return
	}
	n.all, n.longest = append(n.all, []byte(s)), max(n.longest, len(s))
	for i := range len(s) {
		n.has[s[i]] = true
	}
}

// based returns the part of the base64 of s that does not depend on the text around it, when s comes after offset
// bytes, modulo three.
func based(s string, offset int) string {
	before := []int{0, 2, 3}[offset]
	b64 := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), s...))
	return b64[before : (offset+len(s))*8/6]
}

const (
	layers  = 3       // of nested escapes, such as \u0026#80;
	widest  = 64      // most bytes that one byte of a needle takes with that many escapes
	oneBite = 1 << 16 // bytes of an answer that are unescaped at a time
)

// cut returns b without the needles, however they are escaped. It changes b.
func (n *needles) cut(b []byte) []byte {
	overlap := n.longest * widest
	var found []span
	for from := 0; from < len(b); from += oneBite {
		found = n.find(found, b, from, min(len(b), from+oneBite+overlap))
	}
	if len(found) == 0 {
		return b
	}
	slices.SortFunc(found, func(x, y span) int { return x.from - y.from })
	out, kept := b[:0], 0
	for _, f := range found {
		if f.from > kept {
			out = append(out, b[kept:f.from]...)
		}
		kept = max(kept, f.to)
	}
	return append(out, b[kept:]...)
}

// span is a part of an answer.
type span struct{ from, to int }

// find adds the needles in b[from:to] to found, as they are and after each unescaping.
func (n *needles) find(found []span, b []byte, from, to int) []span {
	part := escaped{text: b[from:to]}
	for layer := 0; ; layer++ {
		for _, needle := range n.all {
			for at := 0; ; {
				i := bytes.Index(part.text[at:], needle)
				if i < 0 {
					break
				}
				at += i
				found = append(found, span{from + part.start(at), from + part.end(at+len(needle)-1)})
				at += len(needle)
			}
		}
		if layer == layers || !n.worth(part.text) {
			return found
		}
		part = part.unescape()
	}
}

// worth reports whether text has an escape of a character in a needle.
func (n *needles) worth(text []byte) bool {
	for i := 0; i < len(text); {
		next := bytes.IndexAny(text[i:], "\\%&")
		if next < 0 {
			return false
		}
		i += next
		r, size := unescape(text[i:])
		if size > 1 && n.has[utf8.AppendRune(nil, r)[0]] {
			return true
		}
		i += max(1, size)
	}
	return false
}

// escaped is a part of an answer after some unescaping, with the position in the part from which each of its bytes
// comes. Without positions it is the part itself.
type escaped struct {
	text   []byte
	places []span
}

func (e escaped) start(i int) int {
	if e.places == nil {
		return i
	}
	return e.places[i].from
}

func (e escaped) end(i int) int {
	if e.places == nil {
		return i + 1
	}
	return e.places[i].to
}

// unescape removes one layer of escapes.
func (e escaped) unescape() escaped {
	out := escaped{make([]byte, 0, len(e.text)), make([]span, 0, len(e.text))}
	for i := 0; i < len(e.text); {
		r, size := unescape(e.text[i:])
		before := len(out.text)
		if size > 1 {
			out.text = utf8.AppendRune(out.text, r)
		} else {
			out.text, size = append(out.text, e.text[i]), 1
		}
		for range len(out.text) - before {
			out.places = append(out.places, span{e.start(i), e.end(i + size - 1)})
		}
		i += size
	}
	return out
}

// unescape returns the character of the escape at the beginning of b, in JSON, JavaScript, HTML or a URL, and its
// length; 0 when there is none.
func unescape(b []byte) (r rune, size int) {
	switch {
	case len(b) < 2:
		return 0, 0
	case b[0] == '%':
		return number(b, 1, 2, 16)
	case b[0] == '&':
		return entity(b)
	case b[0] != '\\' || b[1] >= utf8.RuneSelf:
		return 0, 0
	case b[1] == 'u':
		return number(b, 2, 4, 16)
	case b[1] == 'x':
		return number(b, 2, 2, 16)
	case strings.IndexByte("bfnrt", b[1]) >= 0:
		return ' ', 2
	}
	return rune(b[1]), 2
}

// number parses the given number of digits from b[from] on.
func number(b []byte, from, digits, base int) (rune, int) {
	if len(b) < from+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(b[from:from+digits]), base, 32)
	if err != nil {
		return 0, 0
	}
	return rune(n), from + digits
}

// longestEntity is longer than the HTML entities of all characters in credentials.
const longestEntity = 64

func entity(b []byte) (rune, int) {
	end := 1
	for end < min(len(b), longestEntity) && (b[end] == '#' && end == 1 || isAlphanumeric(b[end])) {
		end++
	}
	if b[1] == '#' { // its semicolon may be missing
		digits, base := strings.TrimPrefix(string(b[2:end]), "x"), 16
		if digits = strings.TrimPrefix(digits, "X"); len(digits) == end-2 {
			base = 10
			if stop := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); stop >= 0 {
				digits, end = digits[:stop], 2+stop
			}
		}
		n, err := strconv.ParseUint(digits, base, 31)
		if err != nil {
			return 0, 0
		}
		if end < len(b) && b[end] == ';' {
			end++
		}
		return rune(n), end
	}
	if end == len(b) || b[end] != ';' {
		return 0, 0
	}
	plain := html.UnescapeString(string(b[:end+1]))
	if r, size := utf8.DecodeRuneInString(plain); size == len(plain) && size < end+1 {
		return r, end + 1
	}
	return 0, 0
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
