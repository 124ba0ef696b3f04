package train

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/socialdata/socialdata/enrich/arabic/internal/head"
)

const (
	vectorRounds = 8
	minStemCount = 5
)

// Vectors place stems that occur in similar contexts near each other. They are learnt from all texts of the corpus,
// labelled or not, and transfer what is known about frequent words to rare ones.
type Vectors struct {
	Rows map[uint32]int
	Size int
	Data []float32 // Size to a row
}

// Row returns the vector of a stem, nil when it is unknown.
func (v *Vectors) Row(stem uint32) []float32 {
	i, ok := v.Rows[stem]
	if !ok {
		return nil
	}
	return v.Data[i*v.Size : (i+1)*v.Size]
}

// entry is one cell of a sparse row.
type entry struct {
	col   int32
	value float32
}

// FitVectors factors the matrix of positive pointwise mutual information of stems within a window.
func FitVectors(docs [][]uint32, size, window int, seed uint64) *Vectors {
	v := &Vectors{Rows: vocabulary(docs), Size: size}
	rows := informative(docs, v.Rows, window)
	v.factor(rows, seed)
	return v
}

// StemDocs returns the stems of each text.
func StemDocs(texts []string, words bool) [][]uint32 {
	r := head.NewReader(nil)
	var t head.Text
	docs := make([][]uint32, len(texts))
	for i, text := range texts {
		r.Read(&t, text)
		for j := range t.Spans {
			if words {
				docs[i] = append(docs[i], t.Spans[j].Key)
			} else {
				docs[i] = append(docs[i], t.Spans[j].Stem)
			}
		}
	}
	return docs
}

// vocabulary numbers the stems that occur often enough, in the order of their keys.
func vocabulary(docs [][]uint32) map[uint32]int {
	count := map[uint32]int{}
	for _, d := range docs {
		for _, s := range d {
			count[s]++
		}
	}
	maps.DeleteFunc(count, func(_ uint32, n int) bool { return n < minStemCount })
	rows := map[uint32]int{}
	for i, s := range slices.Sorted(maps.Keys(count)) {
		rows[s] = i
	}
	return rows
}

// informative counts pairs of stems and returns the rows of the matrix.
func informative(docs [][]uint32, ids map[uint32]int, window int) [][]entry {
	pairs := make([]map[int32]float32, len(ids))
	total := make([]float64, len(ids))
	for i := range pairs {
		pairs[i] = map[int32]float32{}
	}
	all := 0.0
	for _, d := range docs {
		for i, s := range d {
			a, ok := ids[s]
			if !ok {
				continue
			}
			for j := max(0, i-window); j < i; j++ {
				b, ok := ids[d[j]]
				if !ok || a == b {
					continue
				}
				w := float32(1) / float32(1+(i-j)/3)
				pairs[a][int32(b)] += w
				pairs[b][int32(a)] += w
				total[a] += float64(w)
				total[b] += float64(w)
				all += 2 * float64(w)
			}
		}
	}
	rows := make([][]entry, len(ids))
	for a, p := range pairs {
		for b, n := range p {
			// Raising the counts of the context to the power of 3/4 keeps rare stems from looking alike.
			pmi := math.Log(float64(n) / total[a] / math.Pow(total[b], 0.75) * math.Pow(all, 0.75))
			if pmi > 0.5 {
				rows[a] = append(rows[a], entry{b, float32(pmi)})
			}
		}
		slices.SortFunc(rows[a], func(x, y entry) int { return cmp.Compare(x.col, y.col) })
	}
	return rows
}

// factor returns the leading directions of the matrix by subspace iteration, each scaled by the root of its weight.
func (v *Vectors) factor(rows [][]entry, seed uint64) {
	n := len(rows)
	rng := rand.New(rand.NewPCG(seed, 7))
	q, y := make([]float32, n*v.Size), make([]float32, n*v.Size)
	for i := range q {
		q[i] = float32(rng.NormFloat64())
	}
	norms := make([]float64, v.Size)
	for range vectorRounds {
		clear(y)
		for a, row := range rows {
			dst := y[a*v.Size : (a+1)*v.Size]
			for _, e := range row {
				src := q[int(e.col)*v.Size : (int(e.col)+1)*v.Size]
				for k, x := range src {
					dst[k] += e.value * x
				}
			}
		}
		v.orthonormalize(y, norms)
		q, y = y, q
	}
	for i := range q {
		q[i] *= float32(math.Pow(norms[i%v.Size], 0.5))
	}
	v.unitRows(q)
	v.Data = q
}

// orthonormalize makes the columns of y orthogonal unit vectors and stores the length of each in norms.
func (v *Vectors) orthonormalize(y []float32, norms []float64) {
	n := len(y) / v.Size
	for k := range v.Size {
		for j := range k {
			dot := 0.0
			for i := range n {
				dot += float64(y[i*v.Size+k]) * float64(y[i*v.Size+j])
			}
			for i := range n {
				y[i*v.Size+k] -= float32(dot) * y[i*v.Size+j]
			}
		}
		sum := 0.0
		for i := range n {
			sum += float64(y[i*v.Size+k]) * float64(y[i*v.Size+k])
		}
		norms[k] = math.Sqrt(sum)
		for i := range n {
			y[i*v.Size+k] /= float32(norms[k] + 1e-12)
		}
	}
}

// unitRows scales every row to length 1.
func (v *Vectors) unitRows(q []float32) {
	for i := 0; i < len(q); i += v.Size {
		sum := 0.0
		for _, x := range q[i : i+v.Size] {
			sum += float64(x) * float64(x)
		}
		for k := range v.Size {
			q[i+k] /= float32(math.Sqrt(sum) + 1e-12)
		}
	}
}

// Sum adds up the vectors of features, times scale. Features without a vector count nothing.
func (v *Vectors) Sum(features []uint32, scale float32) []float32 {
	out := make([]float32, v.Size)
	for _, f := range features {
		for k, x := range v.Row(f) {
			out[k] += x * scale
		}
	}
	return out
}

// Fold returns a function for [Softmax.Fold] that gives every known feature the weights of its vector. Examples must
// have been trained with the sum of their vectors, times the value of the block of the features, times scale.
func (v *Vectors) Fold(scale float32) func(m *Linear) {
	return func(m *Linear) {
		mask := uint32(1)<<m.Bits - 1
		for _, f := range slices.Sorted(maps.Keys(v.Rows)) {
			at := int(f&mask) * m.Classes
			for i, x := range v.Row(f) {
				for c := range m.Classes {
					m.W[at+c] += x * scale * m.Dense[i*m.Classes+c]
				}
			}
		}
	}
}
