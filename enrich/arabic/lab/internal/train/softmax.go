// Package train learns the weights of the embedded model.
package train

import (
	"math"
	"math/rand/v2"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

// Example is a training text.
type Example struct {
	Blocks []feature.Block
	Label  int
	// Among, if set, says that Label was chosen from that many of the first classes: the others are not trained.
	Among  int
	Weight float32
}

// Softmax configures the training of a multinomial logistic regression over hashed features.
type Softmax struct {
	Classes int
	Bits    int // the table has 1<<Bits rows
	Epochs  int
	Rate    float32
	Seed    uint64
	// Drop is the share of the features of an example that is left out, different ones each time, so that the rest has to
	// carry the weight: rare words may be missing in new texts.
	Drop float32
	// Progress is called after each epoch with the mean loss.
	Progress func(epoch int, loss float64)
}

// Linear is a trained model before it is quantised.
type Linear struct {
	Classes int
	Bits    int
	W       []float32 // by row, Classes in each row
	Bias    []float32
}

// Fit trains with AdaGrad. The seed determines the order of the examples and of every addition, so the same examples
// give the same bits.
func (s Softmax) Fit(examples []Example) *Linear {
	k := s.Classes
	m := &Linear{Classes: k, Bits: s.Bits, W: make([]float32, k<<s.Bits), Bias: make([]float32, k)}
	g2 := make([]float32, k<<s.Bits)
	b2 := make([]float32, k)
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	p, grad, slope := make([]float32, k), make([]float32, k), make([]float32, k)
	mask := uint32(1)<<s.Bits - 1
	var thinned Example
	for epoch := range s.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss, total := 0.0, 0.0
		for _, i := range order {
			if examples[i].Weight == 0 {
				continue
			}
			e := s.thin(rng, &examples[i], &thinned)
			m.Scores(e, p)
			among := p
			if e.Among > 0 {
				among = p[:e.Among]
				clear(grad[e.Among:])
			}
			Normalize(among)
			total += float64(e.Weight)
			for c := range among {
				grad[c] = e.Weight * p[c]
			}
			grad[e.Label] -= e.Weight
			loss -= float64(e.Weight) * math.Log(float64(p[e.Label])+1e-9)
			for c := range k {
				b2[c] += grad[c] * grad[c]
				m.Bias[c] -= s.Rate * grad[c] / float32(math.Sqrt(float64(b2[c])+1e-6))
			}
			for _, b := range e.Blocks {
				for c := range slope {
					slope[c] = grad[c] * b.Value
				}
				for _, f := range b.Features {
					at := int(f&mask) * k
					w, g := m.W[at:at+k], g2[at:at+k]
					for c, d := range slope {
						g[c] += d * d
						w[c] -= s.Rate * d / float32(math.Sqrt(float64(g[c])+1e-6))
					}
				}
			}
		}
		if s.Progress != nil {
			s.Progress(epoch+1, loss/max(total, 1e-9))
		}
	}
	return m
}

// thin copies e to dst without the features that are dropped.
func (s Softmax) thin(rng *rand.Rand, e, dst *Example) *Example {
	if s.Drop == 0 {
		return e
	}
	blocks := dst.Blocks
	*dst = *e
	dst.Blocks = blocks[:0]
	cut := uint32(s.Drop * (1 << 16))
	for i, b := range e.Blocks {
		var kept []uint32
		if i < len(blocks) {
			kept = blocks[:i+1][i].Features[:0]
		}
		var bits uint64
		for j, f := range b.Features {
			if j%4 == 0 {
				bits = rng.Uint64()
			}
			if uint32(bits&0xFFFF) >= cut {
				kept = append(kept, f)
			}
			bits >>= 16
		}
		dst.Blocks = append(dst.Blocks, feature.Block{Features: kept, Value: b.Value / (1 - s.Drop)})
	}
	return dst
}

// Scores fills out with the scores of e, one for each class.
func (m *Linear) Scores(e *Example, out []float32) {
	copy(out, m.Bias)
	mask, k := uint32(1)<<m.Bits-1, m.Classes
	for _, b := range e.Blocks {
		var sum [weights.MaxClasses]float32
		for _, f := range b.Features {
			w := m.W[int(f&mask)*k:]
			w = w[:k]
			for c := range w {
				sum[c] += w[c]
			}
		}
		for c := range k {
			out[c] += sum[c] * b.Value
		}
	}
}

// Normalize converts scores to probabilities.
func Normalize(p []float32) {
	hi := p[0]
	for _, v := range p {
		hi = max(hi, v)
	}
	sum := float32(0)
	for i, v := range p {
		p[i] = float32(math.Exp(float64(v - hi)))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}
