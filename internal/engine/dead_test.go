package engine_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// TestAChargeOfADeadProcessIsReported ends a process after each of its store calls in turn, before it learns the
// result. The platform has nothing any more when the call is repeated with its idempotency key: what was charged is
// reported all the same.
func TestAChargeOfADeadProcessIsReported(t *testing.T) {
	t.Parallel()
	calls := map[string]operation.Call{
		"profile":       {Platform: "x", Params: url.Values{"handle": {"ann"}}, IdempotencyKey: idempotencyKey},
		"profile/batch": {Platform: "x", Params: url.Values{"handles": {"ann,bob"}}, IdempotencyKey: idempotencyKey},
	}
	for name, call := range calls {
		for _, oneStep := range []bool{false, true} {
			charged := 0 // by processes that died
			for end := range 12 {
				t.Run(fmt.Sprint(name, oneStep, end), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						if playDeath(t, name, call, oneStep, end+1) {
							charged++
						}
					})
				})
			}
			if charged == 0 {
				t.Errorf("%s: no process has died after its charge", name)
			}
		}
	}
}

// playDeath makes a call in a process that ends after that store call, and repeats it in another. It reports whether
// the process that died had charged.
func playDeath(t *testing.T, name string, call operation.Call, oneStep bool, end int) (charged bool) {
	t.Helper()
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), records.NewMemory(records.MemoryConfig{})
	if _, err := ledger.Grant(t.Context(), "account", 1000, "for a test"); err != nil {
		t.Fatal(err)
	}
	process := func(p enginetest.Process, find func(context.Context, string) (schema.Profile, error)) *enginetest.Machine {
		m := enginetest.NewMachine(p)
		client, err := socialdata.New(
			socialdata.WithProviders(providers.Chain{enginetest.Profiles(platform.X, "x", schema.Own, find)}),
			socialdata.WithLedger(m.Ledger(ledger, oneStep)), socialdata.WithRecords(m.Records(store)))
		if err != nil {
			t.Fatal(err)
		}
		m.Client = client.As(keys.Key{ID: "key", Account: "account"})
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	first := process(enginetest.Process{Ends: end, EndsAfter: true}, func(_ context.Context, handle string) (schema.Profile, error) {
		return enginetest.Profile(handle), nil
	})
	if _, _, answered := first.Do(t.Context(), name, call); answered {
		return false // it needed fewer store calls
	}
	entries, err := ledger.Entries(t.Context(), credits.Query{Account: "account"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	second := process(enginetest.Process{}, func(context.Context, string) (schema.Profile, error) {
		return schema.Profile{}, providers.ErrNotFound
	})
	a, _, _ := second.Do(t.Context(), name, call)
	reported := int64(0)
	if a != nil {
		reported = a.Meta.CreditsUsed
	}
	time.Sleep(5 * time.Minute)
	if got, err := ledger.Balance(t.Context(), "account"); err != nil || got != 1000-reported {
		t.Errorf("a process ended after call %d: %d credits are left (%v), and %d were reported", end, got, err, reported)
	}
	return len(entries) > 1
}
