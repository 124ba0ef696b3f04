package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns how many s tells, as people read it: digits of any script, grouped or not, with a fraction where a unit
// makes a whole of it, as in "1,234", "1.2M", "12,5 mil", "١٬٢٣٤" and "١٫٢ مليون". What it counts may stand behind it,
// after a space, as in "1.2M followers", and a plus, for a number that has been rounded down.
//
// It returns nil for what is no whole number of things, such as "1.5" and "1/2", for a negative number, and for one
// beyond an int64. Words are not read as numbers: "no views" is nil. A lone B is a billion, as in English.
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

// plainDigit gives each character the form in which [Count] reads it, and drops those that nobody sees.
func plainDigit(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case unicode.Is(unicode.Cf, r): // marks of direction, and what has no width
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

// digitOf gives a decimal digit of another script in ASCII. Unicode keeps the ten of each script together, from zero.
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

// unit reads what stands behind a number: nothing, a unit of so many zeros, or, after a space, a word for what is counted.
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

// unitWord tells the zeros of a unit in the languages in which sites abbreviate: English, Arabic and Persian, and what
// Romance, German, Russian and East Asian pages write.
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

// split takes a number apart at its decimal separator. A separator that groups has three digits behind it, each time. One
// that could do either groups, but for a full stop before a unit: 1.234 is a thousand, 1.234M a bit more than a million.
func split(number string, scaled bool) (whole, fraction string, ok bool) {
	at := strings.LastIndexAny(number, ".,' ")
	if at < 0 {
		return number, "", true
	}
	last, rest := number[at], number[at+1:]
	decimal := last == '.' || last == ','
	switch {
	case !decimal || strings.IndexByte(number, last) != at: // it stands there twice
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

// ungroup takes the separators out of digits that stand in threes.
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

// scale returns whole.fraction with the point moved behind that many digits, if that is a whole number.
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
