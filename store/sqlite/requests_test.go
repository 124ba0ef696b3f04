package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/requests/requeststest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	requeststest.Run(t, func(t *testing.T) requests.Store {
		t.Helper()
		return openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")}).Requests()
	})
}

// BenchmarkRequests adds requests as a busy server does, and reports the cost of one.
func BenchmarkRequests(b *testing.B) {
	db := openDB(b, Config{Path: filepath.Join(b.TempDir(), "test.db")})
	batch := make([]requests.Request, requests.AtOnce)
	for i := range batch {
		batch[i] = requests.Request{
			At: time.Now(), ID: "req_06H0CD9PONPJR937FV5B4UAGKO", Account: "acct_iKzHK49Shk6iek7rTwRv",
			Key: "key_2JeHcT2s03kwHhbw67BG", Operation: "profile", Platform: "mock", Cache: "HIT", Status: 200, Credits: 1,
			Took: time.Duration(i) * time.Microsecond,
		}
	}
	for b.Loop() {
		counted := requests.Tallies{}
		for i := range batch {
			counted.Count(&batch[i])
		}
		if err := db.Requests().Add(b.Context(), batch, counted.List()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/requests.AtOnce, "ns/request")
}
