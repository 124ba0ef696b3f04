// Package keystest has the suites that every [keys.Store] ([Run]), the ledger beside it ([RunOpening]) and every
// [keys.Limiter] ([RunLimiter]) must pass.
//
//	func TestKeys(t *testing.T) {
//		keystest.Run(t, func(t *testing.T) keystest.Store { return openTemp(t).Keys() })
//	}
package keystest

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// Store is a [keys.Store] that can be filled.
type Store interface {
	keys.Store
	keys.Admin
}

// Open returns a new store without accounts. It cleans up through t.
type Open func(t *testing.T) Store

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, open Open)
	}{
		{"accounts", testAccounts},
		{"monthly credits and closing", testClosing},
		{"keys", testKeys},
		{"look-up", testLookup},
		{"revocation", testRevoke},
		{"changes", testChange},
		{"rotation", testRotate},
		{"the only key of a name", testUnique},
		{"touch", testTouch},
		{"revocation beside look-ups", testRevokeConcurrently},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open)
		})
	}
}

func createAccount(t *testing.T, s Store, name string) keys.Account {
	t.Helper()
	a, err := s.OpenAccount(t.Context(), name, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func createKey(t *testing.T, s Store, n keys.NewKey) (keys.Hash, keys.Key) {
	t.Helper()
	secret, k, err := s.CreateKey(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	h, err := keys.Parse(secret)
	if err != nil || h != k.Hash {
		t.Fatalf("Parse of a new key = %x, %v; want %x", h, err, k.Hash)
	}
	return h, k
}

func testAccounts(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	a, b := createAccount(t, s, "first"), createAccount(t, s, "second")
	if a.ID == "" || a.ID == b.ID || a.Name != "first" || a.CreatedAt.IsZero() {
		t.Errorf("OpenAccount made %+v and %+v", a, b)
	}
	for _, name := range []string{a.ID, a.Name} {
		got, err := s.Account(t.Context(), name)
		if diff := cmp.Diff(a, got); diff != "" || err != nil {
			t.Errorf("Account(%q) (-want +got), %v:\n%s", name, err, diff)
		}
	}
	all, err := s.Accounts(t.Context())
	if diff := cmp.Diff([]keys.Account{a, b}, all); diff != "" || err != nil {
		t.Errorf("Accounts (-want +got), %v:\n%s", err, diff)
	}
	for _, name := range []string{"first", a.ID} {
		if _, err := s.OpenAccount(t.Context(), name, 0, ""); !errors.Is(err, keys.ErrTaken) {
			t.Errorf("OpenAccount(%q) = %v; want ErrTaken", name, err)
		}
	}
	for _, name := range []string{
		"", " first", "a\nb", "caf\xe9", "a\u0085b", strings.Repeat("x", 101),
		"first\u202e", "fir\u200bst", "\ufefffirst", "fir\u00adst", "first\u2060", "a\u2028b", "a\u00a0b", "a\u3164b", "a\u2800b", "a\ue000b",
	} { // the first ones in the last row look like an existing account
		if _, err := s.OpenAccount(t.Context(), name, 0, ""); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("OpenAccount(%q) = %v; want ErrInvalid", name, err)
		}
	}
	if _, err := s.Account(t.Context(), "third"); !errors.Is(err, keys.ErrAbsent) {
		t.Errorf("Account of an unknown account = %v; want ErrAbsent", err)
	}
}

func testClosing(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	a, b := createAccount(t, s, "first"), createAccount(t, s, "second")
	h, k := createKey(t, s, keys.NewKey{Account: a.ID, Environment: keys.Live})
	kept, _ := createKey(t, s, keys.NewKey{Account: b.ID, Environment: keys.Live})
	for _, n := range []int64{0, credits.MaxBalance, 10_000} {
		a.Monthly = n
		got, err := s.SetMonthly(t.Context(), "first", n)
		if diff := cmp.Diff(a, got); diff != "" || err != nil {
			t.Errorf("SetMonthly(%d) (-want +got), %v:\n%s", n, err, diff)
		}
	}
	for _, n := range []int64{-1, credits.MaxBalance + 1} {
		if _, err := s.SetMonthly(t.Context(), a.ID, n); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("SetMonthly(%d) = %v; want ErrInvalid", n, err)
		}
	}
	if got, err := s.Account(t.Context(), a.ID); got.Monthly != 10_000 || err != nil {
		t.Errorf("Account = %+v, %v; want the last valid number", got, err)
	}

	closed, err := s.CloseAccount(t.Context(), "first")
	if err != nil || closed.ClosedAt == nil || closed.Monthly != 0 || closed.ID != a.ID {
		t.Fatalf("CloseAccount = %+v, %v; want it closed, without monthly credits", closed, err)
	}
	if _, err := s.Lookup(t.Context(), h); !errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup of a key of a closed account = %v; want ErrUnknown", err)
	}
	if got, err := s.Key(t.Context(), k.ID); err != nil || got.RevokedAt == nil {
		t.Errorf("a key of a closed account is %+v, %v; want it revoked", got, err)
	}
	if _, err := s.Lookup(t.Context(), kept); err != nil {
		t.Errorf("Lookup of a key of another account = %v", err)
	}
	for _, unique := range []bool{false, true} {
		n := keys.NewKey{Account: a.ID, Environment: keys.Live, Name: "late", Unique: unique}
		if _, _, err := s.CreateKey(t.Context(), n); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("CreateKey of a closed account = %v; want ErrInvalid", err)
		}
	}
	if _, err := s.SetMonthly(t.Context(), a.ID, 1); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("SetMonthly of a closed account = %v; want ErrInvalid", err)
	}
	again, err := s.CloseAccount(t.Context(), a.ID)
	if diff := cmp.Diff(closed, again); diff != "" || err != nil {
		t.Errorf("CloseAccount of a closed account (-want +got), %v:\n%s", err, diff)
	}
	all, err := s.Accounts(t.Context())
	if diff := cmp.Diff([]keys.Account{closed, b}, all); diff != "" || err != nil {
		t.Errorf("Accounts (-want +got), %v:\n%s", err, diff)
	}
	for what, err := range map[string]error{
		"SetMonthly":   second(s.SetMonthly(t.Context(), "third", 1)),
		"CloseAccount": second(s.CloseAccount(t.Context(), "third")),
	} {
		if !errors.Is(err, keys.ErrAbsent) {
			t.Errorf("%s of an unknown account = %v; want ErrAbsent", what, err)
		}
	}
}

