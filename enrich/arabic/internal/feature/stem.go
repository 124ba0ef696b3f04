package feature

// These are the particles that are written as part of the next word, longest first, in folded letters.
var proclitics = [][]rune{
	[]rune("وبال"), []rune("وال"), []rune("بال"), []rune("فال"), []rune("كال"), []rune("ولل"), []rune("عال"), []rune("هال"),
	[]rune("لل"), []rune("ال"),
}

// These are the endings that a light stemmer removes, longest first, in folded letters.
var endings = [][]rune{
	[]rune("يات"), []rune("يون"), []rune("يين"), []rune("هم"), []rune("ها"), []rune("ات"), []rune("ون"), []rune("ين"), []rune("ان"), []rune("يه"),
	[]rune("نا"), []rune("كم"), []rune("وا"), []rune("ه"), []rune("ي"), []rune("ا"), []rune("ك"),
}

// Bare returns word without the particles before it. At least three letters are kept.
func Bare(word []rune) []rune {
	for _, p := range proclitics {
		if len(word) >= len(p)+3 && hasPrefix(word, p) {
			return word[len(p):]
		}
	}
	if len(word) >= 5 {
		switch word[0] {
		case 'و', 'ف', 'ب', 'ل', 'ك':
			return word[1:]
		}
	}
	return word
}

// Stem returns word without particles and ending. At least three letters are kept.
func Stem(word []rune) []rune {
	word = Bare(word)
	for _, e := range endings {
		if len(word) >= len(e)+3 && hasSuffix(word, e) {
			return word[:len(word)-len(e)]
		}
	}
	return word
}

func hasPrefix(w, p []rune) bool {
	for i, r := range p {
		if w[i] != r {
			return false
		}
	}
	return true
}

func hasSuffix(w, s []rune) bool {
	for i, r := range s {
		if w[len(w)-len(s)+i] != r {
			return false
		}
	}
	return true
}
