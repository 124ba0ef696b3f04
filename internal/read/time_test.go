package read_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// hangs is a read that ends only with its context, and counts its calls.
func hangs(calls *enginetest.Counter) func(context.Context, string) (schema.Profile, error) {
	return func(ctx context.Context, _ string) (schema.Profile, error) {
		calls.Add()
		<-ctx.Done()
		return schema.Profile{}, ctx.Err()
	}
}

func TestAProviderThatHangsLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var one, two enginetest.Counter
		e := enginetest.Of(t,
			enginetest.Profiles(platform.GitHub, "hangs", schema.Official, hangs(&one)),
			enginetest.Profiles(platform.GitHub, "well", schema.Own, enginetest.Answers(&two)))
		for i := range 12 {
			began := time.Now()
			got, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("a", i)))
			if err != nil || got.Data.Source != schema.Own {
				t.Fatalf("call %d: %v, %v", i, got, err)
			}
			want := 7 * time.Second // half of the time for reads
			if i >= 8 {
				want = 0 // eight in a row, however slowly: the first source is not called for a while
			}
			if took := time.Since(began); took != want {
				t.Errorf("call %d took %v, want %v", i, took, want)
			}
		}
		if one.Count() != 8 || two.Count() != 12 {
			t.Errorf("%d and %d calls", one.Count(), two.Count())
		}
	})
}

func TestAProviderThatIgnoresItsContextIsAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		var calls enginetest.Counter
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "deaf", schema.Official,
			func(_ context.Context, handle string) (schema.Profile, error) {
				if calls.Add(); calls.Count() == 1 {
					<-release
				}
				return enginetest.Profile(handle), nil
			}))
		began := time.Now()
		_, err := e.Client.Profile(t.Context(), ask("octocat"))
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		if took := time.Since(began); took != 14*time.Second {
			t.Errorf("took %v, want 14s", took)
		}
		began = time.Now()
		if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil || time.Since(began) > 0 {
			t.Errorf("the next caller was held for %v: %v", time.Since(began), err)
		}
	})
}

func TestCallersThatJoinedATimedOutReadShareANewOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "lost", schema.Official,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				if calls.Add(); calls.Count() == 1 { // one request is lost, but the upstream is healthy
					<-ctx.Done()
					return schema.Profile{}, ctx.Err()
				}
				return enginetest.Profile(handle), nil
			}))
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := e.Client.Profile(t.Context(), ask("octocat"))
			enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		})
		time.Sleep(13 * time.Second)
		for range 5 { // they share the second read
			wg.Go(func() {
				began := time.Now()
				_, err := e.Client.Profile(t.Context(), ask("octocat"))
				if took := time.Since(began); err != nil || took != time.Second {
					t.Errorf("a caller who joined at 13 s: %v after %v", err, took)
				}
			})
		}
		wg.Wait()
		if calls.Count() != 2 {
			t.Errorf("%d calls, want 2", calls.Count())
		}
	})
}

// hangingCache ends only with its contexts.
type hangingCache struct{}

func (hangingCache) Get(ctx context.Context, _ string) (*cache.Entry, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCache) Erase(ctx context.Context, _ privacy.Subject) (map[string]int, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCache) Set(ctx context.Context, _ string, _ *cache.Entry, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestACacheThatHangsCountsAsAMiss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{Cache: hangingCache{}})
		began := time.Now()
		got, err := e.Client.Profile(t.Context(), salma())
		if took := time.Since(began); err != nil || got.Meta.Cache != schema.Miss || took >= 5*time.Second {
			t.Errorf("%v, %v after %v", got, err, took)
		}
	})
}

func TestAnEnricherThatHangsIsAbandonedAndNotCharged(t *testing.T) {
	t.Parallel()
	for name, heeds := range map[string]bool{"ends with its context": true, "never ends": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(enrich.Func(
					func(ctx context.Context, _ string) (schema.Enrichment, error) {
						if !heeds {
							ctx = context.WithoutCancel(ctx)
						}
						select {
						case <-ctx.Done():
						case <-release:
						}
						return schema.Enrichment{}, ctx.Err()
					}))}})
				req := salma()
				req.Handle, req.Enrich = "salma_haddad", socialdata.Arabic
				began := time.Now()
				got, err := e.Client.Profile(t.Context(), req)
				if err != nil || !got.Data.Enrichment.Set || got.Data.Enrichment.Value != nil || got.Meta.CreditsUsed != 1 {
					t.Errorf("%v, %v", got, err)
				}
				if took := time.Since(began); took != 14*time.Second {
					t.Errorf("took %v, want 14s", took)
				}
			})
		})
	}
}

