package socialdata_test

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

// profiles is a provider of nothing but profiles.
func profiles(id platform.ID, name string, source schema.Source, read providers.One[schema.Profile]) providers.Provider {
	return providers.Provider{Name: name, Platform: id, Source: source, Profile: read}
}

func profile(handle string) schema.Profile {
	return schema.Profile{Common: schema.Common{ID: "id-" + handle, URL: "https://example.com/" + handle}, Handle: handle}
}

// answers is a read that finds everybody, and counts.
func answers(calls *enginetest.Counter) providers.One[schema.Profile] {
	return func(_ context.Context, handle string) (schema.Profile, error) {
		calls.Add()
		return profile(handle), nil
	}
}

// refuses is a read that always fails with err, and counts.
func refuses(calls *enginetest.Counter, err error) providers.One[schema.Profile] {
	return func(context.Context, string) (schema.Profile, error) {
		calls.Add()
		return schema.Profile{}, err
	}
}

func wantProblem(t *testing.T, err error, code problem.Code, words ...string) problem.Error {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) {
		t.Fatalf("%v is no problem, want %s", err, code)
	}
	if p.Code != code {
		t.Errorf("code is %s (%s), want %s", p.Code, p.Detail, code)
	}
	for _, w := range words {
		if !strings.Contains(p.Detail, w) {
			t.Errorf("detail %q does not say %q", p.Detail, w)
		}
	}
	if p.RequestID == "" {
		t.Error("the problem has no request id")
	}
	return *p
}

func ask(handle string) socialdata.ProfileRequest {
	return socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle}
}

func TestAnAnswerIsStampedAndCompleted(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		profiles(platform.GitHub, "github", schema.Official, answers(&enginetest.Counter{})),
	}})
	got, err := e.Client.Profile(t.Context(), ask("octocat"))
	if err != nil {
		t.Fatal(err)
	}
	want := profile("octocat")
	want.Platform, want.Source, want.FetchedAt, want.Links = platform.GitHub, schema.Official, enginetest.Start, []string{}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestAgeAndLifetime(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, answers(&calls))}})
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

func TestAgeCountsFromTheQuestion(t *testing.T) {
	t.Parallel()
	var clock *enginetest.Clock
	slow := func(_ context.Context, handle string) (schema.Profile, error) {
		clock.Advance(10 * time.Second) // it thinks
		return profile(handle), nil
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, slow)}})
	clock = e.Clock
	got, err := e.Client.Profile(t.Context(), ask("octocat"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Meta.DataAgeS != 10 || !got.Data.FetchedAt.Equal(enginetest.Start) {
		t.Errorf("%d s old, fetched at %v", got.Meta.DataAgeS, got.Data.FetchedAt)
	}
	e.Clock.Advance(time.Hour - 11*time.Second)
	if got, err = e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Meta.Cache != schema.Hit {
		t.Errorf("within its hour: %v, %v", got, err)
	}
	e.Clock.Advance(time.Second)
	if got, err = e.Client.Profile(t.Context(), ask("octocat")); err != nil || got.Meta.Cache != schema.Miss {
		t.Errorf("an hour after it was fetched: %v, %v", got, err)
	}
}

func TestAFreshReadIsKept(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, answers(&calls))}})
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

func TestAnAbsenceIsRememberedForAMinute(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		profiles(platform.GitHub, "github", schema.Official, refuses(&calls, providers.NotFound("this account is suspended"))),
	}})
	for i, s := range []struct {
		after time.Duration
		calls int
	}{{0, 1}, {0, 1}, {59 * time.Second, 1}, {time.Second, 2}} {
		e.Clock.Advance(s.after)
		_, err := e.Client.Profile(t.Context(), ask("nobody"))
		wantProblem(t, err, problem.NotFound, "this account is suspended")
		if calls.Count() != s.calls {
			t.Errorf("step %d: %d calls, want %d", i, calls.Count(), s.calls)
		}
	}
	if got := e.Charges(t); len(got) > 0 {
		t.Errorf("an absence was charged: %v", got)
	}
	if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != schema.Healthy {
		t.Errorf("health is %s: an absence is a healthy answer", got)
	}
}

func TestAnAbsenceWithoutWordsNamesWhatWasAsked(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		profiles(platform.GitHub, "github", schema.Official, refuses(&enginetest.Counter{}, fmt.Errorf("github: %w", providers.ErrNotFound))),
	}})
	_, err := e.Client.Profile(t.Context(), ask("nobody"))
	wantProblem(t, err, problem.NotFound, `github has no profile for handle "nobody"`)
}

