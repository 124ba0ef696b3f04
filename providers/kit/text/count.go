package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count parses a number as people write it: digits of any script, grouped or not, with a fraction if a unit makes it a
// whole number, as in "1,234", "1.2M", "12,5 mil", "١٬٢٣٤" and "١٫٢ مليون". It may be followed by a space and the name
// of what is counted, as in "1.2M followers", and by a plus, for a number that was rounded down.
//
// It returns nil for what is not a whole number, such as "1.5" and "1/2", for a negative number, and for one that does
// not fit into an int64. Words are not numbers: "no views" is nil. A lone B is a billion, as in English.
func Count(s string) *int64 {
	s = strings.TrimSpace(strings.Map(plainDigit, s))
	end := strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) && !isSeparator(r) })
	if end < 0 {
		end = len(s)
	}
	number := strings.TrimRight(s[:end], " ")
	zeros, ok := unit(s[len(number):])
	if !ok || number == "" || !isDigit(rune(number[0])) || !isDigit(rune(number[len(number)-1])) {
		return nil
	}
	whole, fraction, ok := split(number, zeros > 0)
	if !ok {
		return nil
	}
	return scale(whole, fraction, zeros)
}

// plainDigit maps each character to the form that [Count] parses, and drops invisible ones.
func plainDigit(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case unicode.Is(unicode.Cf, r): // direction marks, and characters without width
		return -1
	case r == '٫':
		return '.'
	case r == '٬', r == '،':
		return ','
	case r == '’':
		return '\''
	case unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.Is(unicode.Nd, r):
		return digitOf(r)
	}
	return r
}

// digitOf returns a decimal digit of another script in ASCII. Unicode has the ten digits of each script in a row, from
// zero.
func digitOf(r rune) rune {
	for _, at := range unicode.Nd.R16 {
		if lo := rune(at.Lo); r >= lo && r <= rune(at.Hi) {
			return '0' + (r-lo)%10
		}
	}
	for _, at := range unicode.Nd.R32 {
		if lo := rune(at.Lo); r >= lo && r <= rune(at.Hi) {
			return '0' + (r-lo)%10
		}
	}
	return r
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isSeparator(r rune) bool { return strings.ContainsRune(".,' ", r) }

// unit parses what follows a number: nothing, a unit with a number of zeros, or, after a space, the name of what is
// counted.
func unit(behind string) (zeros int, ok bool) {
	behind, rounded := strings.CutPrefix(behind, "+")
	glued := !rounded && !strings.HasPrefix(behind, " ")
	behind = strings.TrimSpace(behind)
	word, _, _ := strings.Cut(behind, " ")
	word = strings.TrimSuffix(strings.TrimSuffix(word, "+"), ".")
	if zeros, ok = unitWord(strings.ToLower(word)); ok {
		return zeros, true
	}
	first, _ := utf8.DecodeRuneInString(behind)
	return 0, behind == "" || !glued && unicode.IsLetter(first)
}

// unitWord returns the zeros of a unit in the languages in which sites abbreviate: English, Arabic and Persian, and
// those of pages in Romance languages, German, Russian and East Asian languages.
func unitWord(word string) (zeros int, ok bool) {
	switch word {
	case "k", "thousand", "mil", "tsd", "тыс", "ألف", "الف", "آلاف", "ألفًا", "ألفا", "هزار":
		return 3, true
	case "万", "萬", "만":
		return 4, true
	case "lakh", "लाख":
		return 5, true
	case "m", "mi", "mio", "mln", "mill", "million", "millions", "млн", "مليون", "ملايين", "مليونًا", "مليونا", "میلیون":
		return 6, true
	case "crore", "करोड़":
		return 7, true
	case "亿", "億", "억":
		return 8, true
	case "b", "bi", "bn", "billion", "billions", "mrd", "md", "млрд", "مليار", "مليارات", "مليارًا", "بليون", "میلیارد":
		return 9, true
	}
	return 0, false
}

// split splits a number at its decimal separator. A grouping separator has three digits after it, each time. An
// ambiguous separator groups, except for a full stop before a unit: 1.234 is a thousand, 1.234M a bit more than a
// million.
func split(number string, scaled bool) (whole, fraction string, ok bool) {
	at := strings.LastIndexAny(number, ".,' ")
	if at < 0 {
		return number, "", true
	}
	last, rest := number[at], number[at+1:]
	decimal := last == '.' || last == ','
	switch {
	case !decimal || strings.IndexByte(number, last) != at: // it occurs twice
		decimal = false
	case strings.ContainsAny(number[:at], ".,' "): // another one groups
	case len(rest) == 3 && at <= 3:
		decimal = scaled && last == '.'
	}
	if decimal {
		whole, fraction = number[:at], rest
	} else {
		whole = number
	}
	whole, ok = ungroup(whole)
	return whole, fraction, ok
}

// ungroup removes the separators from digits in groups of three.
func ungroup(number string) (string, bool) {
	at := strings.IndexAny(number, ".,' ")
	if at < 0 {
		return number, true
	}
	groups := strings.Split(number, number[at:at+1])
	for i, g := range groups {
		if strings.ContainsAny(g, ".,' ") || len(g) == 0 || len(g) > 3 || i > 0 && len(g) < 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// scale returns whole.fraction with the point moved right by that many digits, if the result is a whole number.
func scale(whole, fraction string, zeros int) *int64 {
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > zeros {
		return nil
	}
	var n int64
	for _, digit := range whole + fraction + strings.Repeat("0", zeros-len(fraction)) {
		d := int64(digit - '0')
		if n > (math.MaxInt64-d)/10 {
			return nil
		}
		n = n*10 + d
	}
	return &n
}
