package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a telephone number, in digits.
const (
	least        = 7
	most         = 15
	leastOfField = 5
	mostGroups   = 12
)

// digitOf returns the value of a decimal digit of any script; -1 for anything else.
func digitOf(c rune) int {
	switch {
	case c < 0x660:
		if c >= '0' && c <= '9' {
			return int(c - '0')
		}
		return -1
	case c <= 0x669:
		return int(c - 0x660)
	case c >= 0x6f0 && c <= 0x6f9:
		return int(c - 0x6f0)
	case c < 0x7c0 || !unicode.Is(unicode.Nd, c):
		return -1
	}
	zero := c // the ten digits of a script are consecutive in Unicode, and so are some blocks of ten
	for unicode.Is(unicode.Nd, zero-1) && c-zero < 60 {
		zero--
	}
	return int(c-zero) % 10
}

// group is a group of consecutive digits.
type group struct {
	at, end int
	n       int    // number of digits
	first   [4]int // the first digits
	sep     string // between the previous group and this one
}

// sequence is a sequence of groups of digits with separators between them.
type sequence struct {
	at     int // including a leading + or bracket
	plus   bool
	groups []group
	end    int
	long   bool // it is longer than one number can be
}

// read reads the sequence that begins at i.
func (s *scanner) read(i, to int, room []group) (q sequence) {
	q = sequence{at: i, groups: room[:0], end: i}
	sepFrom, p, seps := i, i, 0
	for p < to {
		c, n := utf8.DecodeRuneInString(s.text[p:to])
		if d := digitOf(c); d >= 0 {
			g := group{at: p, sep: s.text[sepFrom:p]}
			for d >= 0 {
				if g.n < len(g.first) {
					g.first[g.n] = d
				}
				g.n++
				p += n
				c, n = utf8.DecodeRuneInString(s.text[p:to])
				if d = digitOf(c); n == 0 {
					break
				}
			}
			g.end = p
			if len(q.groups) == mostGroups {
				q.long = true
			} else {
				q.groups = append(q.groups, g)
			}
			q.end, sepFrom, seps = p, p, 0
			continue
		}
		switch {
		case c >= 0x200e && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069: // marks of direction
		case c == '+' && p == i:
			q.plus = true
		case c == ' ' || c == 0xa0 || c == 0x202f || c == '-' || c >= 0x2010 && c <= 0x2013 || c == '.' || c == '(' || c == ')' || c == '/':
			if seps++; seps > 2 {
				return q
			}
		default:
			return q
		}
		p += n
	}
	return q
}

// number blanks the telephone number that begins at i, if there is one, and returns where to continue.
func (s *scanner) number(i, to int) int {
	c, n := utf8.DecodeRuneInString(s.text[i:to])
	if digitOf(c) < 0 && c != '+' && c != '(' {
		return i + n
	}
	var room [mostGroups]group
	q := s.read(i, to, room[:])
	if len(q.groups) == 0 {
		return i + n
	}
	at, end := s.telephone(&q, to)
	if at < 0 {
		return q.end
	}
	s.blank(at, end, &s.found.Phones)
	return end
}

// telephone returns the number in q; -1 when there is none.
func (s *scanner) telephone(q *sequence, to int) (at, end int) {
	word, touches := s.before(q.at)
	cue := slices.Contains(cues, word)
	switch {
	case touches && !cue && !q.plus, refusals[word], isDate(q.groups):
		return -1, 0
	case q.long:
		return -1, 0
	}
	if n := q.prefix(cue); n > 0 && s.alone(q, n, to) {
		return q.at, q.groups[n-1].end
	}
	for n := range q.groups { // a number among others
		g := &q.groups[n]
		if n > 0 && g.n >= 10 && national(q.groups[n:n+1]) && strings.Trim(g.sep, " ") == "" && s.alone(q, n+1, to) {
			return g.at, g.end
		}
	}
	return -1, 0
}

// prefix returns how many of the first groups form one number; 0 when none do.
func (q *sequence) prefix(cue bool) int {
	valid := func(groups []group) bool {
		total := digits(groups)
		switch g := &groups[0]; {
		case q.plus:
			return g.first[0] != 0 && total >= 9 && total <= most
		case g.n >= 2 && g.first[0] == 0 && g.first[1] == 0:
			third := g.first[2]
			if g.n == 2 && len(groups) > 1 {
				third = groups[1].first[0]
			}
			return third != 0 && total >= 11 && total <= most+2 && !dotted(groups)
		case national(groups) || american(groups):
			return true
		}
		return cue && total >= least && total <= most && !dotted(groups)
	}
	enough := 9
	if q.plus {
		enough = 11
	}
	if q.groups[0].n >= enough && valid(q.groups[:1]) { // another number follows
		return 1
	}
	for n := len(q.groups); n > 0; n-- {
		if valid(q.groups[:n]) {
			return n
		}
	}
	return 0
}

func digits(groups []group) (n int) {
	for i := range groups {
		n += groups[i].n
	}
	return n
}

// national reports whether groups are a number with a leading 0.
func national(groups []group) bool {
	total := digits(groups)
	g := &groups[0]
	return g.first[0] == 0 && g.n >= 2 && g.first[1] != 0 && total >= 9 && total <= 11 && !dotted(groups)
}

// american reports whether groups are a number of North America: three, three and four digits.
func american(groups []group) bool {
	if len(groups) == 4 && groups[0].n == 1 && groups[0].first[0] == 1 {
		groups = groups[1:]
	}
	return len(groups) == 3 && groups[0].n == 3 && groups[1].n == 3 && groups[2].n == 4 && groups[0].first[0] >= 2 && groups[1].first[0] >= 2
}

