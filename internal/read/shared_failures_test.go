package read_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// replicas creates three engines with a common cache and the same read function.
func replicas(t *testing.T, read providers.One[schema.Profile]) []*enginetest.Engine {
	t.Helper()
	shared := cache.NewMemory(cache.MemoryConfig{})
	out := make([]*enginetest.Engine, 3)
	for i := range out {
		out[i] = enginetest.New(t, enginetest.Config{
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "slow", schema.Official, read)}, Cache: shared,
		})
	}
	return out
}

// askAll makes the same call on each engine, four times concurrently, and returns the errors.
func askAll(t *testing.T, engines []*enginetest.Engine) []error {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed []error
	for i := range 4 * len(engines) {
		wg.Go(func() {
			if _, err := engines[i%len(engines)].Client.Profile(t.Context(), ask("octocat")); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	return failed
}

func TestEnginesThatShareACacheReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		failed := askAll(t, replicas(t, func(_ context.Context, handle string) (schema.Profile, error) {
			calls.Add()
			time.Sleep(time.Second)
			return enginetest.Profile(handle), nil
		}))
		if len(failed) > 0 || calls.Count() != 1 {
			t.Errorf("%d reads for one key, errors %v", calls.Count(), failed)
		}
	})
}

func TestEnginesThatShareACacheShareAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		failed := askAll(t, replicas(t, func(context.Context, string) (schema.Profile, error) {
			calls.Add()
			time.Sleep(time.Second)
			return schema.Profile{}, providers.Limited("the upstream is rate limiting us", 7*time.Second)
		}))
		if len(failed) != 12 || calls.Count() != 1 {
			t.Fatalf("%d reads, %d failures of 12", calls.Count(), len(failed))
		}
		type told struct {
			code   problem.Code
			detail string
			after  time.Duration
		}
		want := told{problem.PlatformUnavailable, "the upstream is rate limiting us", 7 * time.Second}
		for _, err := range failed {
			p, _ := errors.AsType[*problem.Error](err)
			if diff := cmp.Diff(want, told{p.Code, p.Detail, p.RetryAfter}, cmp.AllowUnexported(told{})); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
		}
	})
}

func TestAnEngineTakesOverTheUnfinishedReadOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		engines := replicas(t, func(ctx context.Context, handle string) (schema.Profile, error) {
			if calls.Add(); calls.Count() == 1 {
				<-ctx.Done()
				return schema.Profile{}, ctx.Err()
			}
			return enginetest.Profile(handle), nil
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := engines[0].Client.Profile(t.Context(), ask("octocat"))
			enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		})
		time.Sleep(10 * time.Second)
		wg.Go(func() {
			began := time.Now()
			if _, err := engines[1].Client.Profile(t.Context(), ask("octocat")); err != nil || time.Since(began) != 4*time.Second {
				t.Errorf("who waited for the other engine: %v after %v", err, time.Since(began))
			}
		})
		wg.Wait()
		if calls.Count() != 2 {
			t.Errorf("%d reads", calls.Count())
		}
	})
}
