package engine_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// TestSingleReadsOfManyCallersAreBatched checks that a thousand callers of two accounts, each with a handle of its own,
// cause few requests, and that each gets its own answer and pays for it.
func TestSingleReadsOfManyCallersAreBatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &enginetest.Batched{Most: 100, Answers: 50 * time.Millisecond}
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{source.Provider(platform.X, "x")}})
		other, _ := e.Account(t, "other", 1000)
		clients := []*socialdata.Client{e.Client, e.Open.As(other)}
		begun := time.Now()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				handle := fmt.Sprint("user", i)
				got, err := clients[i%2].Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.X, Handle: handle})
				switch {
				case err != nil:
					t.Error(err)
				case got.Data.Handle != handle || got.Data.ID != "id-"+handle:
					t.Errorf("%s got the answer of %s", handle, got.Data.Handle)
				}
			})
		}
		all.Wait()
		if n := len(source.Requests()); n > 12 {
			t.Errorf("%d requests for 1000 handles, want at most 12", n)
		}
		if took := time.Since(begun); took > 200*time.Millisecond {
			t.Errorf("the last caller has waited %v, want at most 200ms", took)
		}
		e.WantBalance(t, 500)
		wantAsked(t, e, 1000, "x", 50*time.Millisecond)
	})
}

// TestABatchOfUncachedKeysIsOneRequest checks that the reads start together, although no request is in progress.
func TestABatchOfUncachedKeysIsOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &enginetest.Batched{Most: 100, Answers: 50 * time.Millisecond}
		e := enginetest.Of(t, source.Provider(platform.X, "x"))
		handles := make([]string, 100)
		for i := range handles {
			handles[i] = fmt.Sprint("user", i)
		}
		begun := time.Now()
		got, err := profiles(platform.X, handles...).read(t.Context(), e.Client)
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range got.Data {
			if item.Data == nil || item.Data.Handle != handles[i] {
				t.Errorf("%s: got %+v, want its profile", handles[i], item)
			}
		}
		if n, took := len(source.Requests()), time.Since(begun); n != 1 || took > 60*time.Millisecond {
			t.Errorf("%d requests in %v, want 1 in at most 60ms", n, took)
		}
		wantAsked(t, e, 1, "x", 50*time.Millisecond)
	})
}

// wantAsked checks that the log has n calls, for each of which the provider was called once and took that long.
func wantAsked(t *testing.T, e *enginetest.Engine, n int, provider string, took time.Duration) {
	t.Helper()
	logged, err := e.Open.Operator().Requests(t.Context(), "", accounts.RequestsRequest{}, 0)
	if err != nil || len(logged) != n {
		t.Fatalf("the log has %d calls, %v; want %d", len(logged), err, n)
	}
	want := []requests.Provider{{Name: provider, Calls: 1, Took: took}}
	for _, r := range logged {
		if diff := cmp.Diff(want, r.Providers); diff != "" {
			t.Fatalf("the providers of a call (-want +got):\n%s", diff)
		}
	}
}

// TestABatchReadsEightKeysAtATime checks this for an upstream that accepts one key in a request.
func TestABatchReadsEightKeysAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		e := enginetest.Of(t, enginetest.Profiles(platform.X, "x", schema.Own,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				mu.Lock()
				now--
				mu.Unlock()
				return enginetest.Profile(handle), ctx.Err()
			}))
		handles := make([]string, 30)
		for i := range handles {
			handles[i] = fmt.Sprint("user", i)
		}
		if _, err := profiles(platform.X, handles...).read(t.Context(), e.Client); err != nil || most != 8 {
			t.Errorf("%d reads at a time, %v; want 8", most, err)
		}
	})
}

// TestABatchEndsInTime checks that a key without a result in the time of a call has a timeout, and that a later result
// is cached.
func TestABatchEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Of(t, enginetest.Profiles(platform.X, "x", schema.Own,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				if strings.HasPrefix(handle, "slow") {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
						return schema.Profile{}, ctx.Err()
					}
				}
				return enginetest.Profile(handle), nil
			}))
		begun := time.Now()
		got, err := profiles(platform.X, "slow1", "ann", "slow2").read(t.Context(), e.Client)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 16*time.Second {
			t.Errorf("it took %v, want at most 16s", took)
		}
		for i, want := range []problem.Code{problem.UpstreamTimeout, "", problem.UpstreamTimeout} {
			if p := got.Data[i].Problem; (p == nil) != (want == "") || p != nil && p.Code != want {
				t.Errorf("%s: %v, want %q", got.Data[i].Key, p, want)
			}
		}
		if got.Meta.CreditsUsed != 1 || e.Balance(t) != 999 {
			t.Errorf("%d credits used, the balance is %d; want 1, 999", got.Meta.CreditsUsed, e.Balance(t))
		}
	})
}

// TestTheEstimateOfABatchIsItsPrice checks this for keys that are not cached, and that cached ones are reported.
func TestTheEstimateOfABatchIsItsPrice(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	of := "/v1/mock/profile/batch?" + url.Values{"handles": {"salma,omar,@salma"}, "enrich": {"arabic"}}.Encode()
	estimate := func() schema.Estimate {
		t.Helper()
		got, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: of})
		if err != nil {
			t.Fatal(err)
		}
		return got.Data
	}
	if got := estimate(); got.Credits.Most != 5 || got.Credits.Base != 2 || got.Credits.Enrich != 3 ||
		got.Credits.Least != 0 || got.Cache != schema.Miss {
		t.Errorf("before the read: %+v, want a miss for 0 to 2+3 credits", got)
	}
	if _, err := profiles(platform.Mock, "salma", "omar").read(t.Context(), e.Client); err != nil {
		t.Fatal(err)
	}
	if got := estimate(); got.Credits.Most != 5 || got.Credits.Least != 2 || got.Cache != schema.Hit ||
		got.GoodForS != 3600 {
		t.Errorf("after the read: %+v, want a hit for 2 to 5 credits, good for 3600 s", got)
	}
}

// TestABatchDoesNotWaitForTheReadOfAnother checks that a key that another caller is reading does not delay the other
// keys.
func TestABatchDoesNotWaitForTheReadOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &enginetest.Batched{Most: 100, Answers: time.Second}
		e := enginetest.Of(t, source.Provider(platform.X, "x"))
		go func() {
			_, _ = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.X, Handle: "ann"})
		}()
		synctest.Wait()
		begun := time.Now()
		if _, err := profiles(platform.X, "ann", "bob", "eve").read(t.Context(), e.Client); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v, want 1s", took)
		}
		for _, keys := range source.Requests()[1:] {
			if len(keys) != 2 {
				t.Errorf("requests %q, want two keys in each", source.Requests())
			}
		}
	})
}
