package train

import (
	_ "embed" // the made-up posts
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// feelings are the classes of the sentiment head, in its order.
var feelings = []string{"positive", "negative", "neutral"}

// madeUp holds short posts that were written for training, with a label and a text on each line. They add words of
// praise and blame that the few labelled tweets lack; nothing of the file is part of the product.
//
//go:embed sentiment.txt
var madeUp string

// madeUpSet is the name of their collection.
const madeUpSet = "made up"

// sentimentBudget is the weight of each label of a collection. The tweets labelled by their emoji are many and noisy.
var sentimentBudget = budget{
	"arsarcasm": 4500, "ajgt": 4500, "manual": 700, "emoji": 800, madeUpSet: 900, everydaySet: 4400, negationSet: 1200, plainSet: 850,
	pairSet: 5000,
}

const (
	// emojiSet is the collection labelled by the emoji of its tweets. They are hidden, since they would teach nothing else.
	emojiSet = "emoji"
	// twoSidedSet is the collection labelled only positive or negative: it teaches nothing about neutral texts.
	twoSidedSet = "ajgt"
)

const (
	sentimentBits   = 19
	sentimentEpochs = 6
	// Steps twice as large overfit the training texts and cost a point on others.
	sentimentRate = 0.05
	// sentimentDrop is the share of the features that are hidden, different ones each time.
	sentimentDrop = 0.3
	// negativeBias is added to the score of negative: the labels have equal weight in training, and blame is more common
	// than praise. A larger bias would reduce the accuracy on texts like those of the corpus.
	negativeBias = 0.2
)

// madeUpRecords returns the posts of the file.
func madeUpRecords() []corpus.Record {
	var records []corpus.Record
	for line := range strings.Lines(madeUp) {
		if label, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			records = append(records, corpus.Record{Set: madeUpSet, Label: label, Text: text})
		}
	}
	return records
}

// everydaySet is the name of the collection of everyday posts.
const everydaySet = "everyday"

// feltPosts returns the sentiment of the everyday posts.
func (m *material) feltPosts() []corpus.Record {
	var records []corpus.Record
	for _, p := range m.everyday() {
		records = append(records, corpus.Record{Set: everydaySet, Label: string(p.Sentiment), Text: p.Text})
	}
	return records
}

// feltRecords returns the texts with a sentiment to learn.
func (m *material) feltRecords() []corpus.Record {
	collected := slices.DeleteFunc(slices.Clone(m.corpus.Sentiment), func(r corpus.Record) bool {
		return m.held(r.Set, Key(&r))
	})
	written := slices.Concat(madeUpRecords(), m.feltPosts(), negations(rand.New(rand.NewPCG(m.Seed, 14))), m.pairs())
	return slices.Concat(collected, some(m.Small, written))
}

// sentiment trains the sentiment head.
func (b *builder) sentiment() []byte {
	var t head.Text
	var examples []Example
	var sets []string
	for _, r := range b.feltRecords() {
		b.reader.Read(&t, r.Text)
		e := Example{Blocks: copyBlocks(b.reader.Sentiment(&t, r.Set == emojiSet)), Label: slices.Index(feelings, r.Label)}
		if r.Set == twoSidedSet {
			e.Among = 2
		}
		examples, sets = append(examples, e), append(sets, r.Set)
	}
	balance(examples, sets, sentimentBudget)
	settings := b.softmax("sentiment", len(feelings), sentimentBits, sentimentEpochs, sentimentRate)
	settings.Drop = sentimentDrop
	m := settings.Fit(examples)
	m.Bias[slices.Index(feelings, "negative")] += negativeBias
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}
