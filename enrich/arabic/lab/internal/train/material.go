package train

import "github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"

// material is what a build learns from: the corpus without what is held out, and the texts made up for the training.
type material struct {
	Config
	corpus *corpus.Corpus
}

// held reports whether a record is held out.
func (m *material) held(set, key string) bool { return m.Hold != nil && m.Hold(set, key) }

// fewOf is the factor by which a small build uses fewer texts.
const fewOf = 50

// few returns how many of n texts, or of n runs, a build makes: all of them, or few but at least two if it is small.
func (m *material) few(n int) int {
	if m.Small {
		return max(2, n/fewOf)
	}
	return n
}

// some returns the texts made up for the training that a build uses: few of them if it is small.
func some[T any](small bool, texts []T) []T {
	if !small {
		return texts
	}
	var few []T
	for i := 0; i < len(texts); i += fewOf {
		few = append(few, texts[i])
	}
	return few
}
