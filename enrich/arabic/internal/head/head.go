// Package head says which features each output of the enrichment looks at. Training and running share it.
package head

import (
	"math"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/lexicon"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// Reader reads texts for the heads. It is safe for concurrent use; each text needs its own [Text].
type Reader struct {
	lists *lexicon.Lists
	emoji map[rune]int
}

// NewReader returns a Reader. The map holds the polarity of emoji, from -5 to 5.
func NewReader(emoji map[rune]int) *Reader {
	return &Reader{lists: lexicon.Load(), emoji: emoji}
}

// Text is a text on its way through the heads. The zero value is ready; a Text that is used again keeps its memory.
type Text struct {
	token.Doc
	feature.Set
	extra  []uint32
	stems  []uint32
	blocks [3]feature.Block
	lang   langText
	// MarkEnds holds, after [Reader.Dialect], the end of each word's features in the third block.
	MarkEnds []int
}

// Read scans text and extracts what all heads share.
func (r *Reader) Read(t *Text, text string) {
	t.Scan(text)
	t.Extract(&t.Doc)
}

// Scale makes long and short texts comparable.
func Scale(n int) float32 { return float32(1 / math.Sqrt(float64(n)+1)) }

func (t *Text) pack(a, b, c feature.Block) []feature.Block {
	t.blocks = [3]feature.Block{a, b, c}
	return t.blocks[:]
}

func (t *Text) wordsAndStems() feature.Block {
	t.stems = append(append(t.stems[:0], t.Words...), t.Stems...)
	return feature.Block{Features: t.stems, Value: Scale(len(t.stems))}
}

// The kinds of features of the heads.
const (
	kindMarker = feature.KindHead + iota
	kindPolar
	kindEmoji
	kindSign
	kindSeed
	kindTagWord
	kindShape
)

// bits calls f for each list in mask.
func bits(mask uint32, f func(i uint32)) {
	for i := uint32(0); mask != 0; i, mask = i+1, mask>>1 {
		if mask&1 != 0 {
			f(i)
		}
	}
}

// Dialect returns the features of the dialect head.
func (r *Reader) Dialect(t *Text) []feature.Block {
	t.extra, t.MarkEnds = t.extra[:0], t.MarkEnds[:0]
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		for m, j := r.lists.Dialect.Exact(prev, s), uint32(0); m != 0; m, j = m>>1, j+1 {
			if m&1 != 0 {
				t.extra = append(t.extra, feature.Combine(kindMarker, j, 0))
			}
		}
		t.MarkEnds = append(t.MarkEnds, len(t.extra))
		prev = s.Key
	}
	return t.pack(
		feature.Block{Features: t.Chars, Value: Scale(len(t.Chars))},
		feature.Block{Features: t.Words, Value: Scale(len(t.Words))},
		feature.Block{Features: t.extra, Value: Scale(len(t.Spans))},
	)
}

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
			e := FirstRune(t.Doc.Text(k))
			t.extra = append(t.extra, feature.Combine(kindEmoji, uint32(e), 0))
			if p, ok := r.emoji[e]; ok {
				t.extra = append(t.extra, feature.Combine(kindEmoji, 1, uint32(p+10)))
			}
		case token.Punct:
			t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Doc.Text(k))), 0))
			if i+1 < len(t.Tokens) && t.Tokens[i+1].Kind == token.Punct && !t.Tokens[i+1].Space {
				t.extra = append(t.extra, feature.Combine(kindSign, uint32(FirstRune(t.Doc.Text(k))), uint32(FirstRune(t.Doc.Text(&t.Tokens[i+1])))))
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

// Seeds counts the words of t on the list of each topic. It fills counts and returns it.
func (r *Reader) Seeds(t *Text, counts []int) []int {
	counts = counts[:0]
	for range r.lists.Topic.Names {
		counts = append(counts, 0)
	}
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		bits(r.lists.Topic.Loose(prev, s), func(i uint32) { counts[i]++ })
		prev = s.Key
	}
	return counts
}

// SeedNames returns the topics that [Reader.Seeds] counts, in its order.
func (r *Reader) SeedNames() []string { return r.lists.Topic.Names }

// Lists returns the word lists.
func (r *Reader) Lists() *lexicon.Lists { return r.lists }

// FirstRune returns the first rune of s.
func FirstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// Topic returns the features of the topic head.
func (r *Reader) Topic(t *Text) []feature.Block {
	t.extra = t.extra[:0]
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		bits(r.lists.Topic.Loose(prev, s), func(i uint32) { t.extra = append(t.extra, feature.Combine(kindSeed, i, 0)) })
		prev = s.Key
	}
	return t.pack(
		feature.Block{Features: t.Chars, Value: Scale(len(t.Chars))},
		t.wordsAndStems(),
		feature.Block{Features: t.extra, Value: Scale(len(t.extra))},
	)
}
