package postgres

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// BenchmarkMove imports books of SOCIALDATA_BENCH_ENTRIES entries, exports them, and imports that into another schema,
// whose heads must be the same:
//
//	SOCIALDATA_BENCH_ENTRIES=1000000 go test -run '^$' -bench Move -benchtime 1x -timeout 1h ./postgres
func BenchmarkMove(b *testing.B) {
	n := 10_000
	if text := os.Getenv("SOCIALDATA_BENCH_ENTRIES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		made, moved := filepath.Join(b.TempDir(), "made.jsonl"), filepath.Join(b.TempDir(), "moved.jsonl")
		writeBooks(b, made, n)
		from, to := openDB(b, newSchema(b)), openDB(b, newSchema(b))
		importFile(b, from, made)
		out, err := os.Create(moved)
		if err != nil {
			b.Fatal(err)
		}
		measured(b, "export", func() error { return from.Export(b.Context(), out) })
		info, err := out.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "export-file-MB")
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
		measured(b, "import", func() error { importFile(b, to, moved); return nil })
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
		if err := auditOf(b.Context(), to); err != nil {
			b.Errorf("audit: %v", err)
		}
	}
	b.ReportMetric(0, "ns/op") // of several things together: not useful
}

func importFile(b *testing.B, db *DB, path string) {
	b.Helper()
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // only read
	if err := db.Import(b.Context(), in); err != nil {
		b.Fatal(err)
	}
}

// writeBooks writes an export of n entries, in proved chains, of one account for a hundred entries.
func writeBooks(b *testing.B, path string, n int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	buffered := bufio.NewWriter(f)
	out, err := bookkeeping.NewWriter(buffered)
	if err != nil {
		b.Fatal(err)
	}
	random, now := rand.New(rand.NewPCG(1, 2)), time.Now().UTC().Truncate(time.Microsecond)
	id := func(i int) string { return fmt.Sprintf("acct_%026d", i) }
	last := make([]credits.Entry, max(1, n/100))
	for i := range last {
		if err := out.Account(keys.Account{ID: id(i), Name: fmt.Sprint("account ", i), CreatedAt: now}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range n {
		k := i // each account begins with a grant
		if k >= len(last) {
			k = random.IntN(len(last))
		}
		e := credits.Entry{Account: id(k), Kind: credits.Granted, Amount: 1_000_000_000, Reason: "to start with", At: now}
		if i != k {
			e.Kind, e.Amount, e.Reason, e.Cache, e.Operation, e.Platform = credits.Charged, -1, "", "MISS", "profile", "github"
			e.RequestID, e.Hold, e.Key = fmt.Sprintf("req_%020d", i), fmt.Sprintf("hold_%020d", i), fmt.Sprintf("key_%020d", k)
		}
		last[k] = e.Next(last[k])
		if err := out.Entry(last[k]); err != nil {
			b.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	if err := buffered.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// measured reports how long something takes, and the most heap that is in use meanwhile.
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