func TestAFailureIsNeitherChargedNorKept(t *testing.T) {
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
		{"an upstream's limit", &providers.Error{Kind: providers.ErrUnavailable, Detail: "the upstream limits our pace", RetryAfter: 30 * time.Second}, problem.PlatformUnavailable, "pace"},
		{"not for our kind of access", providers.Unsupported("only for partners"), problem.PlatformUnavailable, "only for partners"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls enginetest.Counter
			e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, refuses(&calls, tt.err))}})
			for range 2 {
				_, err := e.Client.Profile(t.Context(), ask("octocat"))
				p := wantProblem(t, err, tt.code, tt.word)
				if strings.Contains(p.Detail, "xyz") {
					t.Errorf("detail %q shows an internal", p.Detail)
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("%v has lost its cause", err)
				}
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

func TestWhatBreaksTheSchemaIsTheUpstreamsFailure(t *testing.T) {
	t.Parallel()
	long := func(_ context.Context, handle string) (schema.Profile, error) {
		p := profile(handle)
		p.Country = new("Atlantis")
		return p, nil
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, long)}})
	_, err := e.Client.Profile(t.Context(), ask("octocat"))
	wantProblem(t, err, problem.PlatformUnavailable, "breaks the schema")
}

func TestAPanicReleasesTheHold(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
		profiles(platform.GitHub, "github", schema.Official, func(context.Context, string) (schema.Profile, error) { panic("secret") }),
	}})
	_, err := e.Client.Profile(t.Context(), ask("octocat"))
	if p := wantProblem(t, err, problem.InternalError); strings.Contains(p.Detail, "secret") {
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
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official,
			func(ctx context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				select {
				case <-release:
				case <-ctx.Done():
					return schema.Profile{}, ctx.Err()
				}
				return profile(handle), nil
			})}})
		impatient, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		failed := make(chan error, 1)
		wg.Go(func() { // the first to come, and the first to go
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
		wantProblem(t, <-failed, problem.UpstreamTimeout, "stopped waiting")
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

func TestACallEndsWithTheEnginesPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		began := time.Now()
		_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "hang"})
		wantProblem(t, err, problem.UpstreamTimeout)
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("took %v, want 15s", took)
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
		calls  int   // of our own
		code   problem.Code
		source schema.Source
	}{
		{"the first choice answers", nil, nil, 0, "", schema.Official},
		{"the next steps in", down, nil, 1, "", schema.Own},
		{"for a time-out too", providers.ErrTimeout, nil, 1, "", schema.Own},
		{"for what the first cannot serve", providers.Unsupported("not here"), nil, 1, "", schema.Own},
		{"an absence is final", providers.NotFound("gone"), nil, 0, problem.NotFound, ""},
		{"refused input is final", providers.Invalid("no"), nil, 0, problem.InvalidRequest, ""},
		{"both fail", down, down, 1, problem.PlatformUnavailable, ""},
		{"one fails, one is late", down, providers.ErrTimeout, 1, problem.PlatformUnavailable, ""},
		{"both are late", providers.ErrTimeout, providers.ErrTimeout, 1, problem.UpstreamTimeout, ""},
		{"the second knows that it is not there", down, providers.NotFound("gone"), 1, problem.NotFound, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var one, two enginetest.Counter
			read := func(calls *enginetest.Counter, err error) providers.One[schema.Profile] {
				if err == nil {
					return answers(calls)
				}
				return refuses(calls, err)
			}
			e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{
				profiles(platform.GitHub, "api", schema.Official, read(&one, tt.first)),
				profiles(platform.GitHub, "page", schema.Own, read(&two, tt.second)),
			}})
			got, err := e.Client.Profile(t.Context(), ask("octocat"))
			switch {
			case tt.code != "":
				wantProblem(t, err, tt.code)
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

func TestTheCircuitOpensAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		broken := true
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official, func(_ context.Context, handle string) (schema.Profile, error) {
				calls.Add()
				if broken {
					return schema.Profile{}, providers.Unavailable(nil, "down")
				}
				return profile(handle), nil
			})},
		})
		want := func(state schema.HealthState) {
			t.Helper()
			if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != state {
				t.Errorf("health is %s, want %s", got, state)
			}
		}
		want(schema.Unknown)
		for range 7 {
			_, err := e.Client.Profile(t.Context(), ask("octocat"))
			wantProblem(t, err, problem.PlatformUnavailable, "down")
		}
		want(schema.Degraded)
		_, err := e.Client.Profile(t.Context(), ask("octocat"))
		wantProblem(t, err, problem.PlatformUnavailable)
		want(schema.Down)
		if _, err = e.Client.Profile(t.Context(), ask("octocat")); calls.Count() != 8 {
			t.Errorf("%d calls, want 8: the circuit is not open", calls.Count())
		}
		wantProblem(t, err, problem.PlatformUnavailable, "given a rest")
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

