package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// Sentiment returns the features of the sentiment head. Emoji are left out when blind is set: a text whose label
// was read off its emoji would teach nothing else.
func (r *Reader) Sentiment(t *Text, blind bool) []feature.Block {
	t.extra = t.extra[:0]
	r.polarity(t)
	if !blind {
		r.signs(t)
	}
	return t.pack(
		feature.Block{Features: t.Chars, Value: Scale(len(t.Chars))},
		t.wordsAndStems(),
		feature.Block{Features: t.extra, Value: Scale(len(t.extra))},
	)
}

// Polar reports whether t holds an emoji or a word of another script that has a polarity.
func (r *Reader) Polar(t *Text) bool {
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch k.Kind {
		case token.Emoji:
			return true
		case token.Foreign:
			if r.lists.Sentiment.Exact(0, &feature.Span{Key: feature.Key(t.Folded(k))})&3 != 0 {
				return true
			}
		case token.Word, token.Number, token.Punct, token.Mention, token.Hashtag, token.URL:
		}
	}
	return false
}

// polarity adds the words of praise and blame. A negation turns the three words after it.
func (r *Reader) polarity(t *Text) {
	prev, negated := uint32(0), 0
	const negation = 2 // the third list of the file
	for i := range t.Spans {
		s := &t.Spans[i]
		m := r.lists.Sentiment.Exact(prev, s)
		if m == 0 {
			m = r.lists.Sentiment.Loose(prev, s)
		}
		sign := uint32(0)
		if negated > 0 {
			sign, negated = 1, negated-1
		}
		bits(m, func(i uint32) { t.extra = append(t.extra, feature.Combine(kindPolar, i, sign)) })
		if m&(1<<negation) != 0 {
			negated = 3
		}
		if sign == 1 {
			t.extra = append(t.extra, feature.Combine(kindPolar, 100, s.Stem))
		}
		prev = s.Key
	}
}

// signs adds emoji, punctuation and the shape of the text.
func (r *Reader) signs(t *Text) {
	for i := range t.Tokens {
		k := &t.Tokens[i]
		switch k.Kind {
		case token.Emoji:
			e := FirstRune(t.Text(k))
			t.extra = append(t.extra, feature.Combine(kindEmoji, uint32(e), 0))
			if p, ok := r.emoji[e]; ok {
				t.extra = append(t.extra, feature.Combine(kindEmoji, 1, uint32(p+10)))
			}
		case token.Punct:
			t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Text(k))), 0))
			if i+1 < len(t.Tokens) && t.Tokens[i+1].Kind == token.Punct && !t.Tokens[i+1].Space {
				t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Text(k))), uint32(FirstRune(t.Text(&t.Tokens[i+1])))))
			}
		case token.Hashtag, token.URL, token.Mention, token.Number:
			t.extra = append(t.extra, feature.Combine(kindShape, uint32(k.Kind), 0))
		case token.Foreign:
			key := feature.Key(t.Folded(k))
			t.extra = append(t.extra, feature.Combine(kindShape, 50, key))
			bits(r.lists.Sentiment.Exact(0, &feature.Span{Key: key}), func(i uint32) {
				t.extra = append(t.extra, feature.Combine(kindPolar, i, 0))
			})
		case token.Word:
		}
	}
}
