package cli

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// erasedFrom returns how many megabytes are stored before an erasure: SOCIALDATA_ERASE_MB, or 2.
func erasedFrom() int { return benchSize("SOCIALDATA_ERASE_MB", 2) }

// BenchmarkErase erases someone from a store full of records, one in a hundred of which contains them, beside callers
// who pay: it reports how long that takes, and in what time 99 of 100 calls were answered before it and during it.
func BenchmarkErase(b *testing.B) {
	b.Run("a file", func(b *testing.B) {
		benchErase(b, commandLine{DB: filepath.Join(b.TempDir(), "t.db")})
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		dsn := newDatabase(b)
		benchErase(b, commandLine{Postgres: dsn})
	})
}

func benchErase(b *testing.B, at commandLine) {
	b.Helper()
	db := benchStore(b, at)
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(db.Ledger()),
		socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()),
		socialdata.WithErasures(db.Blocklist(), db.erasers()...), socialdata.WithRate(keys.Rate{Capacity: 1e6, Refill: 1e6}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close(b.Context()) })
	caller := client.As(benchAccounts(b, db, 1)[0])
	secret, err := db.Blocklist().Secret(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		who := fmt.Sprint("subject", round)
		fillRecords(b, db, privacy.NewHasher(secret), who)
		before := payWhile(b, caller, func() { time.Sleep(time.Second) })
		var took time.Duration
		during := payWhile(b, caller, func() {
			b.StartTimer()
			begun := time.Now()
			got, err := client.Operator().Erase(b.Context(), schema.EraseRequest{Platform: platform.Mock, Handle: who})
			took = time.Since(begun)
			b.StopTimer()
			if err != nil || got.Removed["jobs"] == 0 {
				b.Error(got.Removed, err)
			}
		})
		b.ReportMetric(float64(erasedFrom()), "MB")
		b.ReportMetric(took.Seconds(), "s/erasure")
		b.ReportMetric(float64(before)/1e6, "ms-p99-before")
		b.ReportMetric(float64(during)/1e6, "ms-p99-during")
		b.StartTimer()
	}
}

// fillRecords writes records of 16 KB that compress no further.
func fillRecords(b *testing.B, db *store, h *privacy.Hasher, who string) {
	b.Helper()
	const size = 16 << 10
	numbers := make(chan int)
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			value := make([]byte, size)
			for i := range numbers {
				handle := fmt.Sprint("someone", i)
				if i%100 == 0 {
					handle = who
				}
				_, _ = rand.Read(value)
				marks := h.Marks([]byte(fmt.Sprintf(`{"platform":"mock","id":"%d","handle":%q}`, i, handle)))
				_, err := db.Records().Put(b.Context(), records.Record{
					Key: records.Key("job", fmt.Sprint(i)), Value: append([]byte{0}, value...), Subjects: marks,
				}, 24*time.Hour)
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range erasedFrom() << 20 / size {
		numbers <- i
	}
	close(numbers)
	work.Wait()
}

// payWhile returns the time in which 99 of 100 paid calls were answered while do ran.
func payWhile(b *testing.B, caller *socialdata.Client, do func()) time.Duration {
	b.Helper()
	done := make(chan struct{})
	var mu sync.Mutex
	var all []time.Duration
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for {
				begun := time.Now()
				if _, err := caller.Profile(b.Context(), socialdata.ProfileRequest{
					Platform: platform.Mock, Handle: "ann",
				}); err != nil {
					b.Error(err)
				}
				mu.Lock()
				all = append(all, time.Since(begun))
				mu.Unlock()
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond): // a rate that leaves the machine room
				}
			}
		})
	}
	do()
	close(done)
	work.Wait()
	slices.Sort(all)
	return all[len(all)*99/100]
}
