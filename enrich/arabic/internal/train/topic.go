package train

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// topicLabels are the classes of the topic head, in its order. The last one stands for small talk.
var topicLabels = []string{
	"science/technology", "travel", "politics", "sports", "health", "entertainment", "geography", "none",
}

const (
	topicBits   = 17
	topicEpochs = 6
	topicRate   = 0.1
	// smallTalk is the number of posts by account that teach what has no topic.
	smallTalk = 4000
)

func (b *builder) topic() []byte {
	var t head.Text
	var examples []Example
	var sets []string
	add := func(r *corpus.Record, set, label string) {
		b.reader.Read(&t, r.Text)
		blocks := copyBlocks(b.reader.Topic(&t))
		examples = append(examples, Example{
			Blocks: blocks, Label: slices.Index(topicLabels, label),
			Dense: b.stems().Sum(blocks[1].Features, blocks[1].Value*vectorScale),
		})
		sets = append(sets, set)
	}
	for i := range b.corpus.Topic {
		if r := &b.corpus.Topic[i]; !b.held(r.Set, Key(r)) {
			add(r, "sib", r.Label)
		}
	}
	n := 0
	for i := range b.corpus.Dialect {
		if r := &b.corpus.Dialect[i]; r.Set == "account" && n < smallTalk && i%5 == 0 && !b.held(r.Set, Key(r)) {
			add(r, "none", "none")
			n++
		}
	}
	balance(examples, sets, budget{"sib": 900, "none": 150})
	settings := b.softmax("topic", len(topicLabels), topicBits, topicEpochs, topicRate)
	settings.Fold = b.stems().Fold(vectorScale)
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}
