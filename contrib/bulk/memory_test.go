package bulk

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/platform"
)

// TestAcceptingUsesLittleMemory starts a job of 1,000,000 lines with SIZE=full, and else of fewer. Its lines are of many
// operations, with long parameters now and then.
func TestAcceptingUsesLittleMemory(t *testing.T) {
	testsize.NoRace(t)
	const mostBytes = 100 << 20
	n := testsize.Of(50_000, 1_000_000)
	onEach(t, Config{}, 1, func(t *testing.T, s []*Service) {
		t.Helper()
		long, err := json.Marshal(map[string]string{"q": fmt.Sprintf("%060000d", 1)})
		if err != nil {
			t.Fatal(err)
		}
		most := uint64(0)
		lines := func(yield func(bulkjob.Line, error) bool) {
			var m runtime.MemStats
			for i := range n {
				line := bulkjob.Line{
					Number: int64(i + 1), Platform: platform.GitHub, Operation: fmt.Sprint("operation", i%200),
					Params: json.RawMessage(fmt.Sprintf(`{"handle":"person%d"}`, i)), Key: fmt.Sprint("person", i),
					Least: 1, Most: 1, Together: 100,
				}
				if i%500 == 0 {
					line.Params = long
				}
				if i%5000 == 0 {
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc)
				}
				if !yield(line, nil) {
					return
				}
			}
		}
		begun := time.Now()
		j, _, err := s[0].Start(t.Context(), bulkjob.Job{Account: "acct", Name: "nightly"}, lines, noSum)
		if err != nil || j.Lines != int64(n) {
			t.Fatalf("Start = %+v, %v", j, err)
		}
		t.Logf("%d lines in %v, at most %d MB on the heap, %d bytes a line in the table", n, time.Since(begun), most>>20,
			number(t, s[0], "SELECT CAST(sum(length(lines)) AS BIGINT) FROM @bulk_chunks")/int64(n))
		if most > mostBytes {
			t.Errorf("%d MB on the heap; want at most %d", most>>20, mostBytes>>20)
		}
	})
}
