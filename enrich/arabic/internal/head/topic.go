package head

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
)

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
