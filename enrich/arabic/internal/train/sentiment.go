package train

import (
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

var feelings = []string{"positive", "negative", "neutral"}

// sentimentBudget says what each label of a collection weighs.
var sentimentBudget = budget{"arsarcasm": 3000, "ajgt": 700, "manual": 500, "emoji": 200}

const (
	// The weights of the head start where the tweets labelled by their emoji take them, at this pace.
	emojiEpochs = 3
	emojiRate   = 0.03

	sentimentBits   = 18
	sentimentEpochs = 6
	sentimentRate   = 0.1
)

func (b *builder) sentiment() []byte {
	var t head.Text
	var examples []Example
	var sets []string
	for i := range b.corpus.Sentiment {
		r := &b.corpus.Sentiment[i]
		if sentimentBudget[r.Set] == 0 || b.held(r.Set, Key(r)) {
			continue
		}
		b.reader.Read(&t, r.Text)
		blocks := copyBlocks(b.reader.Sentiment(&t, r.Set == "emoji"))
		examples = append(examples, Example{
			Blocks: blocks, Label: slices.Index(feelings, r.Label),
			Dense: b.stems().Sum(blocks[1].Features, blocks[1].Value*vectorScale),
		})
		sets = append(sets, r.Set)
	}
	balance(examples, sets, sentimentBudget)
	settings := b.softmax("sentiment", len(feelings), sentimentBits, sentimentEpochs, sentimentRate)
	settings.Init = b.emojiHead(examples, sets)
	settings.Fold = b.stems().Fold(vectorScale)
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// emojiHead trains on the tweets that were labelled by their emoji alone. There are many, and they are noisy.
func (b *builder) emojiHead(examples []Example, sets []string) *Linear {
	var tweets []Example
	for i, e := range examples {
		if sets[i] == "emoji" {
			e.Weight = 1
			tweets = append(tweets, e)
		}
	}
	if len(tweets) == 0 {
		return nil
	}
	return b.softmax("emoji", len(feelings), sentimentBits, emojiEpochs, emojiRate).Fit(tweets)
}
