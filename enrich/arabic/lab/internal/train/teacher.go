package train

import (
	"math"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
)

// The sentiment of a tweet without a label is predicted by three teachers trained on the labelled texts: a linear head
// and a net like those of the model, and a plain linear model that weights words by how rare they are. They make
// different errors.

// softSets are the collections whose texts the teachers label.
var softSets = []string{"account", "shami", "qcri"}

const (
	// softWeight is the total weight of the texts that the teachers label.
	softWeight = 8000
	// softWords is the length from which a text is labelled.
	softWords = 3
	// The shares of the teachers in the common prediction; the linear head has the rest.
	phraseTeaches, plainTeaches = 0.2, 0.35
	plainBits                   = 19
	plainEpochs                 = 5
	plainRate                   = 0.1
	plainScale                  = 6 // of a text, chosen so that the steps have a good size
	rareLevels                  = 8
)

// taught labels the tweets. It is called once.
func (b *builder) taught() []felt {
	known := b.feltTexts()
	linear, net, plain := b.fitFelt("teacher", known), b.fitPhrase("teacher 2", known), b.fitPlain(known)
	var t head.Text
	var texts []felt
	p, q, r := make([]float32, len(feelings)), make([]float32, len(feelings)), make([]float32, len(feelings))
	for i := range b.corpus.Dialect {
		rec := &b.corpus.Dialect[i]
		if !slices.Contains(softSets, rec.Set) || b.held(rec.Set, Key(rec)) {
			continue
		}
		f := felt{text: rec.Text}
		e := b.feltExample(&t, &f)
		if len(t.Spans) < softWords {
			continue
		}
		linear.Scores(&e, p)
		x := b.phraseExample(&t, &f)
		net.Scores(&x.Seq, q)
		plain.scores(b, &t, &f, r)
		for c := range p {
			p[c] += phraseTeaches * (q[c] - p[c])
		}
		Normalize(p)
		Normalize(r)
		for c := range p {
			p[c] += plainTeaches * (r[c] - p[c])
			if p[c] > p[f.label] {
				f.label = c
			}
		}
		f.target = slices.Clone(p)
		texts = append(texts, f)
	}
	for i := range texts {
		texts[i].weight = softWeight / float32(len(texts))
	}
	b.logf("%-9s %d tweets", "taught", len(texts))
	return texts
}

// plainModel is a linear model over letters and words that are weighted by their rarity.
type plainModel struct {
	linear *Linear
	texts  map[uint32]int32 // the number of texts with a feature
	n      int
}

// fitPlain trains the plain model.
func (b *builder) fitPlain(texts []felt) *plainModel {
	var t head.Text
	m := &plainModel{texts: map[uint32]int32{}, n: len(texts)}
	for i := range texts {
		b.reader.Read(&t, texts[i].text)
		seen := map[uint32]bool{}
		for _, f := range slices.Concat(t.Chars, t.Words) {
			if !seen[f] {
				seen[f] = true
				m.texts[f]++
			}
		}
	}
	examples := make([]Example, len(texts))
	for i := range texts {
		f := &texts[i]
		b.reader.Read(&t, f.text)
		examples[i] = Example{Blocks: m.blocks(&t), Label: f.label, Among: f.among, Weight: f.weight}
	}
	m.linear = b.softmax("teacher 3", len(feelings), plainBits, plainEpochs, plainRate).Fit(examples)
	return m
}

// blocks puts features of t with similar rarity into one block. The square of all of them is plainScale squared.
func (m *plainModel) blocks(t *head.Text) []feature.Block {
	blocks := make([]feature.Block, rareLevels)
	most := math.Log(float64(m.n) + 1)
	square := 0.0
	for _, f := range slices.Concat(t.Chars, t.Words) {
		n := m.texts[f]
		if n < 2 {
			continue
		}
		level := min(rareLevels-1, int(math.Log(float64(m.n)/float64(n))/most*rareLevels))
		rare := float64(level) + 0.5
		blocks[level].Features = append(blocks[level].Features, f)
		square += rare * rare
	}
	for level := range blocks {
		blocks[level].Value = float32(plainScale * (float64(level) + 0.5) / math.Sqrt(square+1e-9))
	}
	return blocks
}

// scores fills out with the scores of the text f.
func (m *plainModel) scores(b *builder, t *head.Text, f *felt, out []float32) {
	b.reader.Read(t, f.text)
	m.linear.Scores(&Example{Blocks: m.blocks(t)}, out)
}
