package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// spacious is how large a heap with its stacks may become, at least, before the collector runs again.
	spacious = 100 << 20
	// growth is how much it may grow, at least.
	growth = 40 << 20
	// mostPercent limits how often a small heap is multiplied, so that a heap that grows soon has another limit.
	mostPercent = 1600
)

// relaxCollector lets the collector run less often while the heap is small: the heap of a server that answers from its cache is
// some 20 MB, which it allocates several times a second under load. With a thousand connections it is some 70 MB with
// its stacks: if that could double, as is usual, the memory in use after a million requests would be 1.4 times that
// after ten thousand (go run ./examples/load --requests 1000000 --wide 1024). An operator who sets GOGC or GOMEMLIMIT
// decides instead.
func relaxCollector() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return
		}
	}
	percent := 100 // the default
	var again func(struct{})
	again = func(struct{}) {
		if p := percentFor(scanned()); p < percent*9/10 || p > percent*11/10 { // it stops the world for a moment
			percent = p
			debug.SetGCPercent(p)
		}
		runtime.AddCleanup(new(unused), again, struct{}{})
	}
	again(struct{}{})
}

// unused is an object that nothing refers to, so that its clean-up comes after the next run of the collector.
type unused struct{ _ [16]byte }

// percentFor returns the percentage by which the heap may grow when the collector scans that many bytes: it may grow to
// [spacious], by [growth], or by its own size less [growth], whichever is the most.
func percentFor(scanned int64) int {
	room := max(spacious-scanned, growth, scanned-growth)
	return int(min(mostPercent, room*100/max(scanned, 1)))
}

// scanned returns what GOGC is a percentage of, in bytes: what the last run of the collector has found in use on the
// heap, and the stacks and globals, which it scans as well. https://go.dev/doc/gc-guide#GOGC
func scanned() (sum int64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += int64(s.Value.Uint64())
	}
	return sum
}
