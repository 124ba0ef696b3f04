package tables_test

import (
	"runtime"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/tables"
)

// TestCountingKeepsNoRows counts 100,000 rows, or 1,000,000 with SIZE=full, and compares the heap during the query with
// that before it.
func TestCountingKeepsNoRows(t *testing.T) {
	pages := testsize.Of(1000, 10_000)
	var before, during runtime.MemStats
	client, err := socialdata.New(socialdata.WithProviders(series(pages, endless)),
		socialdata.WithCache(cache.NewMemory(cache.MemoryConfig{Bytes: 1 << 20})))
	if err != nil {
		t.Fatal(err)
	}
	a := askOver(t, tables.Config{MaxCredits: 1 << 40}, client)
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	n := 0
	a.after = func() {
		if n++; n%(pages/10) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&during)
			most = max(most, during.HeapAlloc)
		}
		a.calls = nil
	}
	rows, err := a.rows(t.Context(), "SELECT count(*) FROM posts WHERE platform = 'github' AND handle = 'ann'")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s rows, at most %d KB more", rows[0], (int64(most)-int64(before.HeapAlloc))>>10)
	if int64(most)-int64(before.HeapAlloc) > 20<<20 {
		t.Errorf("%s rows take %d MB", rows[0], (most-before.HeapAlloc)>>20)
	}
}
