package train

import (
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
)

const (
	nerBits   = 17
	nerEpochs = 12
	nerRuns   = 2
)

// ner trains the tagger on ANERcorp. The other collections have other ideas of what a name is and made it worse; their
// text still teaches the word clusters.
func (b *builder) ner(r *ner.Reader) []byte {
	var data []Tagged
	count := map[string]int{}
	for i := range b.corpus.NER {
		s := &b.corpus.NER[i]
		key := SentenceKey(s.Set, count[s.Set])
		count[s.Set]++
		if b.held(s.Set, key) || s.Set != "anercorp" {
			continue
		}
		data = append(data, TagSentence(r, s))
	}
	return Perceptron{
		Bits: b.bits(nerBits), Epochs: nerEpochs, Runs: nerRuns, Seed: b.Seed,
		Progress: func(epoch int, wrong float64) { b.logf("%-9s epoch %2d, %.1f %% wrong", "ner", epoch, 100*wrong) },
	}.Fit(data)
}