func TestACallerWhoLeavesDuringTheEnrichmentPaysNothing(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(enrich.Func(
		func(context.Context, string) (schema.Enrichment, error) {
			leave()
			return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
		}))}})
	req := salma()
	req.Handle, req.Enrich = "salma_haddad", socialdata.Arabic
	_, err := e.Client.Profile(ctx, req)
	enginetest.WantProblem(t, err, problem.UpstreamTimeout, "stopped waiting")
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left", e.Balance(t))
	}
}

// slowCache takes a millisecond for a look-up.
type slowCache struct{ cache.Store }

func (s slowCache) Get(ctx context.Context, key string) (*cache.Entry, error) {
	e, err := s.Store.Get(ctx, key)
	time.Sleep(time.Millisecond)
	return e, err
}

func TestACallerThatMissesAReadInProgressChecksTheCacheAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.New(t, enginetest.Config{
			Cache: slowCache{cache.NewMemory(cache.MemoryConfig{})},
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Own,
				func(_ context.Context, handle string) (schema.Profile, error) {
					calls.Add()
					time.Sleep(100 * time.Microsecond)
					return enginetest.Profile(handle), nil
				})},
		})
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Microsecond)
				if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if calls.Count() != 1 {
			t.Errorf("50 callers within 5 ms made %d upstream calls", calls.Count())
		}
	})
}

func TestACallerWhoLeavesDoesNotFailOthersOfTheSameRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				select {
				case <-ctx.Done():
					return schema.Profile{}, ctx.Err()
				case <-time.After(time.Second):
					return enginetest.Profile(handle), nil
				}
			}))
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { // the first caller: the read was begun for it
			if _, err := e.Client.Profile(leaving, ask("octocat")); err == nil {
				t.Error("the caller who left got an answer")
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Data.Handle != "octocat" {
				t.Errorf("the caller who stayed got %v, %v", got, err)
			}
		})
		synctest.Wait()
		leave()
		wg.Wait()
		if calls.Count() != 1 {
			t.Errorf("%d upstream calls, want 1", calls.Count())
		}
	})
}

func TestAnOlderReadDoesNotOverwriteANewerOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own,
			func(_ context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				p := enginetest.Profile(handle)
				p.DisplayName = new(fmt.Sprint("version ", calls.Count()))
				if calls.Count() == 1 {
					time.Sleep(5 * time.Second)
				}
				return p, nil
			}))
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		e.Clock.Advance(time.Second)
		fresh := ask("octocat")
		fresh.Fresh = true
		if _, err := e.Client.Profile(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(4 * time.Second)
		wg.Wait()
		got, err := e.Client.Profile(t.Context(), ask("octocat"))
		if err != nil || *got.Data.DisplayName != "version 2" || got.Meta.Cache != schema.Hit {
			t.Errorf("the cache has %s (%s), %v; what was paid double is version 2", *got.Data.DisplayName, got.Meta.Cache, err)
		}
	})
}

func TestCloseWaitsForReadsAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own,
			func(_ context.Context, handle string) (schema.Profile, error) {
				time.Sleep(5 * time.Second)
				return enginetest.Profile(handle), nil
			}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := e.Client.Profile(ctx, ask("octocat"))
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		began := time.Now()
		if err := e.Client.Close(t.Context()); err != nil || time.Since(began) != 4*time.Second {
			t.Errorf("closed after %v, %v: the flight had 4 s to go", time.Since(began), err)
		}
		if got, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Meta.Cache != schema.Hit {
			t.Errorf("what has landed can be read: %v", err)
		}
		_, err = e.Client.Profile(t.Context(), ask("another"))
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "shutting down")
	})
}
