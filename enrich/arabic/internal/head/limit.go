package head

import (
	"strings"
	"unicode/utf8"
)

// Limit cuts text after at most n bytes, at white space if there is some near the end.
func Limit(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[:n]
	if i := strings.LastIndexAny(text[n-256:], " \n\t"); i >= 0 {
		return text[:n-256+i]
	}
	for i := 0; i < utf8.UTFMax && len(text) > 0; i++ {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// AppendEmoji appends the polarity of an emoji: three bytes for the code point, one for the polarity.
func AppendEmoji(dst []byte, r rune, polarity int) []byte {
	return append(dst, byte(r), byte(r>>8), byte(r>>16), byte(int8(polarity)))
}

// OpenEmoji reads what [AppendEmoji] wrote.
func OpenEmoji(s string) map[rune]int {
	m := map[rune]int{}
	for ; len(s) >= 4; s = s[4:] {
		m[rune(s[0])|rune(s[1])<<8|rune(s[2])<<16] = int(int8(s[3]))
	}
	return m
}
