package eval_test

import (
	"math"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/eval"
)

func TestReportCounts(t *testing.T) {
	t.Parallel()
	r := eval.NewReport("test")
	r.Add("a", "a", 0.9)
	r.Add("a", "b", 0.9)
	r.Add("b", "b", 0.9)
	r.Add("b", "b", 0.9)
	tests := []struct {
		name      string
		got, want float64
	}{
		{"accuracy", r.Accuracy(), 0.75},
		{"F1 of a", r.F1("a"), 2.0 / 3},
		{"F1 of b", r.F1("b"), 0.8},
		{"macro-F1", r.MacroF1(), (2.0/3 + 0.8) / 2},
		{"macro-F1 of one label", r.MacroF1("b"), 0.8},
		{"calibration error", r.ECE(), 0.15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if math.Abs(tt.got-tt.want) > 1e-9 {
				t.Errorf("%v, want %v", tt.got, tt.want)
			}
		})
	}
}
