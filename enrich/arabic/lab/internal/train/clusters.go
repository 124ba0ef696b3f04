package train

import (
	"math/rand/v2"

	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
)

const (
	clusterCount  = 255
	clusterRounds = 12
)

// Clusters groups the words by their vectors.
func (v *Vectors) Clusters(seed uint64) ner.Clusters {
	out := ner.Clusters{}
	n := len(v.Rows)
	if n < clusterCount {
		return out
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	centres := make([]float32, clusterCount*v.Size)
	for c, i := range rng.Perm(n)[:clusterCount] {
		copy(centres[c*v.Size:(c+1)*v.Size], v.Data[i*v.Size:(i+1)*v.Size])
	}
	of := make([]int, n)
	for range clusterRounds {
		for i := range n {
			of[i] = v.nearest(centres, v.Data[i*v.Size:(i+1)*v.Size])
		}
		clear(centres)
		for i, c := range of {
			for k := range v.Size {
				centres[c*v.Size+k] += v.Data[i*v.Size+k]
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
		for k, y := range centres[c*v.Size : (c+1)*v.Size] {
			dot += x[k] * y
		}
		if dot > top {
			best, top = c, dot
		}
	}
	return best
}