func second(_ keys.Account, err error) error { return err }

func testKeys(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	a, b := createAccount(t, s, "first"), createAccount(t, s, "second")
	_, plain := createKey(t, s, keys.NewKey{Account: a.ID, Environment: keys.Live})
	full := keys.NewKey{
		Account: "second", Name: "crawler", Environment: keys.Test, Rate: &keys.Rate{Capacity: 5, Refill: 0.5},
		DayCap: new(int64(10)), TotalCap: new(int64(0)), Manage: true,
	}
	_, other := createKey(t, s, full)
	want := keys.Key{
		Account: b.ID, Name: full.Name, Environment: full.Environment, Rate: full.Rate, DayCap: full.DayCap,
		TotalCap: full.TotalCap, Manage: true,
	}
	ignore := cmpopts.IgnoreFields(keys.Key{}, "ID", "Prefix", "Hash", "CreatedAt")
	if diff := cmp.Diff(want, other, ignore); diff != "" {
		t.Errorf("CreateKey (-want +got):\n%s", diff)
	}
	if len(other.Prefix) != 12 || !strings.HasPrefix(other.Prefix, "sk_test_") || other.CreatedAt.IsZero() {
		t.Errorf("CreateKey made the prefix %q at %v", other.Prefix, other.CreatedAt)
	}
	tests := []struct {
		name, account string
		want          []keys.Key
	}{
		{"of all accounts", "", []keys.Key{plain, other}},
		{"by id", a.ID, []keys.Key{plain}},
		{"by name", "second", []keys.Key{other}},
	}
	for _, tt := range tests {
		got, err := s.Keys(t.Context(), tt.account)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("Keys %s (-want +got), %v:\n%s", tt.name, err, diff)
		}
	}
	got, err := s.Key(t.Context(), other.ID)
	if diff := cmp.Diff(other, got); diff != "" || err != nil {
		t.Errorf("Key (-want +got), %v:\n%s", err, diff)
	}
	for _, unknown := range []string{"third", "nul\x00", "no UTF-8\xff"} {
		if _, err := s.Account(t.Context(), unknown); !errors.Is(err, keys.ErrAbsent) {
			t.Errorf("Account(%q) = %v; want ErrAbsent", unknown, err)
		}
		if _, err := s.Keys(t.Context(), unknown); !errors.Is(err, keys.ErrAbsent) {
			t.Errorf("Keys(%q) = %v; want ErrAbsent", unknown, err)
		}
		if _, err := s.Key(t.Context(), unknown); !errors.Is(err, keys.ErrAbsent) {
			t.Errorf("Key(%q) = %v; want ErrAbsent", unknown, err)
		}
		if _, err := s.Revoke(t.Context(), unknown); !errors.Is(err, keys.ErrAbsent) {
			t.Errorf("Revoke(%q) = %v; want ErrAbsent", unknown, err)
		}
		s.Touch(unknown, time.Now()) // is ignored
	}
	bad := map[string]keys.NewKey{
		"no environment":  {Account: a.ID},
		"a bad name":      {Account: a.ID, Environment: keys.Live, Name: "a\tb"},
		"an unseen name":  {Account: a.ID, Environment: keys.Live, Name: "live\u202ebus"},
		"a bad rate":      {Account: a.ID, Environment: keys.Live, Rate: &keys.Rate{Capacity: 1}},
		"a huge capacity": {Account: a.ID, Environment: keys.Live, Rate: &keys.Rate{Capacity: 1 << 40, Refill: 1}},
		"a huge refill":   {Account: a.ID, Environment: keys.Live, Rate: &keys.Rate{Capacity: 1, Refill: 1e300}},
		"a tiny refill":   {Account: a.ID, Environment: keys.Live, Rate: &keys.Rate{Capacity: 1, Refill: 1e-300}},
		"a huge cap":      {Account: a.ID, Environment: keys.Live, TotalCap: new(int64(1 << 60))},
		"a negative cap":  {Account: a.ID, Environment: keys.Live, DayCap: new(int64(-1))},
	}
	for what, n := range bad {
		if _, _, err := s.CreateKey(t.Context(), n); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("CreateKey with %s = %v; want ErrInvalid", what, err)
		}
	}
	_, _, err = s.CreateKey(t.Context(), keys.NewKey{Account: "third", Environment: keys.Live})
	if !errors.Is(err, keys.ErrAbsent) {
		t.Errorf("CreateKey for an unknown account = %v; want ErrAbsent", err)
	}
}

