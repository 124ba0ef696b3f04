package upstreams_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// ask returns a request for a profile.
func ask(handle string) socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle}
}

// TestWhichFailuresOpenTheBreaker makes thirty failing calls, and checks how many of them reach the upstream.
func TestWhichFailuresOpenTheBreaker(t *testing.T) {
	t.Parallel()
	odd := func(handle string) (schema.Profile, error) {
		p := enginetest.Profile(handle)
		p.Country = new("Atlantis")
		return p, nil
	}
	fails := func(err error) func(string) (schema.Profile, error) {
		return func(string) (schema.Profile, error) { return schema.Profile{}, err }
	}
	down := providers.Unavailable(nil, "the upstream answered 500")
	lost := &providers.Error{Kind: providers.ErrUnavailable, Detail: "cannot be reached", Blame: providers.BlameUpstream}
	tests := []struct {
		name     string
		subjects int // requested in turn
		answer   func(handle string) (schema.Profile, error)
		calls    int
	}{
		{"one dead handle", 1, fails(down), 30},
		{"two dead handles in turn", 2, fails(down), 30},
		{"thirty dead handles", 30, fails(down), 8},
		{"three dead handles in turn", 3, fails(down), 30},
		{"broken connections of one subject", 1, fails(lost), 10},
		{"time-outs of one subject", 1, fails(providers.ErrTimeout), 10},
		{"time-outs of two subjects", 2, fails(providers.ErrTimeout), 10},
		{"time-outs of three subjects", 3, fails(providers.ErrTimeout), 8},
		{"objects that violate the schema", 30, odd, 30},
		{"login pages", 30, fails(providers.Walled("a page to log in")), 30},
		{"refused inputs", 30, fails(providers.Invalid("no")), 30},
		{"what is not served", 30, fails(providers.Unsupported("not here")), 30},
		{"what this source does not see", 30, fails(providers.NotHere("a personal account")), 30},
		{"errors of no kind", 30, fails(errors.New("odd")), 8},
		{"a success between two failures", 30, func(handle string) (schema.Profile, error) {
			if handle[len(handle)-1]%2 == 0 {
				return enginetest.Profile(handle), nil
			}
			return schema.Profile{}, down
		}, 30},
		{"an absence is a success", 30, func(handle string) (schema.Profile, error) {
			if handle[len(handle)-1]%2 == 0 {
				return schema.Profile{}, providers.ErrNotFound
			}
			return schema.Profile{}, down
		}, 30},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls enginetest.Counter
			e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own,
				func(_ context.Context, handle string) (schema.Profile, error) {
					calls.Add()
					return tt.answer(handle)
				}))
			for i := range 30 {
				req := ask(fmt.Sprint("a", i%tt.subjects))
				req.Fresh = true
				_, _ = e.Client.Profile(t.Context(), req)
			}
			if calls.Count() != tt.calls {
				t.Errorf("%d of 30 calls reached the upstream, want %d", calls.Count(), tt.calls)
			}
		})
	}
}

// TestOneAccountDoesNotOpenTheBreakerForOthers checks that while a second account calls, failures of the first alone do
// not open the breaker, unless there are ten in a row.
func TestOneAccountDoesNotOpenTheBreakerForOthers(t *testing.T) {
	t.Parallel()
	type call struct {
		account int
		fails   bool
	}
	mine, well, theirs := call{0, true}, call{1, false}, call{1, true}
	tests := []struct {
		name  string
		calls []call // in turn
		times int
		open  bool
	}{
		{"its time-outs between the other's answers", []call{well, mine, mine, mine, mine, mine, mine, mine, mine, mine}, 20, false},
		{"nine in a row of its own", []call{well, mine, mine, mine, mine, mine, mine, mine, mine, mine}, 1, false},
		{"ten in a row of its own", []call{well, mine, mine, mine, mine, mine, mine, mine, mine, mine, mine}, 1, true},
		{"eight of both", []call{well, mine, mine, mine, mine, mine, mine, mine, theirs}, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.New(t, enginetest.Config{Credits: 100_000, Providers: []providers.Provider{
				enginetest.Profiles(platform.GitHub, "github", schema.Own,
					func(_ context.Context, handle string) (schema.Profile, error) {
						if strings.HasPrefix(handle, "dead") {
							return schema.Profile{}, providers.ErrTimeout
						}
						return enginetest.Profile(handle), nil
					}),
			}})
			key, _ := e.Account(t, "other", 100_000)
			clients := []*socialdata.Client{e.Client, e.Open.As(key)}
			n := 0
			for range tt.times {
				for _, c := range tt.calls {
					n++
					handle := fmt.Sprint("well", n)
					if c.fails {
						handle = fmt.Sprint("dead", n)
					}
					_, err := clients[c.account].Profile(t.Context(), ask(handle))
					if !c.fails && err != nil {
						t.Fatalf("call %d: the platform is unavailable to all: %v", n, err)
					}
				}
			}
			_, err := clients[1].Profile(t.Context(), ask("well"))
			if open := err != nil; open != tt.open {
				t.Errorf("after %d calls the breaker is open: %v (%v); want %v", n, open, err, tt.open)
			}
		})
	}
}

