package read_test

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

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func ask(handle string) socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle}
}

func TestAnAnswerIsStampedAndCompleted(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(&enginetest.Counter{})),
	}})
	got, err := e.Client.Profile(t.Context(), ask("octocat"))
	if err != nil {
		t.Fatal(err)
	}
	want := enginetest.Profile("octocat")
	want.Platform, want.Source, want.FetchedAt, want.Links = platform.GitHub, schema.Official, enginetest.Start, []string{}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestAgeAndLifetime(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(&calls))}})
	steps := []struct {
		after time.Duration
		cache schema.CacheState
		age   int64
		calls int
	}{
		{0, schema.Miss, 0, 1},
		{0, schema.Hit, 0, 1},
		{59 * time.Minute, schema.Hit, 59 * 60, 1},
		{59 * time.Second, schema.Hit, 59*60 + 59, 1},
		{time.Second, schema.Miss, 0, 2}, // an hour: past its lifetime
		{time.Minute, schema.Hit, 60, 2},
	}
	for i, s := range steps {
		e.Clock.Advance(s.after)
		got, err := e.Client.Profile(t.Context(), ask("octocat"))
		if err != nil {
			t.Fatal(err)
		}
		if got.Meta.Cache != s.cache || got.Meta.DataAgeS != s.age || calls.Count() != s.calls {
			t.Errorf("step %d: %s, %d s old, %d calls; want %s, %d, %d", i, got.Meta.Cache, got.Meta.DataAgeS, calls.Count(), s.cache, s.age, s.calls)
		}
	}
}

func TestAgeCountsFromTheAnswer(t *testing.T) {
	t.Parallel()
	var clock *enginetest.Clock
	slow := func(_ context.Context, handle string) (schema.Profile, error) {
		clock.Advance(10 * time.Second) // it takes this long
		return enginetest.Profile(handle), nil
	}
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Official, slow))
	clock = e.Clock
	got, err := e.Client.Profile(t.Context(), ask("octocat"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Meta.DataAgeS != 0 || !got.Data.FetchedAt.Equal(enginetest.Start.Add(10*time.Second)) {
		t.Errorf("%d s old, fetched at %v", got.Meta.DataAgeS, got.Data.FetchedAt)
	}
	e.Clock.Advance(time.Hour - time.Second)
	if got, err = e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Meta.Cache != schema.Hit {
		t.Errorf("within its hour: %v, %v", got, err)
	}
	e.Clock.Advance(time.Second)
	if got, err = e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Meta.Cache != schema.Miss {
		t.Errorf("an hour after it was fetched: %v, %v", got, err)
	}
}

func TestAFreshReadIsCached(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Answers(&calls))}})
	for _, fresh := range []bool{false, true, false} {
		e.Clock.Advance(time.Minute)
		req := ask("octocat")
		req.Fresh = fresh
		if _, err := e.Client.Profile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	want := []enginetest.Charge{
		enginetest.Charged(1, "profile", "github", "MISS"), enginetest.Charged(2, "profile", "github", "MISS"),
		enginetest.Charged(1, "profile", "github", "HIT"),
	}
	if diff := cmp.Diff(want, e.Charges(t)); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
	got, err := e.Client.Profile(t.Context(), ask("octocat"))
	if err != nil || got.Meta.DataAgeS != 60 || calls.Count() != 2 {
		t.Errorf("%+v, %v after %d calls: the fresh answer was not kept", got.Meta, err, calls.Count())
	}
}

func TestAnAbsenceIsCachedForAMinute(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Refuses(&calls, providers.NotFound("this account is suspended"))),
	}})
	for i, s := range []struct {
		after time.Duration
		calls int
	}{{0, 1}, {0, 1}, {59 * time.Second, 1}, {time.Second, 2}} {
		e.Clock.Advance(s.after)
		_, err := e.Client.Profile(t.Context(), ask("nobody"))
		enginetest.WantProblem(t, err, problem.NotFound, "this account is suspended")
		if calls.Count() != s.calls {
			t.Errorf("step %d: %d calls, want %d", i, calls.Count(), s.calls)
		}
	}
	if got := e.Charges(t); len(got) > 0 {
		t.Errorf("an absence was charged: %v", got)
	}
	if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != schema.Healthy {
		t.Errorf("health is %s: an absence is a healthy answer", got)
	}
}

