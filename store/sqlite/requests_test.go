package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/requests/requeststest"
	"github.com/socialdata/socialdata/store/sqlite"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	requeststest.Run(t, func(t *testing.T) requests.Store {
		t.Helper()
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "data.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db.Requests()
	})
}

// BenchmarkRequests adds requests as a busy server does, and reports the cost of one.
func BenchmarkRequests(b *testing.B) {
	db, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "data.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	batch := make([]requests.Request, requests.AtOnce)
	for i := range batch {
		batch[i] = requests.Request{
			At: time.Now(), ID: "req_06H0CD9PONPJR937FV5B4UAGKO", Account: "acct_iKzHK49Shk6iek7rTwRv",
			Key:       "key_2JeHcT2s03kwHhbw67BG",
			Operation: "profile", Platform: "mock", Cache: "HIT", Status: 200, Credits: 1,
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
