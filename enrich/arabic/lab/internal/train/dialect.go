package train

import (
	_ "embed" // the texts that were written for the training
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/schema"
)

// varieties are the classes of the dialect head, in its order.
var varieties = []string{"gulf", "egyptian", "levantine", "maghrebi", "msa"}

// dialectBudget is the weight of each variety of a collection. Collections labelled by human readers weigh most: with
// less weight the comments lose a point to the tweets. Shami has a single variety and would only shift the odds; many
// of its comments fit any variety.
var dialectBudget = budget{
	"elhaj": 12000, "qcri": 1000, "sib": 800, "shami": 200, "account": 1400, "arsarcasm": 1000,
	"elhaj" + pieceSuffix: 1500, "qcri" + pieceSuffix: 300,
	writtenPosts: 4000, writtenWords: 800, newsSet: 500,
}

// dialects holds posts and lists of words by country that were written only for the training: the collections have
// almost nothing from most countries.
//
//go:embed dialects.txt
var dialects string

// Names of the two kinds of written texts.
const (
	writtenPosts = "written posts"
	writtenWords = "written words"
)

const (
	// pieceSuffix marks the short pieces of the posts of a collection.
	pieceSuffix = " pieces"
	// minCut is the number of words from which a piece of a post is used.
	minCut = 12
)

const (
	// The first head has a table in which hardly any two features share a row. It selects the features of the second one,
	// which has dialectRows rows, fewer than 1<<dialectBits, and no shared ones.
	teacherBits   = 22
	dialectBits   = 20
	dialectRows   = 560_000
	dialectEpochs = 6
	dialectRate   = 0.1
	dialectDrop   = 0.3
	teacherEpochs = 4
	// A label of the first head counts from this probability on. All labels of a variety together weigh ownBudget, unless
	// there are very few.
	ownSure   = 0.85
	ownBudget = 600
	fewOwn    = 60
)

// dialectExamples reads the texts to learn.
func (b *builder) dialectExamples() []Example {
	var t head.Text
	var examples []Example
	var sets []string
	rng := rand.New(rand.NewPCG(b.Seed, 8))
	add := func(text, label, set string) {
		examples = append(examples, b.dialectExample(&t, text, slices.Index(varieties, label)))
		sets = append(sets, set)
	}
	for r := range b.dialectRecords(rng) {
		add(r.Text, r.Label, r.Set)
		if words := strings.Fields(r.Text); len(words) >= minCut && dialectBudget[r.Set+pieceSuffix] > 0 {
			add(strings.Join(cut(rng, words, 4, 10), " "), r.Label, r.Set+pieceSuffix)
		}
	}
	balance(examples, sets, dialectBudget)
	return examples
}

// dialectRecords yields the labelled texts, and then the written ones.
func (m *material) dialectRecords(rng *rand.Rand) iter.Seq[*corpus.Record] {
	return func(yield func(*corpus.Record) bool) {
		for _, list := range [][]corpus.Record{m.corpus.Dialect, m.corpus.Varieties} {
			for i := range list {
				r := &list[i]
				if dialectBudget[r.Set] > 0 && !m.held(r.Set, Key(r)) && !yield(r) {
					return
				}
			}
		}
		for _, r := range slices.Concat(m.news(), some(m.Small, m.written(rng))) {
			if !yield(&r) {
				return
			}
		}
	}
}

// newsSet is the name of the sentences of the entity corpora.
const newsSet = "news"

// news returns the sentences of the entity corpora, which are all of newspapers or an encyclopaedia.
func (m *material) news() []corpus.Record {
	var records []corpus.Record
	for i := range m.corpus.NER {
		s := &m.corpus.NER[i]
		if s.Set != "wojood" && !m.held(s.Set, s.Article) {
			records = append(records, corpus.Record{Set: newsSet, Label: "msa", Text: strings.Join(s.Tokens, " ")})
		}
	}
	return records
}

// The words of a list are distributed wordRounds times, in groups of wordsAtOnce.
const (
	wordRounds  = 2
	wordsAtOnce = 6
)

// written returns the everyday posts and the texts of dialects.txt: its posts, and groups of words of its lists.
func (m *material) written(rng *rand.Rand) []corpus.Record {
	var records []corpus.Record
	for _, p := range m.everyday() {
		if p.Dialect == schema.Mixed {
			continue
		}
		records = append(records, corpus.Record{Set: writtenPosts, Label: string(p.Dialect), Text: p.Text})
	}
	label := ""
	for line := range strings.Lines(dialects) {
		line = strings.TrimSpace(line)
		if country, ok := strings.CutPrefix(line, "["); ok {
			label, _, _ = strings.Cut(country, " ")
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		list, ok := strings.CutPrefix(line, "* ")
		if !ok {
			records = append(records, corpus.Record{Set: writtenPosts, Label: label, Text: line})
		}
		words := strings.Fields(list)
		for range wordRounds {
			rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			for some := range slices.Chunk(words, wordsAtOnce) {
				text := strings.ReplaceAll(strings.Join(some, " "), "_", " ")
				records = append(records, corpus.Record{Set: writtenWords, Label: label, Text: text})
			}
		}
	}
	return records
}

// dialect trains the dialect head, and then again together with unlabelled tweets of which the first head is certain:
// there are few labelled tweets.
func (b *builder) dialect() []byte {
	examples := b.dialectExamples()
	teacher := b.softmax("dialect 1", len(varieties), teacherBits, teacherEpochs, dialectRate)
	teacher.Drop = dialectDrop
	first := teacher.Fit(examples)
	examples = append(examples, b.ownLabels(first)...)

	rows := dialectRows
	if b.Small {
		rows = 1 << smallBits
	}
	tags := first.Choose(examples, rows)
	settings := b.softmax("dialect 2", len(varieties), dialectBits, dialectEpochs, dialectRate)
	settings.Drop = dialectDrop
	m := settings.Fit(examples)
	return weights.AppendTagged(nil, tags, m.W[:rows*len(varieties)], m.Bias)
}

// dialectExample reads one text.
func (b *builder) dialectExample(t *head.Text, text string, label int) Example {
	b.reader.Read(t, text)
	return Example{Blocks: copyBlocks(b.reader.Dialect(t, 0, len(t.Spans))), Label: label}
}

// ownLabels labels the texts of the sentiment collections with m and returns those of which it is certain.
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
