package train

import (
	"math"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Choose selects the features of examples that fit into a model of n rows with tags and removes all others; those kept
// become the numbers of their rows. Of the features that share a row, the one that m would miss most is kept: the
// number of texts that it occurs in, times the square of its weight. It returns the tags.
func (m *Linear) Choose(examples []Example, n int) []byte {
	k, mask := m.Classes, uint32(1)<<m.Bits-1
	worth := make([]float32, 1<<m.Bits)
	for i := range examples {
		e := &examples[i]
		// A compromise between counting texts and counting their weights, which would keep almost nothing of large
		// collections.
		weight := float32(math.Sqrt(float64(e.Weight)))
		for _, b := range e.Blocks {
			for _, f := range b.Features {
				worth[f&mask] += weight * b.Value
			}
		}
	}
	for i := range worth {
		w := m.W[i*k : (i+1)*k]
		spread := slices.Max(w) - slices.Min(w)
		worth[i] *= spread * spread
	}
	best, tags := make([]float32, n), make([]byte, n)
	for i := range examples {
		for _, b := range examples[i].Blocks {
			for _, f := range b.Features {
				if row, tag := weights.Place(f, n); worth[f&mask] > best[row] {
					best[row], tags[row] = worth[f&mask], tag
				}
			}
		}
	}
	for i := range examples {
		for j := range examples[i].Blocks {
			b := &examples[i].Blocks[j]
			kept := b.Features[:0]
			for _, f := range b.Features {
				if row, tag := weights.Place(f, n); tags[row] == tag {
					kept = append(kept, uint32(row))
				}
			}
			b.Features = kept
		}
	}
	return tags
}
