package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/faultnet"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/records"
)

// throughProxy returns cfg with a proxy in front of the database until the test ends.
func throughProxy(tb testing.TB, cfg Config) (Config, *faultnet.Proxy) {
	tb.Helper()
	u, err := url.Parse(cfg.DSN)
	if err != nil || u.Host == "" {
		tb.Skip("the DSN is not a URL")
	}
	p, err := faultnet.Listen(u.Host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.Close() })
	u.Host = p.Addr()
	cfg.DSN = u.String()
	return cfg, p
}

func looked(db *DB, secret string) error {
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
		{"charge", charge(who, credits.Charge{Amount: 1, Operation: "profile"}), 1},
		{"charge of a key with caps", charge(capped, credits.Charge{Amount: 1, Operation: "profile"}), 1},
		{"charge under an idempotency key", func() error {
			return charge(who, credits.Charge{Amount: 1, IdempotencyKey: keys.NewID("once")})()
		}, 1},
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
		}, 3},
		{"look up a key that is in use", func() error { return looked(db, secret) }, 0},
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
		}, 2},
		{"add a record that is there", func() error {
			_, _, err := db.Records().Add(t.Context(), records.Record{Key: "the same", Value: []byte("claim")}, time.Hour)
			return err
		}, 1},
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

// TestLookupsAreShared looks up one key concurrently and repeatedly, over a slow network.
func TestLookupsAreShared(t *testing.T) {
	t.Parallel()
	cfg, proxy := throughProxy(t, newSchema(t))
	cfg.lease, cfg.FlushEvery = maxLease, time.Hour
	db := openDB(t, cfg)
	addAccount(t, db, "acct", 0)
	_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Name: "k", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	proxy.Delay(20 * time.Millisecond)
	if _, err := db.Keys().Lookup(t.Context(), keys.Hash{}); !errors.Is(err, keys.ErrUnknown) { // prepares the statement
		t.Fatal(err)
	}
	before := proxy.RoundTrips()
	var callers sync.WaitGroup
	for range 96 {
		callers.Go(func() {
			if got, err := db.Keys().Lookup(t.Context(), k.Hash); err != nil || got.ID != k.ID {
				t.Errorf("Lookup = %+v, %v", got, err)
			}
		})
	}
	callers.Wait()
	if n := proxy.RoundTrips() - before; n > 3 { // one, or a few if a connection is new
		t.Errorf("%d round trips for 96 callers with one key", n)
	}
	revoked := make(chan struct{})
	go func() {
		defer close(revoked)
		if _, err := db.Keys().Revoke(context.WithoutCancel(t.Context()), k.ID); err != nil {
			t.Error(err)
		}
	}()
	for range 4 {
		callers.Go(func() {
			for {
				late := false
				select {
				case <-revoked:
					late = true
				default:
				}
				_, err := db.Keys().Lookup(t.Context(), k.Hash)
				if errors.Is(err, keys.ErrUnknown) {
					return
				}
				if err != nil || late {
					t.Errorf("Lookup after the revocation = %v", err)
					return
				}
			}
		})
	}
	callers.Wait()
	<-revoked
}

// TestAChargeReportedAsNotMadeIsNotMadeLater lets a charge that was sent in one message reach the database after
// its caller was told that it was not made.
func TestAChargeReportedAsNotMadeIsNotMadeLater(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	o := &charging{
		hold:   credits.Hold{ID: "chg_1", Spender: credits.Spender{Account: "acct", Key: "key"}},
		charge: credits.Charge{Amount: 3},
	}
	for range 3 {
		if _, err := db.Ledger().Settle(t.Context(), o.hold, credits.Charge{}); !errors.Is(err, credits.ErrExpired) {
			t.Fatalf("Settle = %v; want that nothing was charged", err)
		}
	}
	if err := db.attempt(t.Context(), false, newDirect(db, []op{o}).run); err != nil {
		t.Fatal(err)
	}
	if o.decided {
		t.Errorf("it was charged late: %+v", o.receipt)
	}
	o.done, o.unsure = make(chan struct{}), true
	if commitNow(db, true, o); !errors.Is(o.err, credits.ErrExpired) {
		t.Errorf("made again = %v, %+v", o.err, o.receipt)
	}
	wantBalance(t, db, 100)
	wantAudit(t, db)
}
