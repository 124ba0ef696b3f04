package train

import (
	"math/rand/v2"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

const (
	clusterCount  = 255
	clusterRounds = 12
)

// clusters groups the words of all texts that are not held out.
func (b *builder) clusters() ner.Clusters {
	var texts []string
	for _, list := range [][]corpus.Record{b.corpus.Dialect, b.corpus.Sentiment, b.corpus.Topic} {
		for i := range list {
			if r := &list[i]; !b.held(r.Set, Key(r)) {
				texts = append(texts, r.Text)
			}
		}
	}
	for i := range b.corpus.NER {
		if s := &b.corpus.NER[i]; !b.held(s.Set, s.Article) {
			texts = append(texts, strings.Join(s.Tokens, " "))
		}
	}
	v := FitVectors(wordsOf(texts), b.Seed)
	b.logf("%-9s %d of size %d", "vectors", len(v.Rows), vectorSize)
	return v.Clusters(b.Seed)
}

// Clusters groups the words by their vectors.
func (v *Vectors) Clusters(seed uint64) ner.Clusters {
	out := ner.Clusters{}
	n := len(v.Rows)
	if n < clusterCount {
		return out
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	centres := make([]float32, clusterCount*vectorSize)
	for c, i := range rng.Perm(n)[:clusterCount] {
		copy(centres[c*vectorSize:(c+1)*vectorSize], v.Data[i*vectorSize:(i+1)*vectorSize])
	}
	of := make([]int, n)
	for range clusterRounds {
		for i := range n {
			of[i] = v.nearest(centres, v.Data[i*vectorSize:(i+1)*vectorSize])
		}
		clear(centres)
		for i, c := range of {
			for k := range vectorSize {
				centres[c*vectorSize+k] += v.Data[i*vectorSize+k]
			}
		}
		v.unitRows(centres)
	}
	for key, i := range v.Rows {
		out[key] = uint8(of[i] + 1)
	}
	return out
}

// nearest returns the centre with the direction closest to x.
func (v *Vectors) nearest(centres, x []float32) int {
	best, top := 0, float32(-2)
	for c := range clusterCount {
		dot := float32(0)
		for k, y := range centres[c*vectorSize : (c+1)*vectorSize] {
			dot += x[k] * y
		}
		if dot > top {
			best, top = c, dot
		}
	}
	return best
}
