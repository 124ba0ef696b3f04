package ner

import "github.com/socialdata/socialdata/enrich/arabic/internal/feature"

// maxForms is the number of ways in which a word is looked up.
const maxForms = 6

// article is written as part of the word it belongs to.
var article = [2]rune{'ا', 'ل'}

// appendForms fills forms with the hashes of the word as it is written, then without conjunction, without preposition
// (of which li swallows a letter of the article), and at last without the article. At least three letters stay.
func appendForms(forms *[maxForms]uint32, word []rune) {
	n := 0
	add := func(key uint32) {
		if n < maxForms {
			forms[n] = key
			n++
		}
	}
	add(feature.Key(word))
	bases := [2][]rune{word, nil}
	if len(word) >= 4 && (word[0] == 'و' || word[0] == 'ف') {
		bases[1] = word[1:]
		add(feature.Key(word[1:]))
	}
	last := word
	if bases[1] != nil {
		last = bases[1]
	}
	for _, b := range bases {
		if len(b) < 4 {
			continue
		}
		switch {
		case b[0] == 'ل' && b[1] == 'ل':
			add(feature.KeyAfter(article[:], b[2:]))
			last = b[2:]
			if len(last) >= 3 {
				add(feature.Key(last))
			}
		case b[0] == 'ب' || b[0] == 'ل' || b[0] == 'ك':
			last = b[1:]
			add(feature.Key(last))
		}
	}
	if len(last) >= 5 && last[0] == article[0] && last[1] == article[1] {
		add(feature.Key(last[2:]))
	}
}
