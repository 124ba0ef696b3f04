package mixed

import (
	"math"
	"testing"
)

func TestExp(t *testing.T) {
	t.Parallel()
	for x := float32(0); x > -25; x -= 0.01 {
		got, want := float64(exp(x)), math.Exp(float64(x))
		if math.Abs(got-want) > 1e-5*want+1e-9 {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := exp(float32(math.Inf(-1))); got != 0 {
		t.Errorf("exp of minus infinity: %v", got)
	}
}
