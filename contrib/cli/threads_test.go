package cli

import (
	"os"
	"runtime"
	"testing"
)

func TestAnOperatorDecidesHowManyThreadsRun(t *testing.T) { //nolint:paralleltest // the number is that of the process
	for set, more := range map[bool]int{false: spare, true: 0} {
		t.Setenv("GOMAXPROCS", "2") // which the runtime has read already; restored when the test ends
		if !set {
			_ = os.Unsetenv("GOMAXPROCS")
		}
		before := runtime.GOMAXPROCS(0)
		addSpare()
		if got := runtime.GOMAXPROCS(before); got != before+more {
			t.Errorf("with GOMAXPROCS set %t: %d threads, want %d", set, got, before+more)
		}
	}
}
