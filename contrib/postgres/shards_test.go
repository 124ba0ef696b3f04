package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/keys/keystest"
	"github.com/socialdata/socialdata/store/records"
	"github.com/socialdata/socialdata/store/records/recordstest"
)

func openShards(tb testing.TB, cfgs ...Config) *Shards {
	tb.Helper()
	s, err := OpenShards(tb.Context(), cfgs...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestKeysInShards(t *testing.T) {
	t.Parallel()
	newSchema(t)
	keystest.Run(t, func(t *testing.T) keystest.Store {
		t.Helper()
		return openShards(t, newSchema(t), newSchema(t)).Keys()
	})
	keystest.RunOpening(t, func(t *testing.T) (keys.Admin, keystest.Ledger) {
		t.Helper()
		s := openShards(t, newSchema(t), newSchema(t))
		return s.Keys(), s.Ledger()
	})
}

func TestRecordsInShards(t *testing.T) {
	t.Parallel()
	newSchema(t)
	recordstest.Run(t, func(t *testing.T, now func() time.Time, ownerBytes int64) records.Store {
		t.Helper()
		// The limit for an owner applies in each database, so in total with one database only.
		shards := 2
		if ownerBytes != 0 {
			shards = 1
		}
		var cfgs []Config
		for range shards {
			cfg := newSchema(t)
			cfg.Now, cfg.OwnerBytes = now, ownerBytes
			cfgs = append(cfgs, cfg)
		}
		return openShards(t, cfgs...).Records()
	})
}

// TestAChargeUsesOneDatabase charges many accounts through two replicas of two databases, and checks that
// each account is in one of them only, that both have some, and that all can be moved to three.
func TestAChargeUsesOneDatabase(t *testing.T) {
	t.Parallel()
	cfgs := []Config{newSchema(t), newSchema(t)}
	replicas := []*Shards{openShards(t, cfgs...), openShards(t, cfgs...)}
	var charging sync.WaitGroup
	for i := range 20 {
		charging.Go(func() {
			name := fmt.Sprint("shop ", i)
			a, err := replicas[i%2].Keys().OpenAccount(t.Context(), name, 100, "")
			if err != nil {
				t.Error(err)
				return
			}
			for call := range 6 {
				l := replicas[call%2].Ledger()
				holds, err := l.Reserve(t.Context(), credits.Spender{Account: a.ID}, time.Hour, 5, 1)
				if err == nil {
					_, err = replicas[(call+1)%2].Ledger().Settle(t.Context(), holds[0], credits.Charge{Amount: int64(i%5) + 1})
				}
				if err == nil {
					_, err = l.Settle(t.Context(), holds[1], credits.Charge{})
				}
				if err != nil {
					t.Error(err)
				}
			}
			if got, err := replicas[0].Ledger().Balance(t.Context(), a.ID); err != nil || got != 100-6*(int64(i%5)+1) {
				t.Errorf("%s: balance %d, %v", name, got, err)
			}
		})
	}
	charging.Wait()
	if err := auditOf(t.Context(), replicas[0]); err != nil {
		t.Errorf("audit: %v", err)
	}
	seen := map[string]int{}
	for i, db := range replicas[0].dbs {
		all, err := db.Keys().Accounts(t.Context())
		if err != nil || len(all) == 0 {
			t.Errorf("database %d has %d accounts, %v", i, len(all), err)
		}
		for _, a := range all {
			seen[a.Name]++
			entries, err := db.Ledger().Entries(t.Context(), credits.Query{Account: a.ID})
			if err != nil || len(entries) != 7 {
				t.Errorf("%s has %d of its 7 entries in database %d, %v", a.Name, len(entries), i, err)
			}
		}
	}
	if n := slices.Max(slices.Collect(maps.Values(seen))); n != 1 || len(seen) != 20 {
		t.Errorf("accounts are in %d databases: %v", n, seen)
	}
	if _, err := replicas[0].Keys().CreateAccount(t.Context(), "shop 7"); !errors.Is(err, keys.ErrTaken) {
		t.Errorf("CreateAccount of a name that is taken = %v", err)
	}

	var heads bytes.Buffer
	if err := replicas[0].Heads(t.Context(), &heads); err != nil {
		t.Fatal(err)
	}
	more := openShards(t, newSchema(t), newSchema(t), newSchema(t))
	if err := more.Import(t.Context(), strings.NewReader(exportOf(t, replicas[0]))); err != nil {
		t.Fatal(err)
	}
	if r, err := more.AuditAgainst(t.Context(), &heads); err != nil || !r.OK() || r.Entries != 140 {
		t.Errorf("audit after the move = %+v, %v", r, err)
	}
	if diff := cmp.Diff(
		balances(t, replicas[0].Keys(), replicas[0].Ledger()), balances(t, more.Keys(), more.Ledger()),
	); diff != "" {
		t.Errorf("balances (-two databases +three):\n%s", diff)
	}
}

func TestADatabaseInAnotherPlaceIsRefused(t *testing.T) {
	t.Parallel()
	a, b := newSchema(t), newSchema(t)
	openShards(t, a, b)
	for name, cfgs := range map[string][]Config{"another order": {b, a}, "another number": {a, b, newSchema(t)}} {
		if _, err := OpenShards(t.Context(), cfgs...); !errors.Is(err, ErrPlacement) {
			t.Errorf("%s: OpenShards = %v; want ErrPlacement", name, err)
		}
	}
	if _, err := Open(t.Context(), a); !errors.Is(err, ErrPlacement) {
		t.Errorf("Open of one alone = %v; want ErrPlacement", err)
	}
}

// TestALostDatabaseAffectsOnlyItsAccounts closes one database of two.
func TestALostDatabaseAffectsOnlyItsAccounts(t *testing.T) {
	t.Parallel()
	s := openShards(t, newSchema(t), newSchema(t))
	accounts := map[*DB]keys.Account{}
	secrets := map[*DB]keys.Hash{}
	for i := 0; len(accounts) < 2; i++ {
		a, err := s.Keys().OpenAccount(t.Context(), fmt.Sprint("shop ", i), 10, "")
		if err != nil {
			t.Fatal(err)
		}
		_, k, err := s.Keys().CreateKey(t.Context(), keys.NewKey{Account: a.ID, Environment: keys.Live})
		if err != nil {
			t.Fatal(err)
		}
		accounts[s.pick(a.ID)], secrets[s.pick(a.ID)] = a, k.Hash
	}
	s.dbs[1].pool.Close()
	if _, err := s.Keys().Lookup(t.Context(), secrets[s.dbs[0]]); err != nil {
		t.Errorf("Lookup of a key in the other one: %v", err)
	}
	if _, err := s.Keys().Lookup(t.Context(), secrets[s.dbs[1]]); err == nil || errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup of a key that is lost = %v; want another error than ErrUnknown", err)
	}
	who := credits.Spender{Account: accounts[s.dbs[0]].ID}
	if _, err := s.Ledger().Reserve(t.Context(), who, time.Hour, 1); err != nil {
		t.Errorf("Reserve in the other one: %v", err)
	}
	who.Account = accounts[s.dbs[1]].ID
	if _, err := s.Ledger().Reserve(t.Context(), who, time.Hour, 1); err == nil {
		t.Error("Reserve in the one that is lost succeeded")
	}
}
