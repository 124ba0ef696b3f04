package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	newSchema(t)
	keystest.Run(t, func(t *testing.T) keystest.Store { t.Helper(); return openDB(t, newSchema(t)).Keys() })
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		db := openDB(t, newSchema(t))
		return db.Keys(), db.Ledger()
	})
	t.Run("with two replicas", func(t *testing.T) {
		t.Parallel()
		keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
			t.Helper()
			cfg := newSchema(t)
			return openDB(t, cfg).Keys(), openDB(t, cfg).Ledger()
		})
	})
}

// addKey makes a key of the account "acct", which it makes too.
func addKey(t *testing.T, db *DB) keys.Key {
	t.Helper()
	addAccount(t, db, "acct", 100)
	_, k, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Name: "k", Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestARevocationCountsOnEveryReplicaWhenItReturns(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.lease = 200 * time.Millisecond
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "shop", 0)
	for round := range 3 {
		_, k, err := replicas[0].Keys().CreateKey(t.Context(), keys.NewKey{Account: "shop", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		var revoked atomic.Bool
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for accepted := 0; ; accepted++ {
					after := revoked.Load()
					_, err := replicas[i%2].Keys().Lookup(t.Context(), k.Hash)
					switch {
					case after && !errors.Is(err, keys.ErrUnknown):
						t.Errorf("round %d: a call after the revocation = %v; want ErrUnknown", round, err)
						return
					case after:
						if accepted == 0 {
							t.Error("the key was never accepted")
						}
						return
					case err != nil && !errors.Is(err, keys.ErrUnknown):
						t.Errorf("Lookup: %v", err)
						return
					}
				}
			})
		}
		if _, err := replicas[round%2].Keys().Revoke(t.Context(), k.ID); err != nil {
			t.Error(err)
		}
		revoked.Store(true)
		callers.Wait()
	}
}

// TestAKeyIsReadOnceInALease looks up one key concurrently and repeatedly, over a slow network, and revokes it.
func TestAKeyIsReadOnceInALease(t *testing.T) {
	t.Parallel()
	if got := (Config{}).withDefaults().lease; got > time.Second {
		t.Errorf("the default lease is %v; want a second at most", got)
	}
	cfg, proxy := throughProxy(t, newSchema(t))
	cfg.lease, cfg.FlushEvery, cfg.checkEvery = maxLease, time.Hour, time.Hour
	db := openDB(t, cfg)
	k := addKey(t, db)
	proxy.Delay(20 * time.Millisecond)
	if _, err := db.Keys().Lookup(t.Context(), keys.Hash{}); !errors.Is(err, keys.ErrUnknown) { // prepares the statement
		t.Fatal(err)
	}
	before := proxy.RoundTrips()
	var callers sync.WaitGroup
	for range 96 {
		callers.Go(func() {
			if got, err := db.Keys().Lookup(t.Context(), k.Hash); err != nil || got.ID != k.ID {
				t.Errorf("Lookup = %+v, %v; want the key %s", got, err, k.ID)
			}
		})
	}
	callers.Wait()
	if n := proxy.RoundTrips() - before; n > 3 { // one, or a few if a connection is new
		t.Errorf("%d round trips for 96 callers with one key; want 3 at most", n)
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

// TestACancelledRevocationReturnsAnError ends the call while other replicas may still use the key as it was.
func TestACancelledRevocationReturnsAnError(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.lease = time.Minute
	db := openDB(t, cfg)
	k := addKey(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := db.Keys().Revoke(ctx, k.ID)
		done <- err
	}()
	await.Until(t, "the key to be revoked", func() bool {
		got, err := db.Keys().Key(t.Context(), k.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.RevokedAt != nil
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Revoke = %v; want %v", err, context.Canceled)
	}
}

// TestARevocationIsDurableWhateverTheRoleSays makes a commit of keys fail if it does not wait for the disk.
func TestARevocationIsDurableWhateverTheRoleSays(t *testing.T) {
	t.Parallel()
	db := openDB(t, withParam(newSchema(t), "synchronous_commit=off"))
	k := addKey(t, db)
	script(t, db, `
		CREATE FUNCTION @durable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF current_setting('synchronous_commit') <> 'on' THEN RAISE 'not durable'; END IF; RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER durable AFTER UPDATE OF revoked_at ON @keys
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION @durable()`)
	if got, err := db.Keys().Revoke(t.Context(), k.ID); err != nil || got.RevokedAt == nil {
		t.Errorf("Revoke = %+v, %v; want it revoked", got, err)
	}
}

// TestReplicasWriteTheUseOfTheSameKeys lets two replicas write when the same keys were used.
func TestReplicasWriteTheUseOfTheSameKeys(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	cfg.FlushEvery = time.Hour
	replicas := []*DB{openDB(t, cfg), openDB(t, cfg)}
	addAccount(t, replicas[0], "acct", 0)
	var ids []string
	for range 50 {
		_, k, err := replicas[0].Keys().CreateKey(t.Context(), keys.NewKey{Account: "acct", Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
	}
	began := time.Now().UTC().Truncate(time.Microsecond)
	var writers sync.WaitGroup
	for i, db := range replicas {
		writers.Go(func() {
			for round := range 20 {
				for _, id := range ids {
					db.Keys().Touch(id, began.Add(time.Duration(2*round+i)*time.Second))
				}
				if _, err := db.Keys().Keys(t.Context(), "acct"); err != nil { // which writes first
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	all, err := replicas[0].Keys().Keys(t.Context(), "acct")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if want := began.Add(39 * time.Second); k.LastUsedAt == nil || !k.LastUsedAt.Equal(want) {
			t.Errorf("%s was last used at %v; want %v", k.ID, k.LastUsedAt, want)
		}
	}
}