// dotted reports whether dots between groups belong to a decimal, or to a group that is too long for a telephone
// number.
func dotted(groups []group) bool {
	dots := 0
	for i := range groups {
		if i == 0 || groups[i].sep != "." {
			continue
		}
		if dots++; groups[i].n > 4 || groups[i-1].n > 4 {
			return true
		}
	}
	return dots == 1 && len(groups) == 2
}

// isDate reports whether the first three groups are a date.
func isDate(groups []group) bool {
	if len(groups) < 3 {
		return false
	}
	a, b, c := &groups[0], &groups[1], &groups[2]
	year := func(g *group) bool {
		return g.n == 4 && (g.first[0] == 1 && (g.first[1] == 9 || g.first[1] == 4) || g.first[0] == 2 && g.first[1] == 0)
	}
	return a.n <= 2 && b.n <= 2 && year(c) || year(a) && b.n <= 2 && c.n <= 2
}

// before returns the word in front of i in lower case, with only spaces and punctuation in between, and whether a
// number at i would be attached to what is in front of it.
func (s *scanner) before(i int) (word string, touches bool) {
	const mostBetween, mostWord = 4, 24
	at, between := i, 0
	for at > 0 && between <= mostBetween {
		c, n := utf8.DecodeLastRuneInString(s.text[:at])
		if unicode.IsLetter(c) || digitOf(c) >= 0 || unicode.Is(unicode.Mn, c) {
			break
		}
		if at == i && strings.ContainsRune("#@_=&%\\/$€£¥₹﷼", c) || at == i && unicode.Is(unicode.Sc, c) {
			touches = true
		}
		if slices.Contains(cues, string(c)) {
			return string(c), false
		}
		if c == '\n' || c == '؛' || c == ';' || c == ',' || c == '،' {
			return "", touches
		}
		between++
		at -= n
	}
	end := at
	for at > 0 && end-at <= mostWord {
		c, n := utf8.DecodeLastRuneInString(s.text[:at])
		if !unicode.IsLetter(c) && digitOf(c) < 0 && !unicode.Is(unicode.Mn, c) {
			break
		}
		at -= n
	}
	if end == i && at < end { // a letter or a digit
		touches = true
	}
	if i-end == 1 && s.text[end] == '-' && at < end { // a part of a longer code
		touches = true
	}
	return strings.ToLower(s.text[at:end]), touches
}

// alone reports whether the first n groups are a number by themselves, and not a part of something longer.
func (s *scanner) alone(q *sequence, n, to int) bool {
	end := q.groups[n-1].end
	c, size := utf8.DecodeRuneInString(s.text[end:to])
	if size == 0 || n < len(q.groups) {
		return true
	}
	if c < utf8.RuneSelf && (isLetter(byte(c)) || strings.ContainsRune("@_%#=", c)) || unicode.Is(unicode.Sc, c) {
		return false
	}
	if c == ':' || c == ',' || c == '٫' || c == '٬' {
		next, _ := utf8.DecodeRuneInString(s.text[end+size : to])
		return digitOf(next) < 0
	}
	return true
}

// cues are words for a telephone: a number after one is a telephone number.
var cues = []string{
	"tel", "telephone", "phone", "call", "mobile", "mob", "cell", "whatsapp", "whats", "sms", "fax", "hotline", "viber",
	"هاتف", "الهاتف", "هاتفي", "تلفون", "تليفون", "جوال", "الجوال", "جوالي", "موبايل", "الموبايل", "واتساب", "الواتساب", "واتس", "واتس اب",
	"اتصل", "اتصال", "الاتصال", "للاتصال", "للتواصل", "التواصل", "فاكس",
	"téléphone", "tél", "teléfono", "telefono", "telefon", "telefone", "móvil", "handy", "телефон", "тел", "电话", "電話", "전화",
	"☎", "📞", "📱", "📲", "✆",
}

// refusals are words for numbers that are not telephone numbers.
var refusals = map[string]bool{
	"id": true, "ids": true, "isbn": true, "issn": true, "ean": true, "upc": true, "gtin": true, "sku": true, "asin": true, "ref": true,
	"order": true, "invoice": true, "tracking": true, "vat": true, "iban": true, "pid": true, "uid": true, "serial": true, "imei": true,
	"build": true, "version": true,
}

func onlyDigits(text string) bool {
	for _, c := range text {
		if digitOf(c) < 0 {
			return false
		}
	}
	return true
}

// fieldOfPhones reports whether the name of a field is a word for a telephone.
func fieldOfPhones(name []byte) bool {
	const longest = 64
	if len(name) == 0 || len(name) > longest {
		return false
	}
	low := strings.ToLower(string(name))
	for _, word := range []string{"phone", "mobile", "whatsapp", "msisdn", "fax_"} {
		if strings.Contains(low, word) && !strings.Contains(low, "iphone") {
			return true
		}
	}
	return low == "tel" || low == "fax" || low == "cell"
}

// isNumber reports whether a text has only digits and separators of telephone numbers, and enough digits.
func isNumber(text string) bool {
	n := 0
	for _, c := range text {
		switch {
		case digitOf(c) >= 0:
			n++
		case strings.ContainsRune("+-(). /\u00a0\u200e\u200f\u202a\u202c", c):
		default:
			return false
		}
	}
	return n >= leastOfField
}
