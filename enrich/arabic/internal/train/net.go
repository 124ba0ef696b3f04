package train

import (
	"math"
	"math/rand/v2"

	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
)

// MixExample is a text to learn the detector of two varieties from.
type MixExample struct {
	In    [mixed.Inputs]float32
	Mixed bool
}

const (
	netRate  = 0.02
	netDecay = 1e-4
)

// FitNet trains the detector with AdaGrad.
func FitNet(data []MixExample, seed uint64, epochs int, progress func(epoch int, loss float64)) *mixed.Net {
	rng := rand.New(rand.NewPCG(seed, 4))
	n, g2 := &mixed.Net{}, &mixed.Net{}
	standardize(n, data)
	for j := range n.In {
		for i := range n.In[j] {
			n.In[j][i] = float32(rng.NormFloat64() * 0.2)
		}
		n.Out[j] = float32(rng.NormFloat64() * 0.2)
	}
	step := func(w, g *float32, d float32) {
		d += netDecay * *w
		*g += d * d
		*w -= netRate * d / float32(math.Sqrt(float64(*g)+1e-6))
	}
	order := rng.Perm(len(data))
	for epoch := range epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for _, i := range order {
			e := &data[i]
			var h [mixed.Hidden]float32
			p := 1 / (1 + math.Exp(-float64(n.Activate(&e.In, &h))))
			want := 0.0
			if e.Mixed {
				want = 1
			}
			loss -= math.Log(math.Abs(1-want-p) + 1e-9)
			d := float32(p - want)
			for j := range h {
				dh := d * n.Out[j] * (1 - h[j]*h[j])
				step(&n.Out[j], &g2.Out[j], d*h[j])
				for i, x := range e.In {
					step(&n.In[j][i], &g2.In[j][i], dh*(x-n.Mean[i])*n.Dev[i])
				}
				step(&n.In[j][mixed.Inputs], &g2.In[j][mixed.Inputs], dh)
			}
			step(&n.Out[mixed.Hidden], &g2.Out[mixed.Hidden], d)
		}
		progress(epoch+1, loss/max(1, float64(len(data))))
	}
	return n
}

// standardize sets the mean and the inverse deviation of each input.
func standardize(n *mixed.Net, data []MixExample) {
	var sum, square [mixed.Inputs]float64
	for i := range data {
		for j, x := range data[i].In {
			sum[j] += float64(x)
			square[j] += float64(x) * float64(x)
		}
	}
	count := max(1, float64(len(data)))
	for j := range sum {
		mean := sum[j] / count
		n.Mean[j] = float32(mean)
		n.Dev[j] = float32(1 / math.Sqrt(max(1e-4, square[j]/count-mean*mean)))
	}
}
