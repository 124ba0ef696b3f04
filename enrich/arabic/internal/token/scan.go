package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a [Token].
type Kind uint8

// The kinds of tokens.
const (
	Word    Kind = iota // a word in Arabic script
	Foreign             // a word in another script
	Number
	Punct
	Emoji
	Mention // @name, including the sign
	Hashtag // #name, including the sign; the words in it follow as separate tokens
	URL
)

// Token is a piece of a text.
type Token struct {
	Kind       Kind
	Tag        bool // the token is in a hashtag
	Space      bool // the token follows white space or starts the text
	Start, End int  // bytes of the input
	lo, hi     int  // folded runes
	llo, lhi   int  // light runes
}

// Doc is a scanned text. The zero value is ready to use; a reused Doc keeps its memory.
type Doc struct {
	Src     string
	Tokens  []Token
	Arabic  int // letters of the Arabic script outside mentions, links and hashtags
	Foreign int // letters of other scripts outside mentions, links and hashtags
	folded  []rune
	light   []rune
}

// Folded returns the letters of t in the form for the classifiers. It is empty for tokens that are not words.
func (d *Doc) Folded(t *Token) []rune { return d.folded[t.lo:t.hi] }

// Light returns the letters of t with the differences that distinguish languages.
func (d *Doc) Light(t *Token) []rune { return d.light[t.llo:t.lhi] }

// Text returns the bytes of the input that t covers.
func (d *Doc) Text(t *Token) string { return d.Src[t.Start:t.End] }

// After returns the byte after the first n letters of t and their marks. It returns t.Start when a letter is joined
// with the one before it.
func (d *Doc) After(t *Token, n int) int {
	i := t.Start
	for i < t.End {
		r, size := decode(d.Src, i)
		switch {
		case r >= 0xFEF5 && r <= 0xFEFC:
			return t.Start
		case isMark(r), isFormat(r):
		case n == 0:
			return i
		default:
			n--
		}
		i += size
	}
	return t.Start
}

// Scan reads src and replaces the content of d.
func (d *Doc) Scan(src string) {
	d.Src, d.Tokens, d.folded, d.light = src, d.Tokens[:0], d.folded[:0], d.light[:0]
	d.Arabic, d.Foreign = 0, 0
	space := true
	for i := 0; i < len(src); {
		r, n := decode(src, i)
		start := len(d.Tokens)
		switch {
		case unicode.IsSpace(r) || isFormat(r) || r == utf8.RuneError && n == 1:
			i, space = i+n, true
			continue
		case r == '@' && !d.glued(i):
			i = d.mention(i)
		case r == '#' || r == '＃':
			i = d.hashtag(i, n)
		case (r == 'h' || r == 'w' || r == 'H' || r == 'W') && urlLen(src[i:]) > 0:
			i = d.add(URL, i, i+urlLen(src[i:]))
		case isDigit(r):
			i = d.number(i)
		case isArabicLetter(r):
			i = d.word(i, len(src), false)
		case unicode.IsLetter(r):
			i = d.foreign(i, len(src), false)
		case isEmoji(r):
			i = d.emoji(i, n)
		default:
			i = d.add(Punct, i, i+n)
		}
		if start < len(d.Tokens) {
			d.Tokens[start].Space = space
		}
		space = false
	}
}

// decode is utf8.DecodeRuneInString with a shortcut for ASCII.
func decode(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[i:])
}

// glued reports whether a letter or digit comes directly before byte i, as in an e-mail address.
func (d *Doc) glued(i int) bool {
	if i == 0 || len(d.Tokens) == 0 {
		return false
	}
	t := d.Tokens[len(d.Tokens)-1]
	return t.End == i && (t.Kind == Foreign || t.Kind == Number)
}

func (d *Doc) add(k Kind, start, end int) int {
	lo, llo := len(d.folded), len(d.light)
	d.Tokens = append(d.Tokens, Token{Kind: k, Start: start, End: end, lo: lo, hi: lo, llo: llo, lhi: llo})
	return end
}

func (d *Doc) mention(i int) int {
	j := i + 1
	for j < len(d.Src) && nameByte(d.Src[j]) {
		j++
	}
	if j == i+1 {
		return d.add(Punct, i, j)
	}
	return d.add(Mention, i, j)
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// hashtag reads the tag at i, whose sign is n bytes long, and then the words in it.
func (d *Doc) hashtag(i, n int) int {
	end := i + n
	for end < len(d.Src) {
		r, m := decode(d.Src, end)
		if r != '_' && !isDigit(r) && !unicode.IsLetter(r) && !isMark(r) && r != 0x200C {
			m = d.invisible(end, len(d.Src), unicode.IsLetter)
		}
		if m == 0 || d.linkAt(end) {
			break
		}
		end += m
	}
	if end == i+n {
		return d.add(Punct, i, end)
	}
	d.add(Hashtag, i, end)
	for j := i + n; j < end; {
		switch r, m := decode(d.Src, j); {
		case isArabicLetter(r):
			j = d.word(j, end, true)
		case unicode.IsLetter(r):
			j = d.foreign(j, end, true)
		default:
			j += m
		}
	}
	return end
}

// urlLen returns the length of the link that s starts with, or 0.
func urlLen(s string) int {
	low := strings.ToLower(s[:min(len(s), 8)])
	if !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "https://") && !strings.HasPrefix(low, "www.") {
		return 0
	}
	n := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || isFormat(r) || r == '…' || r == '"' || r == '<' || r == '>' || r == '«' || r == '»' ||
			r == '،' || r == '؛' || r == utf8.RuneError
	})
	if n < 0 {
		n = len(s)
	}
	s = strings.TrimRight(s[:n], ".,;:!?)]}'؟")
	if len(s) < 8 {
		return 0
	}
	return len(s)
}

