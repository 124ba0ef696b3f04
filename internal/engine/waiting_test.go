package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// locking counts the calls that lock, write and read a record of an idempotency key.
type locking struct {
	records.Store
	adds, puts, gets enginetest.Counter
}

func (l *locking) Get(ctx context.Context, key string) (records.Record, error) {
	if strings.HasPrefix(key, "idempotency/") {
		l.gets.Add()
	}
	return l.Store.Get(ctx, key)
}

func (l *locking) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if strings.HasPrefix(r.Key, "idempotency/") {
		l.puts.Add()
	}
	return l.Store.Put(ctx, r, ttl)
}

func (l *locking) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	if strings.HasPrefix(r.Key, "idempotency/") {
		l.adds.Add()
	}
	return l.Store.Add(ctx, r, ttl)
}

// TestCallsThatWaitForAnIdempotencyKeyUseTheStoreOnceASecond lets fifty calls on each of two replicas wait for one that
// takes five seconds. One on each replica uses the store.
func TestCallsThatWaitForAnIdempotencyKeyUseTheStoreOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &locking{Store: records.NewMemory(records.MemoryConfig{})}
		slow := []providers.Provider{{
			Name: "slow", Platform: platform.Mock, Source: schema.Own,
			Search: func(context.Context, providers.SearchQuery, string) (page providers.Page[schema.SearchResult], err error) {
				time.Sleep(5 * time.Second)
				return page, nil
			},
		}}
		e := enginetest.New(t, enginetest.Config{Records: store, Providers: slow})
		other, err := socialdata.New(socialdata.WithRecords(store), socialdata.WithLedger(e.Ledger),
			socialdata.WithProviders(slow),
			socialdata.WithClock(e.Clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		const calls = 50
		var wg sync.WaitGroup
		for _, replica := range []*socialdata.Client{e.Client, other.As(e.Key)} {
			for range calls {
				wg.Go(func() {
					_, err := socialdata.FrontEnd(replica).Do(t.Context(), socialdata.Operation("search"), keyedCall("mock", idempotencyKey, "query=cats"))
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if err := other.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if adds, gets := store.adds.Count(), store.gets.Count(); adds+gets > 2+6 {
			t.Errorf("%d calls on each replica claimed the key %d times and read its record %d times", calls, adds, gets)
		}
		e.WantBalance(t, 999)
	})
}

// TestAHitWithAnIdempotencyKeyIsChargedOnce expects three writes of the record of a call that the cache answers, however
// often it is repeated: repetitions only read it.
func TestAHitWithAnIdempotencyKeyIsChargedOnce(t *testing.T) {
	t.Parallel()
	store := &locking{Store: records.NewMemory(records.MemoryConfig{})}
	e := enginetest.New(t, enginetest.Config{Records: store})
	call := func(key, params string) *operation.Answer {
		t.Helper()
		a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), keyedCall("mock", key, params))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	warm := call("", "handle=ann")
	if warm.Meta.CreditsUsed != 1 {
		t.Fatalf("meta is %+v, want 1 credit used", warm.Meta)
	}
	first := call(idempotencyKey, "handle=ann")
	if first.Replayed || first.Meta.Cache != schema.Hit || first.Meta.CreditsUsed != 1 ||
		first.Meta.CreditsRemaining != 998 {
		t.Errorf("the first: replayed %t, %+v; want a new hit for 1 credit, 998 left", first.Replayed, first.Meta)
	}
	if adds, puts := store.adds.Count(), store.puts.Count(); adds != 1 || puts != 2 {
		t.Errorf("%d records added and %d written over; want 1 and 2", adds, puts)
	}
	for range 3 {
		again := call(idempotencyKey, "handle=ann")
		if !again.Replayed || again.Meta.CreditsUsed != 1 || again.Meta.CreditsRemaining != 998 ||
			string(again.Data) != string(first.Data) {
			t.Errorf("again: replayed %t, %+v; want the same answer for 1 credit, 998 left", again.Replayed, again.Meta)
		}
	}
	if puts := store.puts.Count(); puts != 2 {
		t.Errorf("%d records written over; want 2, with what is due and that it is paid", puts)
	}
	e.WantBalance(t, 998)
}

// TestAHitThatCannotBePaidIsNotReturned repeats a call with a key for an account that has no credits, and then has
// some.
func TestAHitThatCannotBePaidIsNotReturned(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	poor, _ := e.Account(t, "poor", 1)
	call := func(key string) (*operation.Answer, error) {
		return socialdata.FrontEnd(e.Client.As(poor)).Do(t.Context(), socialdata.Operation("profile"), keyedCall("mock", key, "handle=ann"))
	}
	if _, err := call(""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := call(idempotencyKey)
		enginetest.WantProblem(t, err, problem.InsufficientCredits, "")
	}
	if _, err := e.Ledger.Grant(t.Context(), poor.Account, 1, "more"); err != nil {
		t.Fatal(err)
	}
	if a, err := call(idempotencyKey); err != nil || a.Replayed || a.Meta.CreditsUsed != 1 ||
		a.Meta.CreditsRemaining != 0 {
		t.Errorf("got %+v, %v; want a new call for 1 credit, 0 left", a, err)
	}
}
