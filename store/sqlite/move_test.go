package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"
	"time"
)

// BenchmarkMove exports a file and imports that into an empty one. It reports the seconds and the maximum heap in use,
// and checks that the heads of all accounts are equal. SOCIALDATA_BENCH_ENTRIES sets the number of entries, 10,000 by
// default.
func BenchmarkMove(b *testing.B) {
	n := benchNumber(b, "SOCIALDATA_BENCH_ENTRIES", 10_000)
	from := openSized(b, filepath.Join(b.TempDir(), "from.db"), Config{},
		sizes{entries: n, keys: n / 10, accounts: n / 100}, 1).db
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "export.jsonl")
		out, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		measured(b, "export", func() error { return from.Export(b.Context(), out) })
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		info, err := in.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "export-file-MB")
		to := openDB(b, Config{Path: filepath.Join(b.TempDir(), "to.db")})
		measured(b, "import", func() error { return to.Import(b.Context(), in) })
		if err := in.Close(); err != nil {
			b.Fatal(err)
		}
		var before, after bytes.Buffer
		if err := from.Heads(b.Context(), &before); err != nil {
			b.Fatal(err)
		}
		if err := to.Heads(b.Context(), &after); err != nil {
			b.Fatal(err)
		}
		if !bytes.Equal(before.Bytes(), after.Bytes()) {
			b.Error("the heads of the import are others")
		}
		wantAudit(b, to)
	}
	b.ReportMetric(0, "ns/op") // of several measurements: it would mean nothing
}

// measured reports how long do takes, and the maximum heap in use meanwhile.
func measured(b *testing.B, what string, do func() error) {
	b.Helper()
	stop, most := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for peak := 0.0; ; {
			metrics.Read(heap)
			peak = max(peak, float64(heap[0].Value.Uint64())/1e6)
			select {
			case <-stop:
				most <- peak
				return
			case <-tick.C:
			}
		}
	}()
	start := time.Now()
	err := do()
	took := time.Since(start)
	close(stop)
	b.ReportMetric(took.Seconds(), what+"-s")
	b.ReportMetric(<-most, what+"-heap-MB")
	if err != nil {
		b.Fatal(err)
	}
}
