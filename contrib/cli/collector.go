package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// spacious is how much the heap of a server may grow, at least, between two runs of the collector.
	spacious = 64 << 20
	// usualPercent is the default of GOGC: the heap may double.
	usualPercent = 100
	// mostPercent limits how often a small heap is multiplied, so that a heap that grows soon has another limit.
	mostPercent = 1600
)

// roomy lets the collector run less often while the heap is small: the heap of a server that answers from its cache is
// some 20 MB, which it allocates several times a second under load. A heap of more than [spacious] is collected as
// usual. An operator who sets GOGC or GOMEMLIMIT decides instead.
func roomy() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return
		}
	}
	percent := usualPercent
	var again func(struct{})
	again = func(struct{}) {
		if p := percentFor(liveHeap()); p < percent*9/10 || p > percent*11/10 { // it stops the world for a moment
			percent = p
			debug.SetGCPercent(p)
		}
		runtime.AddCleanup(new(unused), again, struct{}{})
	}
	again(struct{}{})
}

// unused is an object that nothing refers to, so that its clean-up comes after the next run of the collector.
type unused struct{ _ [16]byte }

// percentFor returns the percentage by which a heap may grow.
func percentFor(live uint64) int {
	return int(min(mostPercent, max(usualPercent, spacious*100/max(live, 1))))
}

// liveHeap returns how many bytes the last run of the collector has found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
