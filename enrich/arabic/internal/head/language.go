package head

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// langGram is the length of the n-grams that distinguish languages.
const langGram = 4

// langText holds the features of the language head.
type langText struct {
	chars, words []uint32
	buf          []rune
}

// Language returns the features of the language head: the letters as they are written, before any folding. Words in
// hashtags only count in texts without other words, since people use hashtags in other languages.
func (r *Reader) Language(t *Text) []feature.Block {
	l := &t.lang
	l.chars, l.words = l.chars[:0], l.words[:0]
	tags := t.Arabic == 0
	for i := range t.Tokens {
		k := &t.Tokens[i]
		if k.Kind != token.Word || k.Tag != tags {
			continue
		}
		word := t.Light(k)
		l.chars = feature.Grams(l.chars, &l.buf, word, langGram)
		l.words = append(l.words, feature.Key(word))
	}
	return t.pack(
		feature.Block{Features: l.chars, Value: Scale(len(l.chars))},
		feature.Block{Features: l.words, Value: Scale(len(l.words))},
		feature.Block{},
	)
}

// Telltales counts the words of t with letters or joiners that are not used in Arabic, even for decoration. It counts
// up to three.
func (t *Text) Telltales() int {
	n := 0
	for i := range t.Tokens {
		k := &t.Tokens[i]
		if k.Kind == token.Word && !k.Tag && slices.ContainsFunc(t.Light(k), telltale) {
			n++
		}
	}
	return min(n, 3)
}

// telltale reports whether r is a letter of Persian, Urdu, Kurdish, Pashto, Sindhi or Uyghur and not of Arabic. Letters
// that are borrowed for Arabic dialects or for decoration are left out.
func telltale(r rune) bool {
	switch r {
	case 0x200C, 'ژ', 'ٹ', 'ڈ', 'ڑ', 'ے', 'ں', 'ې', 'ۍ', 'ښ', 'ڼ', 'ټ', 'ډ', 'ړ', 'ږ', 'ڵ', 'ڕ', 'ۆ', 'ێ', 'ە', 'ۋ', 'ۈ', 'ڄ', 'ڃ', 'ٿ', 'ڻ', 'ڳ', 'ڱ':
		return true
	}
	return false
}

// Script is what the script of a text says about its language.
type Script int

// Values of [Text.Script].
const (
	NoLetters  Script = iota
	OtherMost         // most words are in another script
	ArabicMost        // most words are in Arabic script
)

// Script counts words in Arabic and in other scripts. In scripts without spaces, two letters count as a word.
func (t *Text) Script() Script {
	arabic, other, tags := 0, 0, 0
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch {
		case k.Kind == token.Word && k.Tag:
			tags++
		case k.Kind == token.Word:
			arabic++
		case k.Kind == token.Foreign && !k.Tag:
			other += foreignWords(t.Folded(k))
		}
	}
	switch {
	case arabic == 0 && other == 0 && tags > 0, arabic > other, arabic > 2 && 2*arabic > other:
		// Three Arabic words are more than a name; posts about devices and brands have many Latin words.
		return ArabicMost
	case arabic == 0 && other == 0:
		return NoLetters
	}
	return OtherMost
}

// notWords are words in Latin letters in tweets of any language: the mark of a retweet, and the placeholders of
// collections for a link or an account.
var notWords = []string{"rt", "url", "user"}

func foreignWords(w []rune) int {
	if len(w) == 0 || slices.Contains(notWords, string(w)) {
		return 0
	}
	if w[0] >= 0xE00 && w[0] < 0x1100 || w[0] >= 0x2E80 && w[0] < 0xFB00 {
		return (len(w) + 1) / 2
	}
	return 1
}
