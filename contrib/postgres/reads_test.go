package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/records"
)

// TestReadsAreRepeatedWhenTheirConnectionBreaks cuts every connection before an answer arrives.
func TestReadsAreRepeatedWhenTheirConnectionBreaks(t *testing.T) {
	t.Parallel()
	cfg, proxy := throughProxy(t, newSchema(t))
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 100)
	if _, err := db.Records().Put(t.Context(), records.Record{Key: "job/1", Value: []byte("found")},
		time.Hour); err != nil {
		t.Fatal(err)
	}
	_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Name: "k", Environment: keys.Live})
	if err != nil {
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
	} {
		if err := read(t.Context()); err != nil { // over an existing connection
			t.Fatal(err)
		}
		proxy.Freeze(true)
		before, done := proxy.RoundTrips(), make(chan error, 1)
		go func() { done <- read(t.Context()) }()
		for proxy.RoundTrips() == before {
			time.Sleep(time.Millisecond)
		}
		proxy.Cut()
		proxy.Freeze(false)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
