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
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

func do(t *testing.T, c *socialdata.Client, name string, call operation.Call) *operation.Answer {
	t.Helper()
	a, err := c.Do(t.Context(), socialdata.Operation(name), call)
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
		t.Errorf("meta is %+v", again.Meta)
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
		close(release)
		synctest.Wait()
		e.Clock.Advance(20 * time.Hour)
		again := do(t, e.Client, "search_across", call)
		if !again.Replayed || again.Meta.JobID != first.Meta.JobID || string(again.Data) != string(first.Data) ||
			again.Meta.CreditsUsed != 1 || again.Meta.Cache != schema.Hit || again.Meta.DataAgeS != 20*60*60 {
			t.Errorf("replay is %s with %+v", again.Data, again.Meta)
		}
		rest := do(t, e.Client, "job", enginetest.Call("id", again.Meta.JobID))
		if rest.Meta.CreditsUsed != 1 || rest.Meta.JobID != "" || strings.Count(string(rest.Data), `"kind"`) != 2 {
			t.Errorf("the rest is %s with %+v", rest.Data, rest.Meta)
		}
		whole := do(t, e.Client, "search_across", call)
		if strings.Count(string(whole.Data), `"kind"`) != 3 || whole.Meta.JobID != "" || whole.Meta.CreditsUsed != 1 ||
			e.Balance(t) != 998 {
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
		if _, err = e.Client.Do(t.Context(), socialdata.Operation("profile"), call); err != nil {
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
		t.Errorf("%d credits for a call without a key", before-e.Balance(t))
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
	_, err := e.Client.Do(ctx, socialdata.Operation("profile"), call)
	enginetest.WantProblem(t, err, problem.UpstreamTimeout, "stopped waiting")
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
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
			t.Errorf("%d calls in %v", calls.Count(), took)
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
		claim, err := store.Get(t.Context(), records.Key("idempotency", e.Key.Account, onceKey))
		if err != nil {
			t.Fatal(err)
		}
		// Another process claims the key for the same request, and never ends.
		claim.Version, claim.Value = 0, bytes.Replace(claim.Value, []byte(`"Claim":"`), []byte(`"Claim":"another `), 1)
		if _, err := store.Put(t.Context(), claim, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second) // no call of this process is in progress any more
		began := time.Now()
		_, err = once(t.Context(), e.Client, onceKey, "octocat")
		enginetest.WantProblem(t, err, problem.UpstreamTimeout, "earlier call")
		if took := time.Since(began); took > 16*time.Second {
			t.Errorf("waited for %v", took)
		}
		time.Sleep(time.Minute)
	})
}

func TestAnExpiredClaimReportsTheCharge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		store := &stalled{Store: records.NewMemory(records.MemoryConfig{})}
		e := enginetest.New(t, enginetest.Config{Records: store, Providers: []providers.Provider{
			enginetest.Profiles(platform.GitHub, "github", schema.Official,
				func(_ context.Context, handle string) (schema.Profile, error) {
					calls.Add()
					time.Sleep(10 * time.Second)
					return enginetest.Profile(handle), nil
				}),
		}})
		answers := make(chan *operation.Answer, 2)
		fetch := func() {
			req := enginetest.Keyed(enginetest.Call("handle", "octocat", "fresh", "true"), onceKey)
			req.Platform = "github"
			a, err := e.Client.Do(t.Context(), socialdata.Operation("profile"), req)
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}
		store.stall(true)
		go fetch()
		time.Sleep(7 * time.Second) // the claim has expired
		store.stall(false)
		go fetch()
		reported := int64(0)
		for range 2 {
			if a := <-answers; a != nil && !a.Replayed {
				reported += a.Meta.CreditsUsed
			}
		}
		if paid := 1000 - e.Balance(t); reported != paid || paid != 2 { // fresh costs two
			t.Errorf("%d credits were charged and %d reported", paid, reported)
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
