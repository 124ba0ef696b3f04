package read_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func ofOne(p ...providers.Provider) []providers.Provider { return p }

// TestWhoIsToBlame makes thirty calls that fail, and says how many of them reach the upstream.
func TestWhoIsToBlame(t *testing.T) {
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
		subjects int // that are asked for in turn
		answer   func(handle string) (schema.Profile, error)
		calls    int
	}{
		{"a dead handle, again and again", 1, fails(down), 30},
		{"two dead handles in turn", 2, fails(down), 30},
		{"every handle is dead", 30, fails(down), 8},
		{"three in turn: each counts once", 3, fails(down), 30},
		{"a broken connection counts always", 1, fails(lost), 8},
		{"so does a time-out", 1, fails(providers.ErrTimeout), 8},
		{"what breaks the schema never does", 30, odd, 30},
		{"nor a page to log in", 30, fails(providers.Walled("a page to log in")), 30},
		{"nor a refused input", 30, fails(providers.Invalid("no")), 30},
		{"nor what is not served", 30, fails(providers.Unsupported("not here")), 30},
		{"nor what this source does not see", 30, fails(providers.NotHere("a personal account")), 30},
		{"an error of no kind is the upstream's", 30, fails(errors.New("odd")), 8},
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

func TestRawReadsCannotCloseAPlatform(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&calls))
	p.Routes = providers.Routes(platform.GitHub, "users/{login}")
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
		t.Errorf("the platform is closed for all: %v", err)
	}
	if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != schema.Healthy {
		t.Errorf("health is %s: what callers provoke says nothing", got)
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
	if _, err := e.Client.Profile(t.Context(), salma()); err != nil {
		t.Errorf("the sandbox is closed for all: %v", err)
	}
}

func TestAnUpstreamThatNamesATimeIsLeftAloneUntilThen(t *testing.T) {
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
				t.Errorf("%s: call %d has the cause %v and says %v", name, i, p.Unwrap(), p.RetryAfter)
			}
			if got, err := both.Client.Profile(t.Context(), ask(fmt.Sprint("a", i))); err != nil || got.Data.Source != schema.Own {
				t.Errorf("%s: the next provider was not asked: %v", name, err)
			}
		}
		if one.Count() != 2 {
			t.Errorf("%s: %d calls of two engines reached the upstream, want one of each", name, one.Count())
		}
		if _, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}); err != nil {
			t.Errorf("%s: another operation is closed too: %v", name, err)
		}
		e.Clock.Advance(time.Hour)
		_, _ = e.Client.Profile(t.Context(), ask("a"))
		if one.Count() != 3 {
			t.Errorf("%s: nobody asked again after an hour", name)
		}
	}
}

// TestLinkedLeavesTheHalfOpenCircuitAlone: what is derived neither passes the breaker nor holds its one place.
func TestLinkedLeavesTheHalfOpenCircuitAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls enginetest.Counter
		down := true
		e := enginetest.New(t, enginetest.Config{
			Options: []socialdata.Option{socialdata.WithClock(time.Now)},
			Providers: ofOne(enginetest.Profiles(platform.GitHub, "github", schema.Official,
				func(_ context.Context, handle string) (schema.Profile, error) {
					calls.Add()
					if down {
						return schema.Profile{}, providers.ErrTimeout
					}
					return enginetest.Profile(handle), nil
				})),
		})
		for range 8 {
			_, _ = e.Client.Profile(t.Context(), ask("octocat"))
		}
		time.Sleep(21 * time.Second)
		linked := socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "octocat"}
		if _, err := e.Client.Linked(t.Context(), linked); calls.Count() != 9 {
			t.Errorf("%v after %d calls, want one that tries", err, calls.Count())
		}
		if _, err := e.Client.Profile(t.Context(), ask("octocat")); calls.Count() != 9 {
			t.Errorf("%v after %d calls: linked has closed the circuit", err, calls.Count())
		}
		down = false
		time.Sleep(21 * time.Second)
		if _, err := e.Client.Linked(t.Context(), linked); err != nil {
			t.Errorf("linked cannot open what is well again: %v", err)
		}
	})
}

func TestASourceOfLimitedSightDoesNotHideWhatTheNextSees(t *testing.T) {
	t.Parallel()
	blind := providers.NotHere("a personal account")
	tests := []struct {
		name       string
		one, two   error
		code       problem.Code
		words      string
		secondSeen int
	}{
		{"the next sees it", blind, nil, "", "", 1},
		{"nobody sees it", blind, blind, problem.NotFound, "a personal account", 1},
		{"the next knows that it is not there", blind, providers.NotFound("gone"), problem.NotFound, "gone", 1},
		{"the next has failed: nobody knows", blind, providers.Unavailable(nil, "down"), problem.PlatformUnavailable, "down", 1},
		{"the first has failed: nobody knows", providers.Unavailable(nil, "down"), blind, problem.PlatformUnavailable, "down", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read := func(calls *enginetest.Counter, err error) providers.One[schema.Profile] {
				if err == nil {
					return enginetest.Answers(calls)
				}
				return enginetest.Refuses(calls, err)
			}
			var one, two enginetest.Counter
			e := enginetest.Of(t,
				enginetest.Profiles(platform.GitHub, "api", schema.Official, read(&one, tt.one)),
				enginetest.Profiles(platform.GitHub, "page", schema.Own, read(&two, tt.two)))
			_, err := e.Client.Profile(t.Context(), ask("octocat"))
			if tt.code != "" {
				enginetest.WantProblem(t, err, tt.code, tt.words)
			} else if err != nil {
				t.Error(err)
			}
			if two.Count() != tt.secondSeen {
				t.Errorf("%d calls of the second", two.Count())
			}
		})
	}
}

