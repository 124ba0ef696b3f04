package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/phrase"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// The kinds of features of the words and signs of a phrase.
const (
	kindPhrase     = feature.KindHead + 300 + iota // a sign, or the placeholder of all numbers, mentions and the like
	kindPhraseList                                 // a list of praise or blame
	kindPhraseTurn                                 // a negation inverts the word
)

// listTimes is the weight of a list relative to one feature of the letters of a word.
const listTimes = 3

// Phrases returns the words and signs of t. [Reader.Sentiment] must have been called right before. Signs are left out
// when blind is set.
func (r *Reader) Phrases(t *Text, blind bool) *phrase.Seq {
	q := &t.phrases
	q.Reset()
	span, chars := 0, 0
	for i := range t.Tokens {
		if span < len(t.Spans) && t.Spans[span].Token == i {
			t.phraseWord(span, t.Chars[chars:t.Spans[span].Chars])
			chars = t.Spans[span].Chars
			span++
			continue
		}
		if !blind {
			r.phraseSign(t, &t.Tokens[i])
		}
	}
	return q
}

// phraseWord adds the i-th word, which has the letter features chars.
func (t *Text) phraseWord(i int, chars []uint32) {
	q, s, w := &t.phrases, &t.Spans[i], &t.words[i]
	q.Add(s.Key, s.Stem)
	q.Add(chars...)
	sign := uint32(0)
	if w.turned {
		sign = 1
		q.Add(feature.Combine(kindPhraseTurn, 0, 0), feature.Combine(kindPhraseTurn, 1, s.Stem))
	}
	for list := range feature.Bits(w.lists) {
		f := feature.Combine(kindPhraseList, list, sign)
		for range listTimes {
			q.Add(f)
		}
	}
	q.End()
}

// phraseSign adds a token that is not a word.
func (r *Reader) phraseSign(t *Text, k *token.Token) {
	q := &t.phrases
	switch k.Kind {
	case token.Word, token.Hashtag:
		return
	case token.Emoji:
		e := FirstRune(t.Text(k))
		q.Add(feature.Combine(kindPhrase, uint32(k.Kind), uint32(e)))
		if p, ok := r.emoji[e]; ok {
			q.Add(feature.Combine(kindPhraseList, 100, uint32(p+10)))
		}
	case token.Punct:
		q.Add(feature.Combine(kindPhrase, uint32(k.Kind), uint32(FirstRune(t.Text(k)))))
	case token.Foreign, token.Number, token.Mention, token.URL:
		q.Add(feature.Combine(kindPhrase, uint32(k.Kind), 0))
	}
	q.End()
}
