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
	vectorSize   = 64
	vectorRounds = 8
	// vectorWindow is how far away the words of the context are: near ones show the use of a word.
	vectorWindow = 6
	minWordCount = 5
)

// Vectors place words that occur in similar contexts near each other.
type Vectors struct {
	Rows map[uint32]int
	Data []float32 // vectorSize to a row
}

// entry is one cell of a sparse row.
type entry struct {
	col   int32
	value float32
}

// FitVectors factors the matrix of positive pointwise mutual information of the words of docs.
func FitVectors(docs [][]uint32, seed uint64) *Vectors {
	v := &Vectors{Rows: vocabulary(docs)}
	rows := informative(docs, v.Rows)
	v.factor(rows, seed)
	return v
}

// wordsOf returns the words of each text.
func wordsOf(texts []string) [][]uint32 {
	r := head.NewReader(nil)
	var t head.Text
	docs := make([][]uint32, len(texts))
	for i, text := range texts {
		r.Read(&t, text)
		for j := range t.Spans {
			docs[i] = append(docs[i], t.Spans[j].Key)
		}
	}
	return docs
}

// vocabulary numbers the words that occur often enough, in the order of their keys.
func vocabulary(docs [][]uint32) map[uint32]int {
	count := map[uint32]int{}
	for _, d := range docs {
		for _, s := range d {
			count[s]++
		}
	}
	maps.DeleteFunc(count, func(_ uint32, n int) bool { return n < minWordCount })
	rows := map[uint32]int{}
	for i, s := range slices.Sorted(maps.Keys(count)) {
		rows[s] = i
	}
	return rows
}

// informative counts pairs of words and returns the rows of the matrix.
func informative(docs [][]uint32, ids map[uint32]int) [][]entry {
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
			for j := max(0, i-vectorWindow); j < i; j++ {
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
			// Raising the counts of the context to the power of 3/4 keeps rare words from looking alike.
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
	q, y := make([]float32, n*vectorSize), make([]float32, n*vectorSize)
	for i := range q {
		q[i] = float32(rng.NormFloat64())
	}
	norms := make([]float64, vectorSize)
	for range vectorRounds {
		clear(y)
		for a, row := range rows {
			dst := y[a*vectorSize : (a+1)*vectorSize]
			for _, e := range row {
				src := q[int(e.col)*vectorSize : (int(e.col)+1)*vectorSize]
				for k, x := range src {
					dst[k] += e.value * x
				}
			}
		}
		v.orthonormalize(y, norms)
		q, y = y, q
	}
	for i := range q {
		q[i] *= float32(math.Pow(norms[i%vectorSize], 0.5))
	}
	v.unitRows(q)
	v.Data = q
}

// orthonormalize makes the columns of y orthogonal unit vectors and stores the length of each in norms.
func (v *Vectors) orthonormalize(y []float32, norms []float64) {
	n := len(y) / vectorSize
	for k := range vectorSize {
		for j := range k {
			dot := 0.0
			for i := range n {
				dot += float64(y[i*vectorSize+k]) * float64(y[i*vectorSize+j])
			}
			for i := range n {
				y[i*vectorSize+k] -= float32(dot) * y[i*vectorSize+j]
			}
		}
		sum := 0.0
		for i := range n {
			sum += float64(y[i*vectorSize+k]) * float64(y[i*vectorSize+k])
		}
		norms[k] = math.Sqrt(sum)
		for i := range n {
			y[i*vectorSize+k] /= float32(norms[k] + 1e-12)
		}
	}
}

// unitRows scales every row to length 1.
func (v *Vectors) unitRows(q []float32) {
	for i := 0; i < len(q); i += vectorSize {
		sum := 0.0
		for _, x := range q[i : i+vectorSize] {
			sum += float64(x) * float64(x)
		}
		for k := range vectorSize {
			q[i+k] /= float32(math.Sqrt(sum) + 1e-12)
		}
	}
}