func testLookup(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	var h keys.Hash
	for _, manage := range []bool{true, false} {
		var k keys.Key
		h, k = createKey(t, s, keys.NewKey{Account: "first", Environment: keys.Live, DayCap: new(int64(3)), Manage: manage})
		for range 2 { // the second may come from a cache
			got, err := s.Lookup(t.Context(), h)
			if diff := cmp.Diff(k, got); diff != "" || err != nil || got.Manage != manage {
				t.Errorf("Lookup (-want +got), %v:\n%s", err, diff)
			}
		}
	}
	h[0]++
	if got, err := s.Lookup(t.Context(), h); !errors.Is(err, keys.ErrUnknown) || got.ID != "" {
		t.Errorf("Lookup of nothing = %+v, %v; want ErrUnknown", got, err)
	}
}

func testRevoke(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	n := keys.NewKey{Account: "first", Environment: keys.Live}
	old, k := createKey(t, s, n)
	fresh, _ := createKey(t, s, n) // rotation: both work until the old one is revoked
	for _, h := range []keys.Hash{old, fresh} {
		if _, err := s.Lookup(t.Context(), h); err != nil {
			t.Errorf("Lookup before = %v", err)
		}
	}
	revoked, err := s.Revoke(t.Context(), k.ID)
	if err != nil || revoked.ID != k.ID || revoked.RevokedAt == nil {
		t.Fatalf("Revoke = %+v, %v", revoked, err)
	}
	if _, err := s.Lookup(t.Context(), old); !errors.Is(err, keys.ErrUnknown) {
		t.Errorf("Lookup of a revoked key = %v; want ErrUnknown", err)
	}
	if _, err := s.Lookup(t.Context(), fresh); err != nil {
		t.Errorf("Lookup of the other key = %v", err)
	}
	again, err := s.Revoke(t.Context(), k.ID)
	if diff := cmp.Diff(revoked, again); diff != "" || err != nil {
		t.Errorf("Revoke again (-want +got), %v:\n%s", err, diff)
	}
	if _, err := s.Revoke(t.Context(), "key_none"); !errors.Is(err, keys.ErrAbsent) {
		t.Errorf("Revoke of nothing = %v; want ErrAbsent", err)
	}
}