func TestHealthRemembersFiveMinutes(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&enginetest.Counter{})))
	e.Clock.Advance(29*time.Second + 999*time.Millisecond)
	if _, err := e.Client.Profile(t.Context(), ask("octocat")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  schema.HealthState
	}{{4*time.Minute + 31*time.Second, schema.Healthy}, {28 * time.Second, schema.Healthy}, {3 * time.Second, schema.Unknown}} {
		e.Clock.Advance(step.after)
		if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != step.want {
			t.Errorf("%v later health is %s, want %s", step.after, got, step.want)
		}
	}
}

func TestDriftDegradesThePlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		broken, odd int
		want        schema.HealthState
	}{{0, 0, schema.Healthy}, {1, 0, schema.Healthy}, {2, 0, schema.Degraded}, {0, 1, schema.Healthy}, {1, 1, schema.Degraded}} {
		e := enginetest.Of(t, enginetest.Drifting(platform.GitHub, tt.broken, tt.odd))
		if _, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}); err != nil {
			t.Fatal(err)
		}
		if got := e.Client.Health(t.Context()).Platforms[platform.GitHub]; got != tt.want {
			t.Errorf("%d broken and %d odd rows of 20: health is %s, want %s", tt.broken, tt.odd, got, tt.want)
		}
	}
}

func TestTheObserverIsTold(t *testing.T) {
	t.Parallel()
	var calls []observe.Call
	var drift []observe.Drift
	var breakers []observe.Breaker
	var upstream []observe.Upstream
	p := enginetest.Drifting(platform.GitHub, 1, 1)
	posts := p.Posts
	p.Posts = func(ctx context.Context, handle, token string) (providers.Page[schema.Post], error) {
		providers.TraceOf(ctx).Upstream(providers.UpstreamCall{Host: "api.example", Status: 200})
		return posts(ctx, handle, token)
	}
	p.Profile = enginetest.Refuses(&enginetest.Counter{}, providers.ErrTimeout)
	e := enginetest.New(t, enginetest.Config{Providers: ofOne(p), Options: []socialdata.Option{socialdata.WithObserver(observe.Observer{
		Call:     func(c observe.Call) { c.Duration = 0; calls = append(calls, c) },
		Drift:    func(d observe.Drift) { drift = append(drift, d) },
		Breaker:  func(b observe.Breaker) { breakers = append(breakers, b) },
		Upstream: func(u observe.Upstream) { upstream = append(upstream, u) },
	})}})
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a"}
	for range 2 {
		if _, err := e.Client.Posts(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		_, _ = e.Client.Profile(t.Context(), ask("octocat"))
	}
	want := []observe.Call{
		{Operation: "posts", Platform: "github", Cache: schema.Miss, Credits: 1},
		{Operation: "posts", Platform: "github", Cache: schema.Hit, Credits: 1},
		{Operation: "profile", Platform: "github", Code: problem.UpstreamTimeout},
	}
	if diff := cmp.Diff(want, calls[:3]); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	at := observe.Drift{Platform: platform.GitHub, Provider: "github", Operation: "posts"}
	field, row := at, at
	field.Field, field.Path = "items[].likes", "items[].likes"
	row.Field, row.Path, row.LeftOut = "media.type", "media[0].type", true
	if diff := cmp.Diff([]observe.Drift{field, row}, drift); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]observe.Breaker{{Platform: platform.GitHub, Provider: "github", State: observe.Open}}, breakers); diff != "" {
		t.Errorf("breakers (-want +got):\n%s", diff)
	}
	if len(upstream) != 1 || upstream[0].Operation != "posts" || upstream[0].Host != "api.example" {
		t.Errorf("upstream calls %+v", upstream)
	}
}

func TestEveryEmptyCellHasAReason(t *testing.T) {
	t.Parallel()
	youtube := providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official,
		Posts: func(context.Context, string, string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{}, nil
		},
		Profile: enginetest.Answers(&enginetest.Counter{}),
	}
	page := youtube
	page.Name, page.Source, page.Notes = "youtube_own", schema.Own, map[providers.Op]string{providers.OpLive: "hides it"}
	page.Profile = nil
	e := enginetest.Of(t, mock.New(mock.Config{})[0], youtube.WithoutOps([]string{"api_key"}, providers.OpProfile), page)
	got, err := e.Client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, p := range got.Data {
		for _, o := range p.Operations {
			if o.Available == (o.Reason != nil) || o.Available != (len(o.Providers) > 0) {
				t.Errorf("%s %s: available %t, reason %v, providers %v", p.Platform, o.Operation, o.Available, o.Reason, o.Providers)
			}
			if p.Platform == platform.YouTube && o.Reason != nil {
				reasons[o.Operation] = *o.Reason
			}
			if p.Platform == platform.YouTube && o.Operation == "posts" {
				if diff := cmp.Diff([]string{"youtube", "youtube_own"}, o.Providers); diff != "" {
					t.Errorf("who is asked (-want +got):\n%s", diff)
				}
			}
		}
	}
	for op, want := range map[string]string{
		"profile":   "the provider youtube is not configured: missing the setting api_key",
		"linked":    "the provider youtube is not configured: missing the setting api_key",
		"live":      "hides it",
		"followers": "offered on tiktok and github only",
		"comments":  "the upstream offers nothing of the kind (youtube, youtube_own)",
	} {
		if reasons[op] != want {
			t.Errorf("%s: %q, want %q", op, reasons[op], want)
		}
	}
	_, err = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.YouTube, Handle: "a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "GET /v1/youtube/profile", "missing the setting api_key")
}
