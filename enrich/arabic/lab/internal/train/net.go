package train

import (
	"math"
	"math/rand/v2"

	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
)

// MixExample is a training text for the detector of two varieties.
type MixExample struct {
	In     mixed.Input
	Mixed  bool
	Weight float32
}

const (
	netRate  = 0.003
	netBatch = 128
)

// FitNet trains the detector with Adam; the learning rate falls linearly to zero.
func FitNet(data []MixExample, seed uint64, epochs int, progress func(epoch int, loss float64)) *mixed.Net {
	rng := rand.New(rand.NewPCG(seed, 4))
	n, g := newNet(rng), &mixed.Net{}
	a := newAdam(n, g)
	order := rng.Perm(len(data))
	steps := float32(max(1, epochs*((len(data)+netBatch-1)/netBatch)))
	step := 0
	for epoch := range epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for at := 0; at < len(order); at += netBatch {
			batch := order[at:min(len(order), at+netBatch)]
			for _, i := range batch {
				loss += Backward(n, g, &data[i])
			}
			a.step(netRate*(1-float32(step)/steps), len(batch))
			step++
		}
		progress(epoch+1, loss/max(1, float64(len(data))))
	}
	return n
}

// newNet returns a net with small weights.
func newNet(rng *rand.Rand) *mixed.Net {
	n := &mixed.Net{}
	fill := func(row []float32, inputs int) {
		width := 1 / math.Sqrt(float64(inputs))
		for i := range row {
			row[i] = float32(width * (2*rng.Float64() - 1))
		}
	}
	for j := range n.Cut {
		fill(n.Cut[j][:], mixed.CutInputs+mixed.TextInputs)
		fill(n.Text[j][:], mixed.CutInputs+mixed.TextInputs)
	}
	fill(n.Vote[:], mixed.Hidden)
	for k := range n.Judge {
		fill(n.Judge[k][:], mixed.Pooled)
	}
	fill(n.Out[:], mixed.Judges)
	return n
}

// Backward adds the gradient of the loss of e to g and returns the loss.
func Backward(n, g *mixed.Net, e *MixExample) float64 {
	var s mixed.State
	p := 1 / (1 + math.Exp(-float64(n.Activate(&e.In, &s))))
	want := 0.0
	if e.Mixed {
		want = 1
	}
	d := e.Weight * float32(p-want)
	var pooled [mixed.Pooled]float32 // the gradient of the judges' inputs
	g.Out[mixed.Judges] += d
	for k, v := range s.Judges {
		if v <= 0 {
			continue
		}
		g.Out[k] += d * v
		dk := d * n.Out[k]
		for i := range pooled {
			g.Judge[k][i] += dk * s.Pooled[i]
			pooled[i] += dk * n.Judge[k][i]
		}
	}
	vote := d + mixed.VoteUnit*pooled[mixed.PooledVote]
	for c := range s.Hidden {
		dv := vote * s.Votes[c]
		g.Vote[mixed.Hidden] += dv
		for j, v := range s.Hidden[c] {
			if v <= 0 {
				continue
			}
			g.Vote[j] += dv * v
			dj := dv*n.Vote[j] + pooled[j]/mixed.Cuts
			if s.Top[j] == c {
				dj += pooled[mixed.Hidden+j]
			}
			g.Bias[j] += dj
			for i, x := range e.In.Cuts[c] {
				g.Cut[j][i] += dj * x
			}
			for i, x := range e.In.Text {
				g.Text[j][i] += dj * x
			}
		}
	}
	return -float64(e.Weight) * math.Log(math.Abs(1-want-p)+1e-9)
}

// adam holds the means of the gradients and of their squares.
type adam struct {
	weights, gradients []*float32
	mean, square       []float32
	beta1, beta2       float64 // powers of the decay rates
}

// The decay rates that the authors of Adam recommend.
const (
	adamMean   = 0.9
	adamSquare = 0.999
)

func newAdam(n, g *mixed.Net) *adam {
	a := &adam{beta1: 1, beta2: 1}
	n.Each(func(v *float32) { a.weights = append(a.weights, v) })
	g.Each(func(v *float32) { a.gradients = append(a.gradients, v) })
	a.mean, a.square = make([]float32, len(a.weights)), make([]float32, len(a.weights))
	return a
}

// step moves the weights against the gradients of a batch and clears these.
func (a *adam) step(rate float32, batch int) {
	a.beta1 *= adamMean
	a.beta2 *= adamSquare
	rate *= float32(math.Sqrt(1-a.beta2) / (1 - a.beta1))
	for i, g := range a.gradients {
		d := *g / float32(batch)
		*g = 0
		a.mean[i] += (1 - adamMean) * (d - a.mean[i])
		a.square[i] += (1 - adamSquare) * (d*d - a.square[i])
		*a.weights[i] -= rate * a.mean[i] / (float32(math.Sqrt(float64(a.square[i]))) + 1e-8)
	}
}
