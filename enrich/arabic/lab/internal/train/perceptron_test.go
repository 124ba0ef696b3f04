package train

import (
	"math"
	"testing"
)

func TestTaggerHidesItsShareOfTheFeatures(t *testing.T) {
	t.Parallel()
	for _, drop := range []float64{0, 0.4} {
		g := tagger{drop: uint32(drop * math.MaxUint32)}
		hidden, n := 0, 0
		for g.step = 1; g.step <= 50; g.step++ {
			for f := range uint32(1000) {
				n++
				if !g.kept(f * 0x9E3779B1) {
					hidden++
				}
			}
		}
		if share := float64(hidden) / float64(n); math.Abs(share-drop) > 0.01 {
			t.Errorf("%.3f of the features are hidden, want %.3f", share, drop)
		}
	}
}
