package bulk

import (
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/internal/testsize"
)

// TestRate logs how many lines a second are worked when reading them takes no time, by one and by three processes.
func TestRate(t *testing.T) {
	testsize.NoRace(t)
	if testing.Short() {
		t.Skip("only measures")
	}
	n := testsize.Of(3000, 60_000)
	for _, processes := range []int{1, 3} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			onEach(t, Config{}, processes, func(t *testing.T, s []*Service) {
				t.Helper()
				start(t, s[0], n)
				begun := time.Now()
				for _, each := range s {
					bulktest.Work(t, each, &bulktest.Worker{})
				}
				untilDone(t, s[0])
				t.Logf("%.0f lines a second", float64(n)/time.Since(begun).Seconds())
			})
		})
	}
}
