package weights_test

import (
	"math"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
)

func TestTaggedModelKnowsItsFeaturesOnly(t *testing.T) {
	t.Parallel()
	const rows, known = 10, 0xC0FFEE42
	row, tag := weights.Place(known, rows)
	tags, w := make([]byte, rows), make([]float32, 3*rows)
	tags[row] = tag
	copy(w[3*row:], []float32{3, 1, 2})
	m, err := weights.OpenLinear(string(weights.AppendTagged(nil, tags, w, []float32{0, 0, 0})))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		feature uint32
		want    [3]float32 // the last class is subtracted from the others
	}{
		{"known", known, [3]float32{1, -1, 0}},
		{"unknown in the same row", known + 1, [3]float32{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := make([]float32, 3)
			m.Scores([]feature.Block{{Features: []uint32{tt.feature}, Value: 1}}, out)
			for c, want := range tt.want {
				if math.Abs(float64(out[c]-want)) > 0.01 {
					t.Errorf("score of class %d is %v, want %v", c, out[c], want)
				}
			}
		})
	}
}