// linkAt reports whether a link starts at byte i: a lost line break joins it to the word before.
func (d *Doc) linkAt(i int) bool { return d.Src[i]|0x20 == 'h' && urlLen(d.Src[i:]) > 0 }

func (d *Doc) number(i int) int {
	end := i
	for end < len(d.Src) {
		r, n := decode(d.Src, end)
		if isDigit(r) {
			end += n
			continue
		}
		// A separator belongs to the number only between two digits.
		if (r == '.' || r == ',' || r == '٫' || r == '٬' || r == '،' || r == '/' || r == '-' || r == ':') && end+n < len(d.Src) {
			if q, _ := decode(d.Src, end+n); isDigit(q) {
				end += n
				continue
			}
		}
		break
	}
	return d.add(Number, i, end)
}

func (d *Doc) emoji(i, n int) int {
	end := i + n
	for end < len(d.Src) {
		r, m := decode(d.Src, end)
		if !isEmojiTail(r) {
			break
		}
		end += m
		if r == 0x200D && end < len(d.Src) { // the joiner connects the next pictograph to this one
			if q, k := decode(d.Src, end); isEmoji(q) {
				end += k
			}
		}
	}
	return d.add(Emoji, i, end)
}

// word reads a word in Arabic script that ends before limit.
func (d *Doc) word(i, limit int, tag bool) int {
	t := Token{Kind: Word, Tag: tag, Start: i, lo: len(d.folded), llo: len(d.light)}
	run := 0
	for i < limit {
		r, n := decode(d.Src, i)
		switch {
		case isMark(r):
			if r >= 0x653 && r < arabicEnd {
				if l := letters[r-arabicStart].light; l != 0 {
					d.light = append(d.light, l)
				}
			}
		case isArabicLetter(r):
			run = d.letter(foldRune(r), t.lo, t.llo, run)
			if r >= 0xFEF5 && r <= 0xFEFC {
				run = d.letter(letter{'ا', 'ا'}, t.lo, t.llo, run)
			}
			if !tag {
				d.Arabic++
			}
		case r == 0x200C && t.lo < len(d.folded): // Persian and Kurdish write it inside words
			d.light = append(d.light, r)
		default:
			if n = d.invisible(i, limit, isArabicLetter); n == 0 {
				limit = i
			}
		}
		i += n
	}
	return d.close(t, i)
}

// letter appends l and returns the length of the run of equal letters that it ends. The third letter of a run removes
// the second, so that stretched words read like plain ones. A run of laughter keeps three.
func (d *Doc) letter(l letter, lo, llo, run int) int {
	if len(d.folded) > lo && d.folded[len(d.folded)-1] == l.fold {
		run++
	} else {
		run = 1
	}
	switch laugh := l.fold == 'ه' || l.fold == 'خ'; {
	case run > 3, run == 3 && !laugh:
		if run == 3 {
			d.folded = d.folded[:len(d.folded)-1]
			// The run is one letter long now, and its other letters are dropped.
			if len(d.light) > llo {
				d.light = d.light[:len(d.light)-1]
			}
		}
		return run
	}
	d.folded = append(d.folded, l.fold)
	d.light = append(d.light, l.light)
	return run
}

func (d *Doc) foreign(i, limit int, tag bool) int {
	t := Token{Kind: Foreign, Tag: tag, Start: i, lo: len(d.folded), llo: len(d.light)}
	for i < limit {
		r, n := decode(d.Src, i)
		if !inForeignWord(r) {
			n = d.invisible(i, limit, inForeignWord)
		}
		if n == 0 || d.linkAt(i) {
			break
		}
		if r = withoutAccent(unicode.ToLower(r)); r != 0 {
			d.folded = append(d.folded, r)
			d.light = append(d.light, r)
			if !tag {
				d.Foreign++
			}
		}
		i += n
	}
	return d.close(t, i)
}

// invisible returns the number of bytes of the invisible signs at byte i, 0 unless a letter follows them before limit:
// such signs, which editors and applications add, do not end a word.
func (d *Doc) invisible(i, limit int, letter func(rune) bool) int {
	for end := i; end < limit; {
		r, n := decode(d.Src, end)
		switch {
		case isFormat(r):
			end += n
		case letter(r):
			return end - i
		default:
			return 0
		}
	}
	return 0
}

// inForeignWord reports whether r continues a word in another script. Digits do: Arabizi writes letters with them.
func inForeignWord(r rune) bool {
	if isArabicLetter(r) {
		return false
	}
	return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' || r >= '0' && r <= '9'
}

func (d *Doc) close(t Token, end int) int {
	t.End, t.hi, t.lhi = end, len(d.folded), len(d.light)
	d.Tokens = append(d.Tokens, t)
	return end
}