func testChange(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	h, k := createKey(t, s, keys.NewKey{
		Account: "first", Name: "crawler", Environment: keys.Live, DayCap: new(int64(10)), Manage: true,
		Bounds: &keys.Limits{DayCap: new(int64(20)), Rate: &keys.Rate{Capacity: 9, Refill: 0.25}},
	})
	find := func() keys.Key {
		t.Helper()
		found, err := s.Lookup(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if diff := cmp.Diff(k, find()); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	want := k
	steps := []struct {
		name   string
		change func(*keys.Key)
	}{
		{"limits are set", func(k *keys.Key) {
			k.DayCap, k.TotalCap, k.Rate = new(int64(5)), new(int64(0)), &keys.Rate{Capacity: 3, Refill: 1.5}
		}},
		{"limits are taken away", func(k *keys.Key) { k.DayCap, k.TotalCap, k.Rate = nil, nil, nil }},
		{"the mark is taken away", func(k *keys.Key) { k.Manage = false }},
		{"bounds are set", func(k *keys.Key) { k.Bounds = &keys.Limits{TotalCap: new(int64(7))} }},
		{"bounds are emptied", func(k *keys.Key) { k.Bounds = &keys.Limits{} }},
		{"bounds are taken away", func(k *keys.Key) { k.Bounds = nil }},
	}
	for _, step := range steps {
		step.change(&want)
		got, err := s.Change(t.Context(), k.ID, func(k *keys.Key) error {
			step.change(k)
			k.Name, k.Account, k.ID, k.Hash, k.Environment = "other", "acct_other", "key_other", keys.Hash{}, keys.Test // ignored
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: Change (-want +got), %v:\n%s", step.name, err, diff)
		}
		if diff := cmp.Diff(want, find()); diff != "" {
			t.Errorf("%s: the next look-up (-want +got):\n%s", step.name, diff)
		}
	}
	failures := []struct {
		name   string
		change func(*keys.Key) error
		want   error
	}{
		{"an error of the change", func(*keys.Key) error { return errRefused }, errRefused},
		{"an invalid cap", func(k *keys.Key) error { k.DayCap = new(int64(-1)); return nil }, keys.ErrInvalid},
		{"an invalid rate", func(k *keys.Key) error { k.Rate = &keys.Rate{}; return nil }, keys.ErrInvalid},
		{"invalid bounds", func(k *keys.Key) error { k.Bounds = &keys.Limits{Rate: &keys.Rate{}}; return nil }, keys.ErrInvalid},
	}
	for _, tt := range failures {
		if _, err := s.Change(t.Context(), k.ID, tt.change); !errors.Is(err, tt.want) {
			t.Errorf("%s: Change = %v; want %v", tt.name, err, tt.want)
		}
		if diff := cmp.Diff(want, find()); diff != "" {
			t.Errorf("%s: a change that failed has changed the key (-want +got):\n%s", tt.name, diff)
		}
	}
	nothing := func(*keys.Key) error { return nil }
	if _, err := s.Change(t.Context(), "key_none", nothing); !errors.Is(err, keys.ErrAbsent) {
		t.Errorf("Change of nothing = %v; want ErrAbsent", err)
	}
	if _, err := s.Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Change(t.Context(), k.ID, nothing); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("Change of a revoked key = %v; want ErrInvalid", err)
	}
}

var errRefused = errors.New("keystest: refused")

func testRotate(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	first, k := createKey(t, s, keys.NewKey{Account: "first", Name: "crawler", Environment: keys.Live, DayCap: new(int64(3)), Manage: true})
	rotate := func(overlap time.Duration) keys.Hash {
		t.Helper()
		secret, got, err := s.Rotate(t.Context(), k.ID, time.Now().Add(overlap))
		if err != nil {
			t.Fatal(err)
		}
		h, err := keys.Parse(secret)
		if err != nil || h != got.Hash || !strings.HasPrefix(secret, got.Prefix) {
			t.Fatalf("Rotate returned a secret that is not the key's: %v", err)
		}
		ignore := cmpopts.IgnoreFields(keys.Key{}, "Prefix", "Hash", "Former")
		if diff := cmp.Diff(k, got, ignore); diff != "" {
			t.Errorf("Rotate changed more than the secret (-want +got):\n%s", diff)
		}
		return h
	}
	accepted := func(what string, h keys.Hash, want bool) {
		t.Helper()
		for range 2 { // the second may come from a cache
			got, err := s.Lookup(t.Context(), h)
			switch {
			case want && (err != nil || got.ID != k.ID):
				t.Errorf("Lookup of %s = %q, %v; want the key", what, got.ID, err)
			case !want && !errors.Is(err, keys.ErrUnknown):
				t.Errorf("Lookup of %s = %v; want ErrUnknown", what, err)
			}
		}
	}
	accepted("the first secret", first, true)
	second := rotate(time.Hour)
	accepted("the first secret during the overlap", first, true)
	accepted("the second secret", second, true)
	third := rotate(time.Hour)
	accepted("the first secret after two rotations", first, false)
	accepted("the second secret during the overlap", second, true)
	accepted("the third secret", third, true)
	fourth := rotate(0)
	accepted("the third secret without an overlap", third, false)
	accepted("the second secret without an overlap", second, false)
	accepted("the fourth secret", fourth, true)
	fifth := rotate(time.Hour)
	if _, err := s.Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	accepted("the former secret of a revoked key", fourth, false)
	accepted("the secret of a revoked key", fifth, false)
	if _, _, err := s.Rotate(t.Context(), k.ID, time.Now()); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("Rotate of a revoked key = %v; want ErrInvalid", err)
	}
	if _, _, err := s.Rotate(t.Context(), "key_none", time.Now()); !errors.Is(err, keys.ErrAbsent) {
		t.Errorf("Rotate of nothing = %v; want ErrAbsent", err)
	}
}

func testUnique(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	createAccount(t, s, "second")
	only := keys.NewKey{Account: "first", Name: "crawler", Environment: keys.Live, Unique: true}
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			switch _, _, err := s.CreateKey(t.Context(), only); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, keys.ErrTaken):
				t.Errorf("CreateKey = %v; want ErrTaken", err)
			}
		})
	}
	if wg.Wait(); made.Load() != 1 {
		t.Errorf("%d keys have the name; want one", made.Load())
	}
	other := only
	other.Account = "second"
	createKey(t, s, other)
	all, err := s.Keys(t.Context(), "first")
	if err != nil || len(all) != 1 {
		t.Fatalf("Keys = %v, %v; want one", all, err)
	}
	if _, err := s.Revoke(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	createKey(t, s, only) // the name is free again
	only.Unique = false
	createKey(t, s, only) // a key that need not be unique may share it
}

