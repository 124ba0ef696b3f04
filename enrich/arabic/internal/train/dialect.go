package train

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// varieties are the classes of the dialect head, in its order.
var varieties = []string{"gulf", "egyptian", "levantine", "maghrebi", "msa"}

// dialectBudget says what each variety of a collection weighs. Collections that were labelled by reading weigh most;
// one that holds a single variety would only shift the odds.
var dialectBudget = budget{
	"elhaj": 3000, "qcri": 600, "sib": 500, "shami": 1000, "account": 1000, "arsarcasm": 300,
	"elhaj" + pieceSuffix: 1500, "qcri" + pieceSuffix: 300,
}

const (
	// pieceSuffix marks the short pieces of the posts of a collection.
	pieceSuffix = " pieces"
	// minCut is the number of words from which a post gives a piece.
	minCut = 12
)

const (
	dialectBits   = 19
	dialectEpochs = 6
	dialectRate   = 0.1
	dialectDrop   = 0.4
	teacherEpochs = 4
	// A label that the first head gives counts from this probability on. All labels of a variety weigh ownBudget in
	// total, unless there are very few.
	ownSure   = 0.85
	ownBudget = 600
	fewOwn    = 60
)

// dialectExamples reads the texts that keep accepts.
func (b *builder) dialectExamples(keep func(r *corpus.Record) bool) []Example {
	var t head.Text
	var examples []Example
	var sets []string
	rng := rand.New(rand.NewPCG(b.Seed, 8))
	add := func(text, label, set string) {
		examples = append(examples, b.dialectExample(&t, text, slices.Index(varieties, label)))
		sets = append(sets, set)
	}
	for _, list := range [][]corpus.Record{b.corpus.Dialect, b.corpus.Varieties} {
		for i := range list {
			r := &list[i]
			if dialectBudget[r.Set] == 0 || b.held(r.Set, Key(r)) || !keep(r) {
				continue
			}
			add(r.Text, r.Label, r.Set)
			if words := strings.Fields(r.Text); len(words) >= minCut && dialectBudget[r.Set+pieceSuffix] > 0 {
				add(strings.Join(cut(rng, words, 4, 10), " "), r.Label, r.Set+pieceSuffix)
			}
		}
	}
	balance(examples, sets, dialectBudget)
	return examples
}

// fitDialect trains the dialect head on the texts that keep accepts, and then once more together with tweets of no
// known dialect of which the first head is sure: there are few labelled tweets.
func (b *builder) fitDialect(name string, keep func(r *corpus.Record) bool) []byte {
	examples := b.dialectExamples(keep)
	teacher := b.softmax(name+" 1", len(varieties), dialectBits, teacherEpochs, dialectRate)
	teacher.Drop = dialectDrop
	examples = append(examples, b.ownLabels(teacher.Fit(examples))...)

	settings := b.softmax(name+" 2", len(varieties), dialectBits, dialectEpochs, dialectRate)
	settings.Drop = dialectDrop
	settings.Fold = b.words().Fold(vectorScale)
	m := settings.Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// dialectExample reads one text.
func (b *builder) dialectExample(t *head.Text, text string, label int) Example {
	b.reader.Read(t, text)
	blocks := copyBlocks(b.reader.Dialect(t))
	return Example{
		Blocks: blocks, Label: label,
		Dense: b.words().Sum(blocks[1].Features, blocks[1].Value*vectorScale),
	}
}

// ownLabels labels the texts of the sentiment collections with m and returns those it is sure of.
func (b *builder) ownLabels(m *Linear) []Example {
	var t head.Text
	var examples []Example
	p, n := make([]float32, len(varieties)), make([]float32, len(varieties))
	for i := range b.corpus.Sentiment {
		r := &b.corpus.Sentiment[i]
		if b.held(r.Set, Key(r)) {
			continue
		}
		e := b.dialectExample(&t, r.Text, 0)
		m.Scores(&e, p)
		Normalize(p)
		for c := range p {
			if p[c] > p[e.Label] {
				e.Label = c
			}
		}
		if p[e.Label] > ownSure {
			n[e.Label]++
			examples = append(examples, e)
		}
	}
	for i := range examples {
		examples[i].Weight = ownBudget / max(fewOwn, n[examples[i].Label])
	}
	return examples
}

func (b *builder) dialect() []byte {
	return b.fitDialect("dialect", func(*corpus.Record) bool { return true })
}
