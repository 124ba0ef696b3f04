package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text with everything blanked. whole means that the complete text may be a telephone number, such as in
// what a person writes; in other data of an upstream, a string of digits is an id.
func (r *Redactor) Text(text string, whole bool) (string, Found) {
	var found Found
	if r == nil {
		return text, found
	}
	s := scanner{Redactor: r, text: text}
	if s.phones = r.phones && (whole || !onlyDigits(text)); !s.phones && !r.emails {
		return text, found
	}
	for from := 0; from < len(text); {
		at, end := nextAddress(text, from)
		s.plain(from, at)
		if s.phones && at < end {
			s.linked(at, end)
		}
		from = end
	}
	if !s.found.Any() {
		return text, found
	}
	s.out.WriteString(text[s.copied:])
	return s.out.String(), s.found
}

// scanner searches one text.
type scanner struct {
	*Redactor

	phones bool
	text   string
	out    strings.Builder
	copied int // of text
	found  Found
}

// blank replaces a part of the text by [Mark].
func (s *scanner) blank(at, end int, counted *int) {
	s.out.WriteString(s.text[s.copied:at])
	s.out.WriteString(Mark)
	s.copied = end
	*counted++
}

// nextAddress returns the next web address; the end of the text when there is none.
func nextAddress(text string, from int) (at, end int) {
	for i := from; i < len(text); i++ {
		at := -1
		switch text[i] {
		case ':':
			if strings.HasPrefix(text[i:], "://") {
				at = schemeOf(text, from, i)
			}
		case 'w', 'W':
			if i == 0 || !isWord(text[i-1]) {
				if hasFold(text[i:], "www.") || hasFold(text[i:], "wa.me/") {
					at = i
				}
			}
		}
		if at >= 0 {
			return at, i + ending(text[i:])
		}
	}
	return len(text), len(text)
}

// schemeOf returns the beginning of the scheme that ends at colon; -1 when it is not one of the web.
func schemeOf(text string, from, colon int) int {
	at := colon
	for at > from && colon-at < 6 && isLetter(text[at-1]) {
		at--
	}
	switch strings.ToLower(text[at:colon]) {
	case "http", "https", "ftp":
		return at
	}
	return -1
}

// ending returns the end of the address at the beginning of text.
func ending(text string) int {
	n := strings.IndexFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || c == '<' || c == '>' || c == '"' || c == '،' || c == '|'
	})
	if n < 0 {
		return len(text)
	}
	return n
}

// linked blanks the number in a link to WhatsApp.
func (s *scanner) linked(at, end int) {
	link := s.text[at:end]
	for _, before := range []string{"wa.me/", "whatsapp.com/send?phone=", "whatsapp.com/send/?phone="} {
		i := indexFold(link, before)
		if i < 0 {
			continue
		}
		from := at + i + len(before)
		to := from
		for to < end && (s.text[to] >= '0' && s.text[to] <= '9' || s.text[to] == '+') {
			to++
		}
		if to-from >= least {
			s.blank(from, to, &s.found.Phones)
		}
		return
	}
}

// plain searches a part of the text without web addresses.
func (s *scanner) plain(from, to int) {
	for i := from; i < to; {
		c := s.text[i]
		switch {
		case c == '@' && s.emails:
			if at, end := s.email(max(from, s.copied), i, to); at >= 0 {
				s.blank(at, end, &s.found.Emails)
				i = end
				continue
			}
			i++
		case !s.phones || c < utf8.RuneSelf && (c < '0' || c > '9') && c != '+' && c != '(':
			i++
		default:
			i = s.number(i, to)
		}
	}
}

// email returns the address around the @ at i; -1 when there is none.
func (s *scanner) email(from, i, to int) (at, end int) {
	const mostLocal, mostDomain = 64, 255
	at = i
	for at > from && i-at < mostLocal {
		c, n := utf8.DecodeLastRuneInString(s.text[from:at])
		if !isAlnum(c) && !strings.ContainsRune("._%+-", c) {
			break
		}
		at -= n
	}
	for at < i && (s.text[at] == '.' || s.text[at] == '-') {
		at++
	}
	if at == i || s.text[i-1] == '.' {
		return -1, 0
	}
	if at > from && (s.text[at-1] == '@' || s.text[at-1] == '/') {
		return -1, 0
	}
	end = i + 1
	dot, letters := -1, true // the last dot, and whether only letters follow it
	for end < to && end-i <= mostDomain {
		c, n := utf8.DecodeRuneInString(s.text[end:to])
		if c == '.' && end > i+1 && s.text[end-1] != '.' {
			if next, _ := utf8.DecodeRuneInString(s.text[end+1 : to]); !isAlnum(next) {
				break // the end of a sentence
			}
			dot, letters = end, true
		} else if !isAlnum(c) && c != '-' {
			break
		} else if !unicode.IsLetter(c) {
			letters = false
		}
		end += n
	}
	for end > i+1 && s.text[end-1] == '-' {
		end--
	}
	domain := s.text[i+1 : end]
	switch {
	case dot < 0 || dot >= end:
		return -1, 0
	case utf8.RuneCountInString(s.text[dot+1:end]) < 2 || !letters && !hasFold(s.text[dot+1:end], "xn--"):
		return -1, 0
	case end < to && s.text[end] == '@':
		return -1, 0
	case end+1 < to && s.text[end] == ':' && strings.IndexByte(s.text[end:end+ending(s.text[end:to])], '/') > 0:
		return -1, 0 // git@example.com:ann/repo
	case len(domain) > 3 && domain[0] >= '1' && domain[0] <= '4' && domain[1] == 'x' && domain[2] == '.':
		return -1, 0 // icon@2x.png
	}
	return at, end
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '.' || c >= utf8.RuneSelf
}

func isAlnum(c rune) bool {
	if c < utf8.RuneSelf {
		return c >= 0 && (isLetter(byte(c)) || c >= '0' && c <= '9')
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.Is(unicode.Mn, c))
}

func hasFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func indexFold(text, part string) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}
