package train

import (
	"maps"
	"math"
	"slices"
)

// labelled is a text of a head of topics before it is made into an example.
type labelled struct {
	set, text string
	label     int
	group     string // texts of a group say the same in other words, "" for none
	words     []uint32
}

// Bayes is a naive Bayes model of topics: for each word, how much likelier it is in texts of a class than in all others. It
// knows at once what a linear model takes many texts to learn.
type Bayes struct {
	classes int
	counts  map[uint32][]float32
	totals  []float32
	groups  map[string]map[uint32]float32 // what the texts of a group have added
}

const (
	// bayesSmall is what every word counts beside the texts that it is in, and bayesDoubt from how many on it is believed.
	bayesSmall = 0.5
	bayesLeast = 2 // a word of fewer texts says nothing
	bayesDoubt = 2
	// bayesMost bounds what one word says.
	bayesMost = 4
)

// newBayes counts the words of texts. A text counts once, however long it is.
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

// row fills out with what word w says for each class. With t, the texts of its group are left out: a text must not teach how
// far to trust what was counted in itself.
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
			n = max(0, n-own) // the texts of a group may differ in their class
		}
		in := (n + bayesSmall) / (b.totals[c] + room)
		rest := (max(0, sum-n) + bayesSmall) / (all - b.totals[c] + room)
		odds := float32(math.Log(float64(in / rest)))
		out[c] = min(bayesMost, max(-bayesMost, odds)) * sum / (sum + bayesDoubt)
	}
}

// sum adds up what the words of t say, times scale.
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

// join returns the vectors of v with what b says as further numbers, times scale.
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
