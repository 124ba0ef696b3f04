package socialdatatest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/socialdatatest"
)

// get returns the status and the body of a call.
func get(t *testing.T, s *socialdatatest.Server, key, path string) (status int, answer map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := new(http.Client).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func TestCallsAreCharged(t *testing.T) {
	t.Parallel()
	s := socialdatatest.Start(t)
	if status, answer := get(t, s, s.Key, "/v1/mock/profile?handle=salma"); status != http.StatusOK {
		t.Fatalf("%d: %v", status, answer)
	}
	_, err := socialdata.FrontEnd(s.Client).Do(t.Context(), socialdata.Operation("posts"),
		operation.Call{Platform: "mock", Params: map[string][]string{"handle": {"salma"}}})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, s, s.Key, "/v1/mock/profile?handle=not_found"); status != http.StatusNotFound {
		t.Errorf("an absence is %d", status)
	}
	if diff := cmp.Diff(map[string]int64{"profile": 1, "posts": 1}, s.Charged(t)); diff != "" {
		t.Errorf("charged (-want +got):\n%s", diff)
	}
	_, me := get(t, s, s.Key, "/v1/me")
	if meta, ok := me["meta"].(map[string]any); !ok || meta["credits_remaining"] != float64(socialdatatest.Credits-2) {
		t.Errorf("the account is %v", me)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	s := socialdatatest.Start(t)
	if status, p := get(t, s, s.Poor(t), "/v1/mock/profile?handle=salma"); status != http.StatusPaymentRequired {
		t.Errorf("a poor account gets %d, %v", status, p)
	}
	limited := s.Limited(t, 1, 0.1)
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if status, p := get(t, s, limited, "/v1/mock/profile?handle=salma"); status != want {
			t.Errorf("a limited key gets %d, %v; want %d", status, p, want)
		}
	}
	if len(s.Charged(t)) > 0 {
		t.Errorf("calls with other keys are charged: %v", s.Charged(t))
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	s := socialdatatest.Start(t,
		socialdatatest.Fail("x", providers.OpProfile, socialdatatest.Times(2, providers.Unavailable(nil, "down for a test"))))
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusServiceUnavailable, http.StatusOK} {
		if status, answer := get(t, s, s.Key, "/v1/x/profile?handle=salma"); status != want {
			t.Errorf("%d, %v; want %d", status, answer, want)
		}
	}
	if diff := cmp.Diff(map[string]int64{"profile": 1}, s.Charged(t)); diff != "" {
		t.Errorf("charged (-want +got):\n%s", diff)
	}
}

// TestOwnProvidersAndClock reads from a provider of the test, twice within a lifetime and once after it.
func TestOwnProvidersAndClock(t *testing.T) {
	t.Parallel()
	var ahead, reads atomic.Int64
	s := socialdatatest.Start(t,
		socialdatatest.Clock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }),
		socialdatatest.With(providers.Chain{{
			Name: "own", Platform: platform.GitHub, Source: schema.Own,
			Profile: func(_ context.Context, handle string) (schema.Profile, error) {
				if handle == "nobody" {
					return schema.Profile{}, providers.NotFound("no account has that name")
				}
				reads.Add(1)
				return schema.Profile{Common: schema.Common{ID: "1", URL: "https://github.com/" + handle}, Handle: handle}, nil
			},
		}}))
	read := func(handle string) error {
		_, err := socialdata.FrontEnd(s.Client).Do(t.Context(), socialdata.Operation("profile"),
			operation.Call{Platform: "github", Params: map[string][]string{"handle": {handle}}})
		return err
	}
	for range 2 {
		if err := read("ann"); err != nil {
			t.Fatal(err)
		}
	}
	ahead.Store(int64(2 * time.Hour)) // past the lifetime
	if err := read("ann"); err != nil || reads.Load() != 2 {
		t.Errorf("%d reads, %v; want one of each lifetime", reads.Load(), err)
	}
	if err := read("nobody"); !errors.Is(err, problem.NotFound) {
		t.Error(err)
	}
}
