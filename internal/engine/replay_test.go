package engine_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

func do(t *testing.T, c *socialdata.Client, name string, call operation.Call) *operation.Answer {
	t.Helper()
	a, err := socialdata.FrontEnd(c).Do(t.Context(), socialdata.Operation(name), call)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAReplayHasTheCurrentAgeOfTheData(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	call := keyedCall("mock", idempotencyKey, "handle=ann")
	do(t, e.Client, "profile", call)
	e.Clock.Advance(23 * time.Hour)
	again := do(t, e.Client, "profile", call)
	if again.Meta.DataAgeS != 23*60*60 || again.Meta.Cache != schema.Hit || again.Meta.CreditsUsed != 1 ||
		!again.Replayed {
		t.Errorf("replayed %t, meta is %+v; want a replay, a hit, 23 h old, for 1 credit", again.Replayed, again.Meta)
	}
}

func TestAReplayHasTheSameBytesAndTag(t *testing.T) {
	t.Parallel()
	dish := enginetest.By("a & b", "dish", 1)
	dish.Object.(*schema.Post).Text = "fish & <chips>"
	e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, dish)))
	for name, call := range map[string]operation.Call{
		"search":        keyedCall("tiktok", idempotencyKey, "query=a"),
		"search_across": keyedCall("", idempotencyKey+"2", "query=a"),
	} {
		first, again := do(t, e.Client, name, call), do(t, e.Client, name, call)
		if diff := cmp.Diff(string(first.Data), string(again.Data)); diff != "" || !again.Replayed {
			t.Errorf("%s: replayed %t (-first +again):\n%s", name, again.Replayed, diff)
		}
	}
}

func TestAccountsWithSlashesHaveSeparateRecords(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for _, name := range []string{"acme", "acme/eu"} {
		if _, err := e.Ledger.Grant(t.Context(), name, 100, "for a test"); err != nil {
			t.Fatal(err)
		}
	}
	as := func(account string) *socialdata.Client {
		return e.Open.As(keys.Key{ID: "of " + account, Account: account})
	}
	do(t, as("acme"), "profile", keyedCall("mock", "eu/"+idempotencyKey, "handle=ann"))
	if a := do(t, as("acme/eu"), "profile", keyedCall("mock", idempotencyKey, "handle=ann")); a.Replayed {
		t.Error("one account is answered with the record of another")
	}
}

func TestAPendingSearchIsReplayedThroughItsJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := enginetest.Of(t, enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 1)...)),
			enginetest.Late(enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 2)...)), release))
		call := keyedCall("", idempotencyKey, "query=coffee&wait_s=1")
		first := do(t, e.Client, "search_across", call)
		again := do(t, e.Client, "search_across", call)
		if !again.Replayed || again.Meta.JobID != first.Meta.JobID || string(again.Data) != string(first.Data) ||
			again.Meta.CreditsUsed != 1 || again.Meta.Cache != schema.Hit {
			t.Errorf("replay is %s with %+v", again.Data, again.Meta)
		}
		close(release)
		synctest.Wait()
		e.Clock.Advance(20 * time.Hour)
		whole := do(t, e.Client, "search_across", call)
		if strings.Count(string(whole.Data), `"kind"`) != 3 || whole.Meta.JobID != "" || whole.Meta.CreditsUsed != 2 ||
			whole.Meta.DataAgeS != 20*60*60 || e.Balance(t) != 998 {
			t.Errorf("the whole is %s with %+v", whole.Data, whole.Meta)
		}
	})
}

func TestStoredAnswersAreBounded(t *testing.T) {
	t.Parallel()
	clock := &enginetest.Clock{}
	e := enginetest.New(t,
		enginetest.Config{Records: records.NewMemory(records.MemoryConfig{Now: clock.Now, OwnerBytes: 2000})})
	var err error
	for i := range 20 {
		call := keyedCall("mock", idempotencyKey+string(rune('a'+i)), "handle=ann")
		if _, err = socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), call); err != nil {
			break
		}
	}
	p := enginetest.WantProblem(t, err, problem.RateLimited, "idempotency keys")
	if p.RetryAfter <= 0 {
		t.Error("there is no time to come back at")
	}
	before := e.Balance(t)
	do(t, e.Client, "profile", keyedCall("mock", "", "handle=ann"))
	if e.Balance(t) != before-1 {
		t.Errorf("%d credits for a call without a key, want 1", before-e.Balance(t))
	}
}

