package train

import (
	"maps"
	"math"
	"slices"
)

// labelled is a text for a head of topics before it becomes an example.
type labelled struct {
	set, text string
	label     int
	group     string // texts of a group say the same in other words, "" for none
	words     []uint32
}

// Bayes is a naive Bayes model of topics: for each word, how much more likely it is in texts of a class than in all
// others. It learns immediately what a linear model needs many texts for.
type Bayes struct {
	classes int
	counts  map[uint32][]float32
	totals  []float32
	groups  map[string]map[uint32]float32 // what the texts of each group have added
}

const (
	// bayesSmall is added to the count of every word. bayesDoubt is the number of texts from which a word is trusted.
	bayesSmall = 0.5
	bayesLeast = 2 // words in fewer texts are ignored
	bayesDoubt = 2
	// bayesMost limits the weight of one word.
	bayesMost = 4
)

// newBayes counts the words of texts. Every text has the same weight, however long it is.
func newBayes(classes int, texts []labelled) *Bayes {
	b := &Bayes{
		classes: classes, counts: map[uint32][]float32{}, totals: make([]float32, classes), groups: map[string]map[uint32]float32{},
	}
	for i := range texts {
		t := &texts[i]
		for _, w := range t.words {
			if b.counts[w] == nil {
				b.counts[w] = make([]float32, classes)
			}
			b.counts[w][t.label]++
			b.totals[t.label]++
		}
		if t.group != "" {
			if b.groups[t.group] == nil {
				b.groups[t.group] = map[uint32]float32{}
			}
			for _, w := range t.words {
				b.groups[t.group][w]++
			}
		}
	}
	return b
}

// row fills out with the weights of word w for each class. With t, the texts of its group are left out: a text must not
// be used to learn how far to trust its own counts.
func (b *Bayes) row(w uint32, t *labelled, out []float32) {
	clear(out)
	counts := b.counts[w]
	if counts == nil {
		return
	}
	own, label := float32(0), -1
	if t != nil {
		own, label = 1, t.label
		if t.group != "" {
			own = b.groups[t.group][w]
		}
	}
	sum, all := -own, float32(0)
	for c, n := range counts {
		sum += n
		all += b.totals[c]
	}
	if sum < bayesLeast {
		return
	}
	room := bayesSmall * float32(len(b.counts)) / 10
	for c, n := range counts {
		if c == label {
			n = max(0, n-own) // the texts of a group may have different classes
		}
		in := (n + bayesSmall) / (b.totals[c] + room)
		rest := (max(0, sum-n) + bayesSmall) / (all - b.totals[c] + room)
		odds := float32(math.Log(float64(in / rest)))
		out[c] = min(bayesMost, max(-bayesMost, odds)) * sum / (sum + bayesDoubt)
	}
}

// sum adds the weights of the words of t, times scale.
func (b *Bayes) sum(t *labelled, scale float32) []float32 {
	out, row := make([]float32, b.classes), make([]float32, b.classes)
	for _, w := range t.words {
		b.row(w, t, row)
		for c, v := range row {
			out[c] += v * scale
		}
	}
	return out
}

// join returns the vectors of v extended by the weights of b, times scale.
func (b *Bayes) join(v *Vectors, scale float32) *Vectors {
	words := slices.Collect(maps.Keys(v.Rows))
	row := make([]float32, b.classes)
	for w := range b.counts {
		if b.row(w, nil, row); slices.Max(row) > 0 {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	out := &Vectors{Rows: map[uint32]int{}, Size: v.Size + b.classes, Data: make([]float32, len(words)*(v.Size+b.classes))}
	for i, w := range words {
		out.Rows[w] = i
		row = out.Row(w)
		copy(row, v.Row(w))
		b.row(w, nil, row[v.Size:])
		for c := v.Size; c < len(row); c++ {
			row[c] *= scale
		}
	}
	return out
}