func TestAnAbsenceWithoutDetailNamesTheRequest(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Refuses(&enginetest.Counter{}, fmt.Errorf("github: %w", providers.ErrNotFound))),
	}})
	_, err := e.Client.Profile(t.Context(), ask("nobody"))
	enginetest.WantProblem(t, err, problem.NotFound, `github has no profile for handle "nobody"`)
}

func TestAFailureIsNeitherChargedNorCached(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		code problem.Code
		word string
	}{
		{"unavailable", providers.Unavailable(errors.New("secret token xyz"), "the upstream answered 500"), problem.PlatformUnavailable, "answered 500"},
		{"an error of no kind", errors.New("secret token xyz"), problem.PlatformUnavailable, "the upstream failed"},
		{"a time-out", fmt.Errorf("secret token xyz: %w", providers.ErrTimeout), problem.UpstreamTimeout, "did not answer"},
		{"a deadline", context.DeadlineExceeded, problem.UpstreamTimeout, ""},
		{"refused input", providers.Invalid("a handle has no spaces"), problem.InvalidRequest, "no spaces"},
		{"an upstream's limit", &providers.Error{Kind: providers.ErrUnavailable, Detail: "the upstream is rate limiting us", RetryAfter: 30 * time.Second}, problem.PlatformUnavailable, "rate limiting"},
		{"not for our kind of access", providers.Unsupported("only for partners"), problem.PlatformUnavailable, "only for partners"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls enginetest.Counter
			e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, enginetest.Refuses(&calls, tt.err))}})
			for range 2 {
				_, err := e.Client.Profile(t.Context(), ask("octocat"))
				p := enginetest.WantProblem(t, err, tt.code, tt.word)
				if strings.Contains(p.Detail, "xyz") {
					t.Errorf("detail %q shows an internal", p.Detail)
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("%v has lost its cause", err)
				}
				e.Clock.Advance(time.Minute) // an upstream that names a time is not called until then
			}
			if calls.Count() != 2 {
				t.Errorf("%d calls, want 2: a failure was kept", calls.Count())
			}
			if e.Balance(t) != 1000 || len(e.Charges(t)) > 0 {
				t.Errorf("%d credits are left after %v", e.Balance(t), e.Charges(t))
			}
		})
	}
}

func TestAnAnswerThatBreaksTheSchemaIsAnUpstreamFailure(t *testing.T) {
	t.Parallel()
	long := func(_ context.Context, handle string) (schema.Profile, error) {
		p := enginetest.Profile(handle)
		p.Links = []string{"not an address"}
		return p, nil
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, long)}})
	_, err := e.Client.Profile(t.Context(), ask("octocat"))
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "breaks the schema")
}

func TestAPanicReleasesTheHold(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		enginetest.Profiles(platform.GitHub, "github", schema.Official, func(context.Context, string) (schema.Profile, error) { panic("secret") }),
	}})
	_, err := e.Client.Profile(t.Context(), ask("octocat"))
	if p := enginetest.WantProblem(t, err, problem.InternalError); strings.Contains(p.Detail, "secret") {
		t.Errorf("detail %q shows an internal", p.Detail)
	}
	if e.Balance(t) != 1000 {
		t.Errorf("%d credits are left, want 1000", e.Balance(t))
	}
}

func TestIdenticalMissesShareOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 50
		var calls enginetest.Counter
		release := make(chan struct{})
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				select {
				case <-release:
				case <-ctx.Done():
					return schema.Profile{}, ctx.Err()
				}
				return enginetest.Profile(handle), nil
			})}})
		impatient, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		failed := make(chan error, 1)
		wg.Go(func() { // the first caller, which is also the first to leave
			_, err := e.Client.Profile(impatient, ask("octocat"))
			failed <- err
		})
		synctest.Wait()
		for range callers {
			wg.Go(func() {
				got, err := e.Client.Profile(t.Context(), ask("octocat"))
				if err != nil || got.Data.Handle != "octocat" || got.Meta.CreditsUsed != 1 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait() // all of them wait
		leave()
		enginetest.WantProblem(t, <-failed, problem.UpstreamTimeout, "stopped waiting")
		close(release)
		wg.Wait()
		if calls.Count() != 1 {
			t.Errorf("%d calls, want 1", calls.Count())
		}
		if got := len(e.Charges(t)); got != callers || e.Balance(t) != 1000-callers {
			t.Errorf("%d charges, %d credits left", got, e.Balance(t))
		}
	})
}

func TestACallEndsAtTheEnginesTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		began := time.Now()
		_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "hang"})
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		if took := time.Since(began); took != 14*time.Second {
			t.Errorf("took %v, want 14s", took)
		}
		if e.Balance(t) != 1000 {
			t.Errorf("%d credits are left", e.Balance(t))
		}
	})
}

func TestTheNextProviderAnswersWhenOneFails(t *testing.T) {
	t.Parallel()
	down := providers.Unavailable(nil, "down")
	tests := []struct {
		name   string
		first  error // of the official provider
		second error // of our own
		calls  int   // of our own provider
		code   problem.Code
		source schema.Source
	}{
		{"the first choice answers", nil, nil, 0, "", schema.Official},
		{"the next answers after a failure", down, nil, 1, "", schema.Own},
		{"the next answers after a time-out", providers.ErrTimeout, nil, 1, "", schema.Own},
		{"the next answers what the first cannot serve", providers.Unsupported("not here"), nil, 1, "", schema.Own},
		{"an absence is final", providers.NotFound("gone"), nil, 0, problem.NotFound, ""},
		{"refused input is final", providers.Invalid("no"), nil, 0, problem.InvalidRequest, ""},
		{"both fail", down, down, 1, problem.PlatformUnavailable, ""},
		{"one fails, one is late", down, providers.ErrTimeout, 1, problem.PlatformUnavailable, ""},
		{"both are late", providers.ErrTimeout, providers.ErrTimeout, 1, problem.UpstreamTimeout, ""},
		{"the second reports an absence", down, providers.NotFound("gone"), 1, problem.NotFound, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var one, two enginetest.Counter
			read := func(calls *enginetest.Counter, err error) providers.One[schema.Profile] {
				if err == nil {
					return enginetest.Answers(calls)
				}
				return enginetest.Refuses(calls, err)
			}
			e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
				enginetest.Profiles(platform.GitHub, "api", schema.Official, read(&one, tt.first)),
				enginetest.Profiles(platform.GitHub, "page", schema.Own, read(&two, tt.second)),
			}})
			got, err := e.Client.Profile(t.Context(), ask("octocat"))
			switch {
			case tt.code != "":
				enginetest.WantProblem(t, err, tt.code)
			case err != nil:
				t.Fatal(err)
			case got.Data.Source != tt.source:
				t.Errorf("source is %s, want %s", got.Data.Source, tt.source)
			}
			if one.Count() != 1 || two.Count() != tt.calls {
				t.Errorf("%d and %d calls, want 1 and %d", one.Count(), two.Count(), tt.calls)
			}
		})
	}
}

func TestTheBreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		broken := true
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official, func(_ context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				if broken {
					return schema.Profile{}, providers.Unavailable(nil, "down")
				}
				return enginetest.Profile(handle), nil
			})},
		})
		want := func(state schema.HealthState) {
			t.Helper()
			if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != state {
				t.Errorf("health is %s, want %s", got, state)
			}
		}
		want(schema.Unknown)
		for i := range 7 {
			_, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("octocat", i)))
			enginetest.WantProblem(t, err, problem.PlatformUnavailable, "down")
		}
		want(schema.Degraded)
		_, err := e.Client.Profile(t.Context(), ask("octocat"))
		enginetest.WantProblem(t, err, problem.PlatformUnavailable)
		want(schema.Down)
		if _, err = e.Client.Profile(t.Context(), ask("octocat")); calls.Count() != 8 {
			t.Errorf("%d calls, want 8: the breaker is not open", calls.Count())
		}
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "not retried yet")
		broken = false
		time.Sleep(21 * time.Second) // of the bubble
		if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
			t.Fatal(err)
		}
		want(schema.Degraded) // eight of nine calls failed
		time.Sleep(6 * time.Minute)
		want(schema.Unknown)
		if _, err := e.Client.Profile(t.Context(), ask("another")); err != nil {
			t.Fatal(err)
		}
		want(schema.Healthy)
	})
}

func TestHealthNamesEveryConfiguredPlatform(t *testing.T) {
	t.Parallel()
	without := mock.NewFor(platform.Twitch, mock.Config{}).Without("SECRET")
	e := enginetest.New(t, enginetest.Config{
		Providers: append(mock.New(mock.Config{}), without),
		Options:   []socialdata.Option{socialdata.WithEnvironment("testing")},
	})
	got := enginetest.Health(t, e.Open)
	if got.Status != "ok" || got.Environment != "testing" {
		t.Errorf("health is %+v", got)
	}
	// Twitch lacks a setting, and the others have no provider.
	if diff := cmp.Diff(map[platform.ID]schema.HealthState{platform.Mock: schema.Unknown}, got.Platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestOneFailureInTenIsHealthy(t *testing.T) {
	t.Parallel()
	fail := false
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			if fail {
				return schema.Profile{}, providers.ErrTimeout
			}
			return enginetest.Profile(handle), nil
		})}})
	for i := range 19 {
		if _, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("user", i))); err != nil {
			t.Fatal(err)
		}
	}
	fail = true
	for i, want := range []schema.HealthState{schema.Healthy, schema.Healthy, schema.Degraded} { // of 20, 21 and 22 calls
		_, err := e.Client.Profile(t.Context(), ask("nobody"))
		enginetest.WantProblem(t, err, problem.UpstreamTimeout)
		if got := enginetest.Health(t, e.Client).Platforms[platform.GitHub]; got != want {
			t.Errorf("after %d failures health is %s, want %s", i+1, got, want)
		}
	}
}

func TestRawForwardsTheQueryAndNothingElse(t *testing.T) {
	t.Parallel()
	var got []string
	p := mock.New(mock.Config{})[0]
	forward := p.Forward
	p.Forward = func(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
		got = append(got, path+"?"+query.Encode())
		return forward(ctx, path, query)
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{p}})
	for _, req := range []socialdata.RawRequest{
		{Provider: "mock", Path: "echo/a b", Query: url.Values{"x": {"1", "2"}, "include_raw": {"odd"}, "cursor": {"c"}}},
		{Provider: "mock", Path: "echo/a b", Query: url.Values{"x": {"1", "2"}, "include_raw": {"odd"}, "cursor": {"c"}}, Fresh: true},
	} {
		if _, err := e.Client.Raw(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	const want = "echo/a b?cursor=c&include_raw=odd&x=1&x=2"
	if diff := cmp.Diff([]string{want, want}, got); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
}

func TestARawAnswerThatIsNotJSONIsAnUpstreamFailure(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", `{"a":`, "nul"} {
		p := mock.New(mock.Config{})[0]
		p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) { return json.RawMessage(body), nil }
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{p}})
		_, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: "users/a"})
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "not JSON")
		if e.Balance(t) != 1000 {
			t.Errorf("%q was charged", body)
		}
	}
}
