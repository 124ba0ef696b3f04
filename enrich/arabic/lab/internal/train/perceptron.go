package train

import (
	"math"
	"math/rand/v2"

	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Tagged is a sequence with its tags.
type Tagged struct {
	Seq  *ner.Seq
	Tags []uint8
}

// Perceptron configures the training of an averaged perceptron over tag sequences.
type Perceptron struct {
	Bits   int
	Epochs int
	Seed   uint64
	// Drop is the share of the features of a sequence that is left out, different ones each time, so that the tagger
	// cannot rely on a name alone and learns its context.
	Drop float64
	// Runs is the number of perceptrons, each with its own order of the sequences, whose weights are averaged.
	Runs int
	// Progress is called after each epoch with the share of wrong sequences.
	Progress func(epoch int, wrong float64)
}

// tagger is a perceptron in training.
type tagger struct {
	w, sum         []int32 // weights, and the weights times the step at which they changed
	mask           uint32
	trans, transAv ner.Transitions
	step           int32
	drop           uint32 // features with a smaller hash are left out
}

// kept reports whether feature f is used in this step.
func (t *tagger) kept(f uint32) bool {
	h := (f ^ uint32(t.step)*0x9E3779B1) * 0x85EBCA6B
	return (h^h>>15)*0xC2B2AE35 >= t.drop
}

// Tags implements [ner.Scorer].
func (t *tagger) Tags(features []uint32, sums *weights.Sums) {
	for _, f := range features {
		if !t.kept(f) {
			continue
		}
		row := t.w[int(f&t.mask)*ner.NumTags:]
		row = row[:ner.NumTags]
		for c, v := range row {
			sums[c] += v
		}
	}
}

// Fit trains and returns the section of the model file.
func (p Perceptron) Fit(data []Tagged) []byte {
	w := make([]float32, ner.NumTags<<p.Bits)
	var trans [ner.NumTags + 1][ner.NumTags]float64
	for run := range p.Runs {
		t := p.run(data, p.Seed+uint64(run))
		n := float64(t.step) * float64(p.Runs)
		for i := range w {
			// All features count at once now.
			w[i] += float32((1 - p.Drop) * (float64(t.w[i])*float64(t.step) - float64(t.sum[i])) / n)
		}
		for a := range trans {
			for b := range trans[a] {
				trans[a][b] += (float64(t.trans[a][b])*float64(t.step) - float64(t.transAv[a][b])) / n
			}
		}
	}
	linear, unit := weights.AppendShared(nil, p.Bits, w, make([]float32, ner.NumTags))
	var q ner.Transitions
	for a := range q {
		for b := range q[a] {
			score := trans[a][b]
			q[a][b] = int32(math.Round(score / float64(unit)))
		}
	}
	return ner.Append(nil, &q, linear)
}

func (p Perceptron) run(data []Tagged, seed uint64) *tagger {
	t := &tagger{
		w: make([]int32, ner.NumTags<<p.Bits), sum: make([]int32, ner.NumTags<<p.Bits), mask: 1<<p.Bits - 1, step: 1,
		drop: uint32(p.Drop * math.MaxUint32),
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	order := rng.Perm(len(data))
	var tags []uint8
	for epoch := range p.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		wrong := 0
		for _, i := range order {
			tags = data[i].Seq.Decode(t, &t.trans, [2]int32{}, tags)
			if t.learn(&data[i], tags) {
				wrong++
			}
			t.step++
		}
		if p.Progress != nil {
			p.Progress(epoch+1, float64(wrong)/float64(len(data)))
		}
	}
	return t
}

// learn moves the weights from the predicted tags to the right ones. It reports whether they differed.
func (t *tagger) learn(d *Tagged, got []uint8) bool {
	wrong := false
	prevWant, prevGot := ner.NumTags, ner.NumTags
	for i, want := range d.Tags {
		g := got[i]
		if g != want {
			wrong = true
			for _, f := range d.Seq.Features(i) {
				if !t.kept(f) {
					continue
				}
				at := int(f&t.mask) * ner.NumTags
				t.w[at+int(want)]++
				t.sum[at+int(want)] += t.step
				t.w[at+int(g)]--
				t.sum[at+int(g)] -= t.step
			}
		}
		if g != want || prevGot != prevWant {
			t.trans[prevWant][want]++
			t.transAv[prevWant][want] += t.step
			t.trans[prevGot][g]--
			t.transAv[prevGot][g] -= t.step
		}
		prevWant, prevGot = int(want), int(g)
	}
	return wrong
}
