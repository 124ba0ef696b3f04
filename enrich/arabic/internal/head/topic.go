package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
)

// wordWeight is how much more words and stems weigh than their letters, which many words share.
const wordWeight = 1.6

// Topic returns the features of the topic head: letters, words, stems, the length of numbers, words in other scripts
// and the lists. Pairs of words are left out: few occur again, and each would take the place of a word in the table.
func (r *Reader) Topic(t *Text) []feature.Block {
	t.extra, t.stems = t.extra[:0], t.stems[:0]
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		for i := range feature.Bits(r.lists.Topic.Loose(prev, s)) {
			t.extra = append(t.extra, feature.Combine(kindSeed, i, 0))
		}
		t.stems = append(t.stems, s.Key, s.Stem)
		prev = s.Key
	}
	for i := range t.Tokens {
		switch k := &t.Tokens[i]; k.Kind {
		case token.Number:
			t.stems = append(t.stems, feature.Combine(kindShape, uint32(k.Kind), uint32(min(k.End-k.Start, 5))))
		case token.Foreign:
			t.stems = append(t.stems, feature.Combine(kindShape, uint32(k.Kind), feature.Key(t.Folded(k))))
		case token.Word, token.Punct, token.Emoji, token.Mention, token.Hashtag, token.URL:
		}
	}
	return t.pack(
		feature.Block{Features: t.Chars, Value: Scale(len(t.Chars))},
		feature.Block{Features: t.stems, Value: wordWeight * Scale(len(t.stems))},
		feature.Block{Features: t.extra, Value: Scale(len(t.extra))},
	)
}

// Subjects are the classes of the subject head, in order: the topics of the API, and none.
var Subjects = []string{
	"politics", "economy", "sports", "technology", "science", "health", "entertainment", "travel", "geography", "religion",
	"education", "food", "fashion", "weather", "crime", "gaming", "",
}

// Subject returns the features of the subject head: those of the topic head, and the words of the lists separately from
// the stems that they share with other words.
func (r *Reader) Subject(t *Text) []feature.Block {
	blocks := r.Topic(t)
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		for i := range feature.Bits(r.lists.Topic.Bare(prev, s)) {
			t.extra = append(t.extra, feature.Combine(kindSeed, i, 1))
		}
		prev = s.Key
	}
	blocks[2] = feature.Block{Features: t.extra, Value: Scale(len(t.Spans))}
	return blocks
}

// Seeds counts the words of t on the list of each topic. It fills counts and returns it. A matching stem alone does not
// count: no weight is learnt for stems shared with everyday words.
func (r *Reader) Seeds(t *Text, counts []int) []int {
	counts = counts[:0]
	for range r.lists.Topic.Names {
		counts = append(counts, 0)
	}
	prev := uint32(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		for i := range feature.Bits(r.lists.Topic.Bare(prev, s)) {
			counts[i]++
		}
		prev = s.Key
	}
	return counts
}

// SeedNames returns the topics that [Reader.Seeds] counts, in its order.
func (r *Reader) SeedNames() []string { return r.lists.Topic.Names }