func TestHealthNamesEveryPlatform(t *testing.T) {
	t.Parallel()
	without := mock.NewFor(platform.Twitch, mock.Config{}).Without("SECRET")
	e := enginetest.New(t, enginetest.Config{
		Providers: append(mock.New(mock.Config{}), without),
		Options:   []socialdata.Option{socialdata.WithEnvironment("testing")},
	})
	got := e.Open.Health(t.Context())
	if got.Status != "ok" || got.Environment != "testing" {
		t.Errorf("health is %+v", got)
	}
	for _, info := range platform.All() {
		want := schema.Down // no provider, or none that could be called
		if info.ID == platform.Mock {
			want = schema.Unknown
		}
		if got.Platforms[info.ID] != want {
			t.Errorf("%s is %s, want %s", info.ID, got.Platforms[info.ID], want)
		}
	}
}

func TestOneFailureInTenIsHealthy(t *testing.T) {
	t.Parallel()
	fail := false
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{profiles(platform.GitHub, "github", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			if fail {
				return schema.Profile{}, providers.ErrTimeout
			}
			return profile(handle), nil
		})}})
	for i := range 19 {
		if _, err := e.Client.Profile(t.Context(), ask(fmt.Sprint("user", i))); err != nil {
			t.Fatal(err)
		}
	}
	fail = true
	for i, want := range []schema.HealthState{schema.Healthy, schema.Healthy, schema.Degraded} { // of 20, 21 and 22 calls
		_, err := e.Client.Profile(t.Context(), ask("nobody"))
		wantProblem(t, err, problem.UpstreamTimeout)
		if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != want {
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

func TestRawThatIsNoJSONIsTheUpstreamsFailure(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", `{"a":`, "nul"} {
		p := mock.New(mock.Config{})[0]
		p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) { return json.RawMessage(body), nil }
		e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{p}})
		_, err := e.Client.Raw(t.Context(), socialdata.RawRequest{Provider: "mock", Path: "users/a"})
		wantProblem(t, err, problem.PlatformUnavailable, "not JSON")
		if e.Balance(t) != 1000 {
			t.Errorf("%q was charged", body)
		}
	}
}

func TestWithoutALedgerNothingIsCharged(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithEnricher(enginetest.Enricher()))
	if err != nil {
		t.Fatal(err)
	}
	req := socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"}
	req.Fresh, req.Enrich = true, socialdata.Arabic
	got, err := client.Profile(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got.Meta.CreditsUsed != 5 || got.Meta.CreditsRemaining != 0 {
		t.Errorf("used %d, %d remaining; want what it would have cost, and 0", got.Meta.CreditsUsed, got.Meta.CreditsRemaining)
	}
	_, err = client.Me(t.Context(), socialdata.MeRequest{})
	wantProblem(t, err, problem.Unauthorized)
}

func TestALedgerNeedsAnAccount(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	_, err := e.Open.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"})
	wantProblem(t, err, problem.Unauthorized)
}

func TestPricesCanBeSet(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 7})}})
	got, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma"})
	if err != nil || got.Meta.CreditsUsed != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]socialdata.Option{
		"a provider of no platform":      socialdata.WithProviders(providers.Chain{{Name: "a", Platform: "nowhere"}}),
		"a provider without a name":      socialdata.WithProviders(providers.Chain{{Platform: platform.GitHub}}),
		"two providers of one name":      socialdata.WithProviders(mock.New(mock.Config{}), mock.New(mock.Config{})),
		"a cursor key that is too short": socialdata.WithCursorKeys([]byte("short")),
	} {
		if _, err := socialdata.New(o, socialdata.WithEnricher(enginetest.Enricher())); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
