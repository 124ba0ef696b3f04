package testsize

import "testing"

func TestSizeFullChoosesTheFullSize(t *testing.T) {
	for size, want := range map[string]int{"": 1, "full": 2, "FULL": 1} {
		t.Setenv("SIZE", size)
		if got := Of(1, 2); got != want {
			t.Errorf("SIZE=%s: %d, want %d", size, got, want)
		}
	}
}
