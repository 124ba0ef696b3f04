package postgres

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
)

// TestRoundTripsOfCalls counts the round trips of whole calls, the look-up of the key included.
func TestRoundTripsOfCalls(t *testing.T) {
	t.Parallel()
	cfg, proxy := throughProxy(t, withParam(newSchema(t), "pool_max_conns=1"))
	cfg.lease, cfg.FlushEvery = maxLease, time.Hour
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 1000)
	secret, key, err := db.Keys().CreateKey(t.Context(),
		keys.NewKey{Account: "acct", Name: "k", Environment: keys.Live, DayCap: new(int64(500))})
	if err != nil {
		t.Fatal(err)
	}
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(t.Context()) })
	caller := client.As(key)
	made := 0
	profile := func(cold, once bool) {
		t.Helper()
		made++
		req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "someone"}
		if cold {
			req.Handle = fmt.Sprint("someone", made)
		}
		if once {
			req.IdempotencyKey = keys.NewID("once")
		}
		err := lookup(db, secret)
		if err == nil {
			_, err = caller.Profile(t.Context(), req)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	profile(false, false)
	for _, tt := range []struct {
		name       string
		cold, once bool
		most       int64
	}{
		{"a hit", false, false, 4},
		{"a hit under an idempotency key", false, true, 15},
		{"a miss", true, false, 8},
	} {
		trips := int64(math.MaxInt64) // the least: the first calls prepare statements, and a new connection does so again
		for range 6 {
			before := proxy.RoundTrips()
			profile(tt.cold, tt.once)
			trips = min(trips, proxy.RoundTrips()-before)
		}
		if trips < 1 || trips > tt.most {
			t.Errorf("%s takes %d round trips; want at most %d", tt.name, trips, tt.most)
		} else {
			t.Logf("%s takes %d round trips", tt.name, trips)
		}
	}
}
