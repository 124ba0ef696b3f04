package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// Sentiment returns the features of the sentiment head: characters, words, signs and what the lists say. Emoji are
// left out when blind is set: a text whose label was read off its emoji would teach nothing else.
func (r *Reader) Sentiment(t *Text, blind bool) []feature.Block {
	t.extra, t.polar = t.extra[:0], t.polar[:0]
	r.polarity(t)
	if !blind {
		r.signs(t)
	}
	t.blocks = [4]feature.Block{
		{Features: t.Chars, Value: Scale(len(t.Chars))},
		t.wordsAndStems(),
		{Features: t.extra, Value: Scale(len(t.extra))},
		{Features: t.polar, Value: Scale(len(t.polar))},
	}
	return t.blocks[:]
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

// The lists of the file: the first two are praise and blame in general, the third negates, the fourth strengthens. Those
// that follow hold praise or blame of one kind, and the last ones what stands beside either.
const (
	listNegation = 2
	plusLists    = 1<<0 | 0x1F<<4
	minusLists   = 1<<1 | 0x7F<<9
)

// The kinds of features of polarity beside the numbers of the lists.
const (
	polarNegated = 100 + iota // a word that stands after a negation
	polarBalance              // how many more words praise than blame
	polarCounts               // how many do either
	polarEnds                 // what the first and the last of them do
)

// polarity adds the words of praise and blame. A negation marks the three words after it.
func (r *Reader) polarity(t *Text) {
	prev, negated := uint32(0), 0
	plus, minus, first, last := 0, 0, 0, 0
	for i := range t.Spans {
		s := &t.Spans[i]
		m := r.lists.Sentiment.Exact(prev, s)
		if m == 0 {
			m = r.lists.Sentiment.Loose(prev, s)
		}
		sign := uint32(0)
		if negated > 0 {
			sign, negated = 1, negated-1
			t.polar = append(t.polar, feature.Combine(kindPolar, polarNegated, s.Stem))
		}
		for i := range feature.Bits(m) {
			t.polar = append(t.polar, feature.Combine(kindPolar, i, sign))
		}
		if m&(1<<listNegation) != 0 {
			negated = 3
		}
		if up, down := m&plusLists != 0, m&minusLists != 0; up != down {
			last = 1
			if down {
				last = 2
				minus++
			} else {
				plus++
			}
			if first == 0 {
				first = last
			}
		}
		prev = s.Key
	}
	t.polar = append(t.polar,
		feature.Combine(kindPolar, polarBalance, uint32(min(4, max(-4, plus-minus))+4)),
		feature.Combine(kindPolar, polarCounts, uint32(min(2, plus)*3+min(2, minus))),
		feature.Combine(kindPolar, polarEnds, uint32(first*3+last)))
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
			for i := range feature.Bits(r.lists.Sentiment.Exact(0, &feature.Span{Key: key})) {
				t.extra = append(t.extra, feature.Combine(kindPolar, i, 0))
			}
		case token.Word:
		}
	}
}