func testTouch(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	h, k := createKey(t, s, keys.NewKey{Account: "first", Environment: keys.Live})
	if got, err := s.Lookup(t.Context(), h); err != nil || got.LastUsedAt != nil {
		t.Errorf("a new key was last used %v, %v", got.LastUsedAt, err)
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, d := range []time.Duration{0, time.Minute, time.Second} { // calls end in any order
		s.Touch(k.ID, at.Add(d))
	}
	s.Touch("key_none", at)
	got, err := s.Key(t.Context(), k.ID)
	if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(at.Add(time.Minute)) {
		t.Errorf("last used %v, %v; want %v", got.LastUsedAt, err, at.Add(time.Minute))
	}
	for range 2 { // a cached copy is not older
		got, err := s.Lookup(t.Context(), h)
		if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(at.Add(time.Minute)) {
			t.Errorf("Lookup says last used %v, %v; want %v", got.LastUsedAt, err, at.Add(time.Minute))
		}
		s.Touch(k.ID, at)
	}
}

// testRevokeConcurrently revokes a key while others look it up continuously: once Revoke has returned, no look-up may
// find it.
func testRevokeConcurrently(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	createAccount(t, s, "first")
	for range 10 {
		h, k := createKey(t, s, keys.NewKey{Account: "first", Environment: keys.Live})
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if _, err := s.Lookup(t.Context(), h); err != nil && !errors.Is(err, keys.ErrUnknown) {
							t.Errorf("Lookup: %v", err)
						}
					}
				}
			})
		}
		if _, err := s.Revoke(t.Context(), k.ID); err != nil {
			t.Error(err)
		}
		if _, err := s.Lookup(t.Context(), h); !errors.Is(err, keys.ErrUnknown) {
			t.Errorf("Lookup after Revoke = %v; want ErrUnknown", err)
		}
		close(stop)
		wg.Wait()
		if _, err := s.Lookup(t.Context(), h); !errors.Is(err, keys.ErrUnknown) {
			t.Errorf("Lookup after all others = %v; want ErrUnknown", err)
		}
	}
}
