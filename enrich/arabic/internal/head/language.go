package head

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// langGram is the length of the n-grams that tell languages apart.
const langGram = 4

// langText holds the features of the language head.
type langText struct {
	chars, words []uint32
	buf          []rune
}

// Language returns the features of the language head: the letters as they are written, before any folding. Words
// inside hashtags only count in texts that have no others, since anybody uses a hashtag of another language.
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

// Telltales counts the words of t with letters or joiners that writers of Arabic do not use even for decoration.
// It counts to three at most.
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

// telltale reports whether r belongs to Persian, Urdu, Kurdish, Pashto, Sindhi or Uyghur and not to Arabic. Letters
// that Arabs borrow for their dialects or for looks are left out.
func telltale(r rune) bool {
	switch r {
	case 0x200C, 'ژ', 'ٹ', 'ڈ', 'ڑ', 'ے', 'ں', 'ې', 'ۍ', 'ښ', 'ڼ', 'ټ', 'ډ', 'ړ', 'ږ', 'ڵ', 'ڕ', 'ۆ', 'ێ', 'ە', 'ۋ', 'ۈ', 'ڄ', 'ڃ', 'ٿ', 'ڻ', 'ڳ', 'ڱ':
		return true
	}
	return false
}

// Script says what the letters of a text allow without a look at the words.
type Script int

// The answers of [Text.Script].
const (
	NoLetters  Script = iota
	OtherMost         // most words are in another script
	ArabicMost        // most words are in Arabic script
)

// Script counts words in Arabic and in other scripts. Scripts without spaces count two letters for a word.
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
		// Three Arabic words are more than a name; posts about devices and brands are full of Latin words.
		return ArabicMost
	case arabic == 0 && other == 0:
		return NoLetters
	}
	return OtherMost
}

// notWords are what tweets hold in Latin letters in every language: the mark of a retweet, and what collections write
// for a link or an account.
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
