package sqlite

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkSustained charges 1,000 accounts at a steady rate, and compares how long a charge takes in the first tenth
// of the time with the slowest of the other tenths. It reports the maximum number of entries that were not folded.
//
// SOCIALDATA_BENCH_SECONDS sets the duration (2 by default), and SOCIALDATA_BENCH_RATE how many charges a second all
// callers together attempt (5,000 by default).
func BenchmarkSustained(b *testing.B) {
	const accounts, parts = 1000, 10
	rate := benchNumber(b, "SOCIALDATA_BENCH_RATE", 5000)
	length := time.Duration(benchNumber(b, "SOCIALDATA_BENCH_SECONDS", 2)) * time.Second
	g := newGroup(b, accounts, 0)
	for b.Loop() {
		var mu sync.Mutex
		var took [parts][]time.Duration
		var longest atomic.Int64
		var wg sync.WaitGroup
		start := time.Now()
		for caller := range callers {
			wg.Go(func() {
				var mine [parts][]time.Duration
				for i := caller; ; i += callers {
					time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
					before := time.Now()
					part := int(before.Sub(start) * parts / length)
					if part >= parts {
						break
					}
					if err := g.charge(b, g.who[i*7919%accounts]); err != nil {
						b.Error(err)
						break
					}
					mine[part] = append(mine[part], time.Since(before))
				}
				mu.Lock()
				defer mu.Unlock()
				for part := range mine {
					took[part] = append(took[part], mine[part]...)
				}
			})
		}
		wg.Go(func() {
			for time.Since(start) < length {
				longest.Store(max(longest.Load(), int64(inJournal(b, g.db))))
				time.Sleep(length / 1000)
			}
		})
		wg.Wait()
		total, p50, p99 := 0, [parts]float64{}, [parts]float64{}
		for part, each := range took {
			slices.Sort(each)
			total += len(each)
			p50[part], p99[part] = millis(each[len(each)/2]), millis(each[len(each)*99/100])
		}
		b.Logf("p50 of each tenth: %v ms; p99: %v ms", p50, p99)
		b.ReportMetric(0, "ns/op") // it would only report the configured duration
		b.ReportMetric(float64(total)/length.Seconds(), "charges/s")
		b.ReportMetric(p99[0], "first-p99-ms")
		b.ReportMetric(median(p99[1:]), "median-p99-ms")
		b.ReportMetric(slices.Max(p99[1:]), "worst-p99-ms")
		b.ReportMetric(median(p99[1:])/p99[0], "x-first")
		b.ReportMetric(float64(longest.Load()), "not-folded")
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// benchNumber returns the number in an environment variable, or n.
func benchNumber(b *testing.B, name string, n int) int {
	b.Helper()
	if s := os.Getenv(name); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return n
}
