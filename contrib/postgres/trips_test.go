package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
)

// lookup looks up the key of a secret.
func lookup(db *DB, secret string) error {
	h, err := keys.Parse(secret)
	if err == nil {
		_, err = db.Keys().Lookup(context.Background(), h)
	}
	return err
}

// TestRoundTrips counts the round trips of the most frequent calls.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cfg, proxy := throughProxy(t, withParam(newSchema(t), "pool_max_conns=1"))
	cfg.lease, cfg.FlushEvery = maxLease, time.Hour
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 1000)
	capped := credits.Spender{Account: "acct", Key: "key_2", DayCap: new(int64(500)), TotalCap: new(int64(600))}
	secret, k, err := db.Keys().CreateKey(t.Context(),
		keys.NewKey{Account: "acct", Name: "k", Environment: keys.Live, DayCap: new(int64(500))})
	if err != nil {
		t.Fatal(err)
	}
	capped.Key = k.ID
	charge := func(who credits.Spender, c credits.Charge) func() error {
		return func() error {
			r, err := db.Ledger().Charge(t.Context(), who, c)
			if err == nil && (r.Charged != c.Amount || r.Earlier) {
				t.Errorf("Charge = %+v", r)
			}
			return err
		}
	}
	who := credits.Spender{Account: "acct", Key: "key_1"}
	tests := []struct {
		name  string
		do    func() error
		trips int64
	}{
		{"charge", charge(who, credits.Charge{Amount: 1, Operation: "profile"}), 4},
		{"charge of a key with caps", charge(capped, credits.Charge{Amount: 1, Operation: "profile"}), 4},
		{"charge under an idempotency key", func() error {
			return charge(who, credits.Charge{Amount: 1, IdempotencyKey: keys.NewID("once")})()
		}, 4},
		{"hold and charge", func() error {
			holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 3, 2)
			if err != nil {
				return err
			}
			if _, err := db.Ledger().Settle(t.Context(), holds[0], credits.Charge{}); err != nil {
				return err
			}
			_, err = db.Ledger().Settle(t.Context(), holds[1], credits.Charge{Amount: 2})
			return err
		}, 12},
		{"look up a key that is in use", func() error { return lookup(db, secret) }, 0},
		{"add a record, and write over it", func() error {
			r, added, err := db.Records().Add(t.Context(), records.Record{
				Key: keys.NewID("key"), Owner: "acct", Value: []byte("claim"),
			}, time.Hour)
			if err != nil || !added {
				return fmt.Errorf("added %t: %w", added, err)
			}
			r.Value = []byte("answer")
			_, err = db.Records().Put(t.Context(), r, time.Hour)
			return err
		}, 5},
		{"add a record that is there", func() error {
			_, _, err := db.Records().Add(t.Context(), records.Record{Key: "the same", Value: []byte("claim")}, time.Hour)
			return err
		}, 2},
	}
	want := int64(1000)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // so that statements are prepared
				if err := tt.do(); err != nil {
					t.Fatal(err)
				}
			}
			before := proxy.RoundTrips()
			if err := tt.do(); err != nil {
				t.Fatal(err)
			}
			if n := proxy.RoundTrips() - before; n != tt.trips {
				t.Errorf("%d round trips; want %d", n, tt.trips)
			}
		})
	}
	for _, n := range []int64{3, 3, 3, 6} {
		want -= n
	}
	wantBalance(t, db, want)
	wantAudit(t, db)
}