// leaving is an enricher during which the caller hangs up.
func leaving(leave context.CancelFunc) enrich.Enricher {
	return enrich.Func(func(ctx context.Context, _ string) (schema.Enrichment, error) {
		leave()
		<-ctx.Done()
		return schema.Enrichment{}, ctx.Err()
	})
}

func TestACallerWhoHangsUpDuringEnrichmentPaysNothing(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(leaving(leave))}})
	call := keyedCall("mock", idempotencyKey, "handle=ann&enrich=arabic")
	_, err := socialdata.FrontEnd(e.Client).Do(ctx, socialdata.Operation("profile"), call)
	enginetest.WantProblem(t, err, problem.UpstreamTimeout, "stopped waiting")
	e.WantBalance(t, 1000)
}

func TestWaitingCallsGetTheFirstFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(context.Context, string) (schema.Profile, error) {
				calls.Add()
				time.Sleep(5 * time.Second)
				return schema.Profile{}, providers.Unavailable(nil, "down")
			}))
		began := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				_, err := once(t.Context(), e.Client, onceKey, "octocat")
				enginetest.WantProblem(t, err, problem.PlatformUnavailable, "down")
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 6*time.Second || calls.Count() != 1 {
			t.Errorf("%d calls in %v, want 1 in at most 6s", calls.Count(), took)
		}
		if _, err := once(t.Context(), e.Client, onceKey, "octocat"); err == nil || calls.Count() != 2 {
			t.Errorf("a later call is not made again: %v", err)
		}
	})
}

func TestAWaitForAnEarlierCallEndsWithTheCallsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(_ context.Context, handle string) (schema.Profile, error) {
				time.Sleep(10 * time.Second)
				return enginetest.Profile(handle), nil
			}))
		go func() { _, _ = once(t.Context(), e.Client, onceKey, "octocat") }()
		synctest.Wait()
		store := records.Compress(e.Records)
		claim, err := store.Get(t.Context(), calls.RecordKey(calls.KeyedID(e.Key.Account, onceKey)))
		if err != nil {
			t.Fatal(err)
		}
		// Another process claims the key for the same request, and never ends.
		claim.Version, claim.Value = 0, bytes.Replace(claim.Value, []byte(`"Attempt":"`), []byte(`"Attempt":"another `), 1)
		if _, err := store.Put(t.Context(), claim, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second) // no call of this process is in progress any more
		began := time.Now()
		_, err = once(t.Context(), e.Client, onceKey, "octocat")
		p := enginetest.WantProblem(t, err, problem.RateLimited, "a call with this Idempotency-Key is in progress")
		if p.RetryAfter != time.Second {
			t.Errorf("retry after %v, want 1s", p.RetryAfter)
		}
		if took := time.Since(began); took > 16*time.Second {
			t.Errorf("waited for %v, want at most 16s", took)
		}
		time.Sleep(time.Minute)
	})
}

// TestWaitingCallsDoNotInheritAHangUp lets the first call of a key hang up: the one that waits makes the call itself.
func TestWaitingCallsDoNotInheritAHangUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				select {
				case <-time.After(3 * time.Second):
					return enginetest.Profile(handle), nil
				case <-ctx.Done():
					return schema.Profile{}, ctx.Err()
				}
			}))
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := once(ctx, e.Client, onceKey, "octocat")
			enginetest.WantProblem(t, err, problem.UpstreamTimeout, "stopped waiting")
		})
		synctest.Wait()
		a, err := once(t.Context(), e.Client, onceKey, "octocat")
		if err != nil || a.Meta.CreditsUsed != 1 || e.Balance(t) != 999 {
			t.Errorf("got %+v, %v, %d credits left; want 1 used, 999", a, err, e.Balance(t))
		}
		wg.Wait()
	})
}