// TestConcurrentTimeOutsDoNotOpenTheBreaker checks that concurrent calls of one account that time out together do not
// count as many failures in a row, when another account was answered in the meantime.
func TestConcurrentTimeOutsDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	const many = 3 * 10
	begun, release := make(chan struct{}, many), make(chan struct{})
	e := enginetest.New(t, enginetest.Config{Credits: 100_000, Providers: []providers.Provider{
		enginetest.Profiles(platform.GitHub, "github", schema.Own,
			func(_ context.Context, handle string) (schema.Profile, error) {
				if strings.HasPrefix(handle, "dead") {
					begun <- struct{}{}
					<-release
					return schema.Profile{}, providers.ErrTimeout
				}
				return enginetest.Profile(handle), nil
			}),
	}})
	key, _ := e.Account(t, "other", 100_000)
	other := e.Open.As(key)
	if _, err := other.Profile(t.Context(), ask("well1")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if _, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("dead", i))); err == nil {
				t.Error("a dead handle was answered")
			}
		})
	}
	for range many {
		<-begun
	}
	if _, err := other.Profile(t.Context(), ask("well2")); err != nil {
		t.Fatal(err)
	}
	close(release)
	wg.Wait()
	if _, err := other.Profile(t.Context(), ask("well3")); err != nil {
		t.Errorf("the platform is unavailable to all: %v", err)
	}
}

func TestRawReadsDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&calls))
	p.Routes = providers.Routes(platform.GitHub, "users/{login}{?x}")
	p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) {
		return nil, providers.Unavailable(nil, "the upstream refused our request (status 401)")
	}
	e := enginetest.Of(t, p)
	for i := range 30 {
		_, err := e.Client.Raw(t.Context(), socialdata.RawRequest{
			Provider: "github", Path: fmt.Sprint("users/a", i), Query: url.Values{"x": {fmt.Sprint(i)}},
		})
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "401")
	}
	if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
		t.Errorf("the platform is unavailable to all: %v", err)
	}
	if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != schema.Healthy {
		t.Errorf("health is %s: failures of raw reads must not count", got)
	}
}

func TestTheSandboxHasNoBreaker(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for _, word := range []string{"upstream_error", "rate_limited", "upstream_error", "timeout"} {
		for range 10 {
			_, _ = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: word})
		}
	}
	if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}); err != nil {
		t.Errorf("the sandbox is unavailable to all: %v", err)
	}
}

func TestAnUpstreamWithRetryAfterIsNotCalledUntilThen(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"an hour": time.Hour, "eleven days": 11 * 24 * time.Hour} {
		var one, two enginetest.Counter
		busy := &providers.Error{Kind: providers.ErrUnavailable, Detail: "the upstream answered 503", RetryAfter: wait}
		first := enginetest.Profiles(platform.GitHub, "busy", schema.Official, enginetest.Refuses(&one, busy))
		first.Posts = func(context.Context, string, string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{Items: []schema.Post{enginetest.Post("1")}}, nil
		}
		e := enginetest.Of(t, first)
		both := enginetest.Of(t, first, enginetest.Profiles(platform.GitHub, "well", schema.Own, enginetest.Answers(&two)))
		for i := range 20 {
			_, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("a", i)))
			p := enginetest.WantProblem(t, err, problem.PlatformUnavailable, "answered 503")
			if !errors.Is(err, busy) || i > 0 && p.RetryAfter != time.Hour {
				t.Errorf("%s: call %d has the cause %v and Retry-After %v", name, i, p.Unwrap(), p.RetryAfter)
			}
			if got, err := both.Client.Profile(t.Context(), ask(fmt.Sprint("a", i))); err != nil || got.Data.Source != schema.Own {
				t.Errorf("%s: the next provider was not called: %v", name, err)
			}
		}
		if one.Count() != 2 {
			t.Errorf("%s: %d calls of two engines reached the upstream, want one of each", name, one.Count())
		}
		if _, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}); err != nil {
			t.Errorf("%s: another operation is paused as well: %v", name, err)
		}
		e.Clock.Advance(time.Hour)
		_, _ = e.Client.Profile(t.Context(), ask("a"))
		if one.Count() != 3 {
			t.Errorf("%s: not called again after an hour", name)
		}
	}
}

// TestLinkedDoesNotUseTheHalfOpenCall checks that derived reads neither bypass the breaker nor take its one
// half-open call.
func TestLinkedDoesNotUseTheHalfOpenCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		down := true
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official,
				func(_ context.Context, handle string) (schema.Profile, error) {
					calls.Add()
					if down {
						return schema.Profile{}, providers.ErrTimeout
					}
					return enginetest.Profile(handle), nil
				})},
		})
		for range 10 {
			_, _ = e.Client.Profile(t.Context(), ask("octocat"))
		}
		time.Sleep(21 * time.Second)
		linked := socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "octocat"}
		if _, err := e.Client.Linked(t.Context(), linked); calls.Count() != 11 {
			t.Errorf("%v after %d calls, want one that tries", err, calls.Count())
		}
		if _, err := e.Client.Profile(t.Context(), ask("octocat")); calls.Count() != 11 {
			t.Errorf("%v after %d calls: linked has closed the breaker", err, calls.Count())
		}
		down = false
		time.Sleep(21 * time.Second)
		if _, err := e.Client.Linked(t.Context(), linked); err != nil {
			t.Errorf("linked cannot call an upstream that has recovered: %v", err)
		}
	})
}
