package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
)

// TestReadsAreRepeatedWhenTheirConnectionBreaks cuts every connection before an answer arrives.
func TestReadsAreRepeatedWhenTheirConnectionBreaks(t *testing.T) {
	t.Parallel()
	cfg, proxy := throughProxy(t, newSchema(t))
	cfg.FlushEvery, cfg.checkEvery = time.Hour, time.Hour
	db := openDB(t, cfg)
	k := addKey(t, db)
	if _, err := db.Records().Put(t.Context(), records.Record{Key: "job/1", Value: []byte("found")},
		time.Hour); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(ctx context.Context) error{
		"a balance": func(ctx context.Context) error { _, err := db.Ledger().Balance(ctx, "acct"); return err },
		"entries": func(ctx context.Context) error {
			_, err := db.Ledger().Entries(ctx, credits.Query{Account: "acct"})
			return err
		},
		"a record": func(ctx context.Context) error { _, err := db.Records().Get(ctx, "job/1"); return err },
		"keys":     func(ctx context.Context) error { _, err := db.Keys().Keys(ctx, k.Account); return err },
		"epoch":    func(ctx context.Context) error { _, err := db.Blocklist().Epoch(ctx); return err },
		"usage": func(ctx context.Context) error {
			_, err := db.Requests().Sums(ctx, requests.SumQuery{})
			return err
		},
	} {
		if err := read(t.Context()); err != nil { // over an existing connection
			t.Fatal(err)
		}
		proxy.Freeze(true)
		before, done := proxy.RoundTrips(), make(chan error, 1)
		go func() { done <- read(t.Context()) }()
		await.Until(t, "the request", func() bool { return proxy.RoundTrips() > before })
		proxy.Cut()
		proxy.Freeze(false)
		if err := <-done; err != nil {
			t.Errorf("%s: %v; want it repeated", name, err)
		}
	}
}
