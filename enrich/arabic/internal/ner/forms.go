package ner

import "github.com/socialdata/socialdata/enrich/arabic/internal/feature"

// maxForms is the number of forms in which a word is looked up.
const maxForms = 6

// article is written as part of the word that it belongs to.
var article = [2]rune{'ا', 'ل'}

// Clitics are the letters at the beginning of a word that do not belong to the name in it.
type Clitics struct {
	Letters uint8 // how many there are
	Lam     bool  // the preposition li has dropped the first letter of the article: للرياض is الرياض
}

// forms are the forms in which a word is looked up.
type forms struct {
	keys    [maxForms]uint32
	clitics [maxForms]Clitics
	n       int
	bare    bool // the last one is without the article
}

func (f *forms) add(key uint32, c Clitics) {
	if f.n < maxForms {
		f.keys[f.n], f.clitics[f.n] = key, c
		f.n++
	}
}

// fill computes the forms of word: as it is written, then without conjunction, without preposition (li drops a letter
// of the article), and finally without the article. At least three letters are kept.
func (f *forms) fill(word []rune) {
	f.n, f.bare = 0, false
	f.add(feature.Key(word), Clitics{})
	last, cut := word, Clitics{}
	bases := [2][]rune{word, nil}
	if len(word) >= 4 && (word[0] == 'و' || word[0] == 'ف') {
		bases[1] = word[1:]
		last, cut = word[1:], Clitics{Letters: 1}
		f.add(feature.Key(last), cut)
	}
	for i, b := range bases {
		if len(b) < 4 {
			continue
		}
		switch {
		case b[0] == 'ل' && b[1] == 'ل':
			last, cut = b[2:], Clitics{Letters: uint8(i) + 1, Lam: true}
			f.add(feature.KeyAfter(article[:], last), cut)
			if len(last) >= 3 {
				f.add(feature.Key(last), cut)
			}
		case b[0] == 'ب' || b[0] == 'ل' || b[0] == 'ك' || b[0] == 'ع' && hasArticle(b[1:]):
			last, cut = b[1:], Clitics{Letters: uint8(i) + 1}
			f.add(feature.Key(last), cut)
		}
	}
	if hasArticle(last) {
		f.bare = true
		f.add(feature.Key(last[2:]), cut)
	}
}

// hasArticle reports whether word starts with the article and has three more letters.
func hasArticle(word []rune) bool {
	return len(word) >= 5 && word[0] == article[0] && word[1] == article[1]
}

// guess returns the clitics of a word that is in no table: particles before the article.
func guess(word []rune) Clitics {
	n := uint8(0)
	if len(word) > 0 && (word[0] == 'و' || word[0] == 'ف') {
		n = 1
	}
	rest := word[n:]
	switch {
	case hasArticle(rest):
		return Clitics{Letters: n}
	case len(rest) >= 5 && rest[0] == 'ل' && rest[1] == 'ل':
		return Clitics{Letters: n + 1, Lam: true}
	case len(rest) >= 6 && hasArticle(rest[1:]) && (rest[0] == 'ب' || rest[0] == 'ك' || rest[0] == 'ع'):
		return Clitics{Letters: n + 1}
	}
	return Clitics{}
}
