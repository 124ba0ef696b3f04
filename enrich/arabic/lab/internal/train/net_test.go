package train_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/internal/mixed"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
)

// mixExamples returns texts of which the mixed ones have a larger first input at every cut.
func mixExamples(n int) []train.MixExample {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]train.MixExample, n)
	for i := range data {
		e := &data[i]
		e.Mixed, e.Weight = i%2 == 0, 1
		for c := range e.In.Cuts {
			for j := range e.In.Cuts[c] {
				e.In.Cuts[c][j] = float32(rng.NormFloat64())
			}
			if e.Mixed {
				e.In.Cuts[c][0]++
			}
		}
		for j := range e.In.Text {
			e.In.Text[j] = float32(rng.NormFloat64())
		}
	}
	return data
}

func TestBackwardIsTheSlopeOfTheLoss(t *testing.T) {
	t.Parallel()
	data := mixExamples(20)
	n := train.FitNet(data, 1, 1, func(int, float64) {})
	gradient, scratch := &mixed.Net{}, &mixed.Net{}
	for i := range data {
		train.Backward(n, gradient, &data[i])
	}
	loss := func() float64 {
		sum := 0.0
		for i := range data {
			sum += train.Backward(n, scratch, &data[i])
		}
		return sum
	}
	var want []float64
	gradient.Each(func(v *float32) { want = append(want, float64(*v)) })
	i := 0
	// A unit that a step switches on or off bends the loss, so a few slopes may differ.
	far := 0
	n.Each(func(v *float32) {
		const step = 1e-3
		was := *v
		*v = was + step
		up := loss()
		*v = was - step
		down := loss()
		*v = was
		if slope := (up - down) / (2 * step); math.Abs(slope-want[i]) > 0.05*(1+math.Abs(slope)) {
			far++
		}
		i++
	})
	if far > i/100 {
		t.Errorf("%d of %d slopes differ from the gradient", far, i)
	}
}

func TestFitNetLearns(t *testing.T) {
	t.Parallel()
	data := mixExamples(4000)
	n := train.FitNet(data[:3000], 1, 8, func(int, float64) {})
	right := 0
	for i := range data[3000:] {
		e := &data[3000+i]
		if (n.Score(&e.In) > 0) == e.Mixed {
			right++
		}
	}
	if right < 850 {
		t.Errorf("%d of 1000 texts right, want 850", right)
	}
	again, err := mixed.OpenNet(string(n.Append(nil)))
	if err != nil || *again != *n {
		t.Errorf("the net read back differs, error %v", err)
	}
}
