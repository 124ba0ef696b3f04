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
	"arsarcasm": 4500, "ajgt": 4500, "manual": 700, "emoji": 800, madeUpSet: 900, everydaySet: 4400, negationSet: 1200,
	pairSet: 5000,
}

// twoSided are the collections labelled only positive or negative: they teach nothing about neutral texts.
var twoSided = []string{"ajgt"}

const (
	sentimentBits   = 19
	sentimentEpochs = 6
	// Steps twice as large overfit the training texts and cost a point on others.
	sentimentRate = 0.05
	// sentimentDrop is the share of the features that are hidden, different ones each time.
	sentimentDrop = 0.3
	// sentimentVector is the weight of the vectors. More of it would favour the subject of a text.
	sentimentVector = 1.5
	// negativeBias is added to the score of negative: the labels have equal weight in training, and blame is more common
	// than praise. A larger bias would reduce the accuracy on texts like those of the corpus.
	negativeBias = 0.2
)

// writtenSets are the collections that were written for the training: nothing is measured on them.
var writtenSets = []string{madeUpSet, everydaySet, negationSet, pairSet}

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

// felt is a text with a sentiment to learn.
type felt struct {
	text   string
	label  int
	among  int       // as in [Example]
	target []float32 // the same
	blind  bool      // its emoji are hidden, because its label was derived from them
	weight float32
}

// feltTexts returns the texts with a label.
func (m *material) feltTexts() []felt {
	var texts []felt
	var weigh []Example
	var sets []string
	written := slices.Concat(madeUpRecords(), m.feltPosts(), negations(rand.New(rand.NewPCG(m.Seed, 14))), m.pairs())
	for _, r := range slices.Concat(m.corpus.Sentiment, some(m.Small, written)) {
		if sentimentBudget[r.Set] == 0 || !slices.Contains(writtenSets, r.Set) && m.held(r.Set, Key(&r)) {
			continue
		}
		f := felt{text: r.Text, label: slices.Index(feelings, r.Label), blind: r.Set == "emoji"}
		if slices.Contains(twoSided, r.Set) {
			f.among = 2
		}
		texts = append(texts, f)
		weigh = append(weigh, Example{Label: f.label})
		sets = append(sets, r.Set)
	}
	balance(weigh, sets, sentimentBudget)
	for i := range texts {
		texts[i].weight = weigh[i].Weight
	}
	return texts
}

func (b *builder) sentiment() []byte {
	m := b.fitFelt("sentiment", append(b.feltTexts(), b.softTexts()...))
	m.Bias[slices.Index(feelings, "negative")] += negativeBias
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// fitFelt trains a linear model on texts.
func (b *builder) fitFelt(name string, texts []felt) *Linear {
	examples := make([]Example, len(texts))
	var t head.Text
	for i := range texts {
		examples[i] = b.feltExample(&t, &texts[i])
	}
	settings := b.softmax(name, len(feelings), sentimentBits, sentimentEpochs, sentimentRate)
	settings.Fold = b.stems().Fold(sentimentVector)
	settings.Drop = sentimentDrop
	return settings.Fit(examples)
}

// feltExample reads one text.
func (b *builder) feltExample(t *head.Text, f *felt) Example {
	b.reader.Read(t, f.text)
	blocks := copyBlocks(b.reader.Sentiment(t, f.blind))
	e := Example{
		Blocks: blocks, Label: f.label, Among: f.among, Target: f.target, Weight: f.weight,
		Dense: b.stems().Sum(blocks[head.FeelWords].Features, blocks[head.FeelWords].Value*sentimentVector),
	}
	turned := blocks[head.FeelTurnedWords]
	for i, x := range b.stems().Sum(turned.Features, turned.Value*sentimentVector) {
		e.Dense[i] += x
	}
	return e
}
