package token

import (
	"strings"
	"unicode/utf8"
)

// letter describes how one rune is read.
type letter struct {
	fold  rune // the form for the classifiers; 0 when the rune is dropped
	light rune // the form for language identification; 0 when the rune is dropped
}

// tatweel stretches a word without changing it.
const tatweel = 'ـ'

// Pairs of a variant and the letter that writers of Arabic use it for. Letters of other languages that Arabic writers
// use on purpose (گ چ پ ڤ ڨ) are kept, because they indicate where the writer comes from.
const foldPairs = "أاإاآاٱاىيیيېيکكڪكەهہهھهۃهۀهةهۆوۇو"

var letters = buildLetters()

// arabicEnd is the end of the main Arabic block, which has a table.
const (
	arabicStart = 0x600
	arabicEnd   = 0x700
)

// buildLetters makes the table of the main Arabic block.
func buildLetters() [arabicEnd - arabicStart]letter {
	var t [arabicEnd - arabicStart]letter
	set := func(lo, hi rune) {
		for r := lo; r <= hi; r++ {
			t[r-arabicStart] = letter{fold: r, light: r}
		}
	}
	set(0x620, 0x63F)
	set(0x641, 0x64A)
	set(0x66E, 0x66F)
	set(0x671, 0x6D3)
	set(0x6D5, 0x6D5)
	set(0x6EE, 0x6EF)
	set(0x6FA, 0x6FC)
	set(0x6FF, 0x6FF)
	// Marks that only other languages use are evidence for these languages.
	for r := rune(0x653); r <= 0x65F; r++ {
		t[r-arabicStart] = letter{light: r}
	}
	t[0x670-arabicStart] = letter{light: 0x670}
	pairs := []rune(foldPairs)
	for i := 0; i+1 < len(pairs); i += 2 {
		t[pairs[i]-arabicStart].fold = pairs[i+1]
	}
	return t
}

// isMark reports whether r is a vowel sign, a Koranic sign or the tatweel: part of a word, but not a letter.
func isMark(r rune) bool {
	switch {
	case r == tatweel, r >= 0x610 && r <= 0x61A, r >= 0x64B && r <= 0x65F, r == 0x670:
		return true
	case r >= 0x6D6 && r <= 0x6ED && r != 0x6DD && r != 0x6DE && r != 0x6E5 && r != 0x6E6 && r != 0x6E9:
		return true
	case r >= 0x8D3 && r <= 0x8FF, r >= 0x300 && r <= 0x36F:
		return true
	}
	return false
}

// isArabicLetter reports whether r is a letter of the Arabic script in any language.
func isArabicLetter(r rune) bool {
	switch {
	case r < arabicStart:
		return false
	case r < arabicEnd:
		return letters[r-arabicStart].fold != 0
	case r >= 0x750 && r <= 0x77F, r >= 0x8A0 && r <= 0x8C9:
		return true
	case r >= 0xFB50 && r <= 0xFBFF, r >= 0xFE80 && r <= 0xFEFC:
		return true
	}
	return false
}

// base converts a presentation form to its letter. The ligatures of lam and alef count as lam: the scan adds the alef.
func base(r rune) rune {
	switch {
	case r < 0xFB50:
		return r
	case r == 0xFE80:
		return 'ء'
	case r > 0xFE80 && r <= 0xFEF4:
		return presentation[r-0xFE81]
	case r >= 0xFEF5 && r <= 0xFEFC:
		return 'ل'
	case r >= 0xFB56 && r <= 0xFB59:
		return 'پ'
	case r >= 0xFB7A && r <= 0xFB7D:
		return 'چ'
	case r >= 0xFB8E && r <= 0xFB91:
		return 'ک'
	case r >= 0xFB92 && r <= 0xFB95:
		return 'گ'
	case r >= 0xFBA6 && r <= 0xFBA9:
		return 'ہ'
	case r >= 0xFBAA && r <= 0xFBAD:
		return 'ھ'
	case r >= 0xFBFC && r <= 0xFBFF:
		return 'ی'
	}
	return r
}

// presentation lists the letters of U+FE81 to U+FEF4 in the order of the code chart.
var presentation = buildPresentation()

func buildPresentation() []rune {
	// These letters have two forms; all others have four.
	const pairs = "آأؤإاةدذرزوى"
	var out []rune
	for _, r := range "آأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي" {
		n := 4
		for _, p := range pairs {
			if p == r {
				n = 2
			}
		}
		for range n {
			out = append(out, r)
		}
	}
	return out
}

// foldRune returns the two readings of an Arabic letter.
func foldRune(r rune) letter {
	r = base(r)
	if r >= arabicStart && r < arabicEnd {
		return letters[r-arabicStart]
	}
	return letter{fold: r, light: r}
}

// accented are pairs of a letter with an accent and the letter without it, which writers in a hurry use.
const accented = "àaâaäaáaãaåaçcéeèeêeëeíiìiîiïiñnóoòoôoöoõoúuùuûuüuÿy"

// withoutAccent returns a small letter without its accent, and 0 for an apostrophe or a separate accent.
func withoutAccent(r rune) rune {
	switch {
	case r == '\'' || r == '’' || r >= 0x300 && r <= 0x36F || isFormat(r):
		return 0
	case r >= 0xE0 && r <= 0xFF:
		if i := strings.IndexRune(accented, r); i >= 0 {
			return rune(accented[i+utf8.RuneLen(r)])
		}
	}
	return r
}

// isDigit reports whether r is a European, Arabic or Persian digit.
func isDigit(r rune) bool {
	return r >= '0' && r <= '9' || r >= '٠' && r <= '٩' || r >= '۰' && r <= '۹'
}

// isEmoji reports whether r starts a pictograph.
func isEmoji(r rune) bool {
	switch {
	case r < 0x203C:
		return r == 0xA9 || r == 0xAE
	case r >= 0x1F000 && r <= 0x1FAFF:
		return true
	case r >= 0x2600 && r <= 0x27BF, r >= 0x2B00 && r <= 0x2BFF, r >= 0x2300 && r <= 0x23FF:
		return true
	case r >= 0x2190 && r <= 0x21FF:
		return true
	}
	return r == 0x203C || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030
}

// isEmojiTail reports whether r continues the pictograph before it.
func isEmojiTail(r rune) bool {
	return r == 0xFE0F || r == 0x200D || r == 0x20E3 || r >= 0x1F3FB && r <= 0x1F3FF || r >= 0xE0020 && r <= 0xE007F
}

// isFormat reports whether r is an invisible sign: a joiner, a direction sign or a byte order mark.
func isFormat(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2069 ||
		r == 0xFEFF || r == 0x61C
}