// claiming is a store of records in which the claims of a process that has died stay, or end early.
type claiming struct {
	records.Store
	life time.Duration // of claims; 0 for their own
}

func (l *claiming) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	if l.life > 0 {
		ttl = l.life
	}
	return l.Store.Add(ctx, r, ttl)
}

func (l *claiming) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	if l.life == 0 {
		return 0, errDisk
	}
	return l.Store.Put(ctx, r, ttl)
}

func (l *claiming) Delete(context.Context, string, int64) error { return errDisk }

// TestTheClaimOfADeadProcessIsTakenOver repeats a call at a process while the claim of another one stays: for the time
// of a call it is told to come again, and then it makes the call.
func TestTheClaimOfADeadProcessIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := records.NewMemory(records.MemoryConfig{})
		dies := enginetest.New(t, enginetest.Config{Records: &claiming{Store: store}, Providers: []providers.Provider{
			enginetest.Profiles(platform.GitHub, "github", schema.Official,
				func(context.Context, string) (schema.Profile, error) {
					return schema.Profile{}, providers.Unavailable(nil, "down")
				}),
		}})
		client, err := socialdata.New(socialdata.WithRecords(store), socialdata.WithLedger(dies.Ledger),
			socialdata.WithProviders(providers.Chain{enginetest.Profiles(platform.GitHub, "github", schema.Official,
				enginetest.Answers(new(enginetest.Counter)))}), socialdata.WithClock(dies.Clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context()) //nolint:errcheck // only a test's own
		alive := client.As(dies.Key)
		if _, err := once(t.Context(), dies.Client, onceKey, "octocat"); err == nil {
			t.Fatal("the first call is answered")
		}
		began := time.Now()
		_, err = once(t.Context(), alive, onceKey, "octocat")
		enginetest.WantProblem(t, err, problem.RateLimited, "in progress")
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %v, want at most 15s", took)
		}
		dies.Clock.Advance(15*time.Second + time.Millisecond)
		a, err := once(t.Context(), alive, onceKey, "octocat")
		if took := time.Since(began); err != nil || a.Replayed || a.Meta.CreditsUsed != 1 || took > 16*time.Second {
			t.Errorf("after %v: %+v, %v; want a new call for 1 credit within 16s", took, a, err)
		}
	})
}

// TestACallWhoseClaimWasTakenOverIsRefused lets the claim of a slow process end before its call, and another process
// take it over.
func TestACallWhoseClaimWasTakenOverIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := records.NewMemory(records.MemoryConfig{})
		slow := enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(_ context.Context, handle string) (schema.Profile, error) {
				time.Sleep(8 * time.Second)
				return enginetest.Profile(handle), nil
			})
		one := enginetest.New(t, enginetest.Config{
			Records: &claiming{Store: store, life: 5 * time.Second}, Providers: []providers.Provider{slow},
		})
		another, err := socialdata.New(socialdata.WithRecords(store), socialdata.WithLedger(one.Ledger),
			socialdata.WithProviders(providers.Chain{slow}), socialdata.WithClock(one.Clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := once(t.Context(), one.Client, onceKey, "octocat")
			enginetest.WantProblem(t, err, problem.RateLimited, "in progress")
		})
		time.Sleep(6 * time.Second)
		a, err := once(t.Context(), another.As(one.Key), onceKey, "octocat")
		wg.Wait()
		if err != nil || a.Meta.CreditsUsed != 1 || one.Balance(t) != 999 {
			t.Errorf("got %+v, %v, %d credits left; want 1 used, 999", a, err, one.Balance(t))
		}
		if err := another.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// stalled is a store of records that cannot write for a while.
type stalled struct {
	records.Store
	mu sync.Mutex
	on bool
}

func (s *stalled) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on
}

func (s *stalled) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	on := s.on
	s.mu.Unlock()
	if on {
		return 0, errDisk
	}
	return s.Store.Put(ctx, r, ttl)
}
