package train

import (
	"math/rand/v2"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

const (
	languageBits   = 17
	languageEpochs = 5
	languageRate   = 0.1
	piecesPerText  = 4
)

// language trains the head that distinguishes Arabic from other languages in Arabic script. Real posts are short, so
// most examples are pieces of a text.
func (b *builder) language() []byte {
	rng := rand.New(rand.NewPCG(b.Seed, 3))
	names := make([]string, 0, len(b.corpus.Names))
	for _, n := range b.corpus.Names {
		names = append(names, n.Name)
	}
	var t head.Text
	var examples []Example
	add := func(text string, label int, weight float32) {
		b.reader.Read(&t, text)
		if t.Script() != head.ArabicMost {
			return
		}
		examples = append(examples, Example{Blocks: copyBlocks(b.reader.Language(&t)), Label: label, Weight: weight})
	}
	pieces := func(r *corpus.Record, label int, weight float32) {
		if b.held(r.Set, Key(r)) {
			return
		}
		add(r.Text, label, weight)
		words := strings.Fields(r.Text)
		for range piecesPerText {
			piece := strings.Join(cut(rng, words, 2, 7), " ")
			// A post in Persian may mention an Arab.
			if label == 1 && len(names) > 0 && rng.IntN(5) == 0 {
				piece = attach(rng, piece, names[rng.IntN(len(names))])
			}
			add(piece, label, weight)
		}
	}
	for i := range b.corpus.NotArabic {
		if r := &b.corpus.NotArabic[i]; r.Label == "not_arabic" {
			pieces(r, 1, 1)
		}
	}
	for i := range b.corpus.Dialect {
		pieces(&b.corpus.Dialect[i], 0, 0.3)
	}
	for i := range b.corpus.Varieties {
		pieces(&b.corpus.Varieties[i], 0, 1)
	}
	m := b.softmax("language", 2, languageBits, languageEpochs, languageRate).Fit(examples)
	out, _ := weights.AppendLinear(nil, m.Bits, m.W, m.Bias)
	return out
}

// cut returns a stretch of words between lo and hi words long.
func cut(rng *rand.Rand, words []string, lo, hi int) []string {
	n := min(len(words), lo+rng.IntN(hi-lo+1))
	at := rng.IntN(len(words) - n + 1)
	return words[at : at+n]
}

// attach puts name before or after text.
func attach(rng *rand.Rand, text, name string) string {
	if rng.IntN(2) == 0 {
		return name + " " + text
	}
	return text + " " + name
}
