package text

import "testing"

func TestClock(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]float64{"0:07": 7, "45:35": 2735, "1:02:03": 3723} {
		if got := Clock(s); got == nil || *got != want {
			t.Errorf("%q is %v, want %v", s, got, want)
		}
	}
	for _, s := range []string{"", "45", "1:60", "a:b", "1:2:3:4", "-1:00", "10 months ago"} {
		if got := Clock(s); got != nil {
			t.Errorf("%q is %v, want none", s, *got)
		}
	}
}
