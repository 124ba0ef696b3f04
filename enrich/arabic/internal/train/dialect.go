package train

import (
	"slices"

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
}

const (
	dialectBits   = 19
	dialectEpochs = 6
	dialectRate   = 0.1
)

// dialectExamples reads the texts that keep accepts.
func (b *builder) dialectExamples(keep func(r *corpus.Record) bool) []Example {
	var t head.Text
	var examples []Example
	var sets []string
	for _, list := range [][]corpus.Record{b.corpus.Dialect, b.corpus.Varieties} {
		for i := range list {
			r := &list[i]
			if dialectBudget[r.Set] == 0 || b.held(r.Set, Key(r)) || !keep(r) {
				continue
			}
			b.reader.Read(&t, r.Text)
			examples = append(examples, Example{
				Blocks: copyBlocks(b.reader.Dialect(&t)), Label: slices.Index(varieties, r.Label),
			})
			sets = append(sets, r.Set)
		}
	}
	balance(examples, sets, dialectBudget)
	return examples
}

// fitDialect trains the dialect head on the texts that keep accepts.
func (b *builder) fitDialect(name string, keep func(r *corpus.Record) bool) []byte {
	examples := b.dialectExamples(keep)
	m := b.softmax(name, len(varieties), dialectBits, dialectEpochs, dialectRate).Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

func (b *builder) dialect() []byte {
	return b.fitDialect("dialect", func(*corpus.Record) bool { return true })
}
