package socialdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/providers/telegram"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/schema"
)

// unreached is the error of a request to a host without an address.
func unreached() error {
	return &url.Error{Op: "Get", URL: "https://api.team.example/users/salma", Err: &net.OpError{
		Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.team.example", IsNotFound: true},
	}}
}

func TestAnErrorHasItsOperationAndCause(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443},
		Err: errors.New("connection refused"),
	}
	tests := []struct {
		name         string
		errs         []error // one for each source
		code         problem.Code
		want, detail string
	}{
		{
			"a host without an address",
			[]error{providers.Unavailable(unreached(), "the upstream cannot be reached")},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: the upstream cannot be reached: one: api.team.example/users/salma: dial tcp: no such host",
			"GET /v1/github/profile: the upstream cannot be reached",
		},
		{
			"an address that refuses",
			[]error{fmt.Errorf("team.example/users/salma: %w", providers.Unavailable(refused, "down"))},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: down: one: dial tcp: connection refused",
			"GET /v1/github/profile: down",
		},
		{
			"a provider's own error",
			[]error{fmt.Errorf("row 5: %w", errors.New("the database is closed"))},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: the upstream failed: one: row 5: the database is closed",
			"GET /v1/github/profile: the upstream failed",
		},
		{
			"a provider's own error around a request",
			[]error{fmt.Errorf("row 5: %w", unreached())},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: the upstream failed: one: row 5: api.team.example/users/salma: dial tcp: no such host",
			"GET /v1/github/profile: the upstream failed",
		},
		{
			"two sources",
			[]error{providers.Unavailable(unreached(), "the first is down"), providers.Unavailable(nil, "the second is down")},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: the first is down: one: api.team.example/users/salma: dial tcp: no such host; two: the second is down",
			"GET /v1/github/profile: the first is down",
		},
		{
			"a time-out",
			[]error{fmt.Errorf("the query was slow: %w", providers.ErrTimeout)},
			problem.UpstreamTimeout,
			"Profile on github: upstream_timeout: github did not answer in time: one: the query was slow: upstream timeout",
			"github did not answer GET /v1/github/profile in time",
		},
		{
			"an absence",
			[]error{providers.NotFound("nobody is called salma")},
			problem.NotFound,
			"Profile on github: not_found: nobody is called salma", "nobody is called salma",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sources []providers.Provider
			for i, err := range tt.errs {
				sources = append(sources, enginetest.Profiles(platform.GitHub, []string{"one", "two"}[i], schema.Own,
					func(context.Context, string) (schema.Profile, error) { return schema.Profile{}, err }))
			}
			client := enginetest.Of(t, sources...).Client
			_, err := client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "salma"})
			if !errors.Is(err, tt.code) {
				t.Errorf("%v is not %s", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("the error (-want +got):\n%s", diff)
			}
			if p, ok := errors.AsType[*problem.Error](err); !ok || strings.Contains(p.Detail, "/v1") {
				t.Errorf("the detail %q names a route", p.Detail)
			}
			wantWire(t, err, tt.detail)
		})
	}
}

// answers is a transport whose answers have a status and a body; status 0 is no answer.
type answers struct {
	status int
	body   string
}

// RoundTrip implements [http.RoundTripper].
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.status == 0 {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

// TestAnErrorHasTheAddressOfTheUpstream fails requests in each way, at an upstream whose credential is in a header, one
// where it is in the query and one where it is in the path.
func TestAnErrorHasTheAddressOfTheUpstream(t *testing.T) {
	t.Parallel()
	const secret = "123456:quillwort-moonfern"
	upstreams := map[string]struct {
		on   platform.ID
		make func(*http.Client) providers.Chain
	}{
		"github: api.github.com/users/salma": {platform.GitHub, func(c *http.Client) providers.Chain {
			return github.New(github.Config{Token: secret, HTTP: c})
		}},
		"youtube: youtube.googleapis.com/youtube/v3/channels": {platform.YouTube, func(c *http.Client) providers.Chain {
			return youtube.New(youtube.Config{APIKey: secret, HTTP: c, Own: providers.OwnOff})
		}},
		"telegram: api.telegram.org/bot/getChat": {platform.Telegram, func(c *http.Client) providers.Chain {
			return telegram.New(telegram.Config{BotToken: secret, HTTP: c, Own: providers.OwnOff})
		}},
	}
	for want, u := range upstreams {
		for cause, a := range map[string]answers{
			"":                               {status: http.StatusServiceUnavailable, body: "{}"},
			": HTML where JSON was expected": {status: http.StatusOK, body: "<html></html>"},
			": connection refused":           {},
		} {
			t.Run(string(u.on)+cause, func(t *testing.T) {
				t.Parallel()
				e := enginetest.Of(t, u.make(&http.Client{Transport: a})...)
				_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: u.on, Handle: "salma"})
				p, ok := errors.AsType[*problem.Error](err)
				if !ok || p.Why != want+cause {
					t.Errorf("why: %q, want %q", p.Why, want+cause)
				}
				if strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("got %v; want it without the credential", err)
				}
				wire, err := json.Marshal(p)
				host, _, _ := strings.Cut(strings.TrimPrefix(want, string(u.on)+": "), "/")
				if err != nil || strings.Contains(string(wire), host) {
					t.Errorf("%s names the upstream's host, %v", wire, err)
				}
			})
		}
	}
}

// wantWire checks that over HTTP a problem has its detail, and nothing of its cause.
func wantWire(t *testing.T, err error, detail string) {
	t.Helper()
	b, jsonErr := json.Marshal(err)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	var wire map[string]any
	if jsonErr := json.Unmarshal(b, &wire); jsonErr != nil {
		t.Fatal(jsonErr)
	}
	for _, name := range []string{"type", "title", "status", "code", "request_id", "retry_after"} {
		delete(wire, name)
	}
	if diff := cmp.Diff(map[string]any{"detail": detail}, wire); diff != "" {
		t.Errorf("the wire (-want +got):\n%s", diff)
	}
}

func TestErrorsNameNoRoute(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New(socialdata.WithProviders(github.New(github.Config{})),
		socialdata.WithLedger(brokenLedger{credits.NewMemory(credits.MemoryConfig{})}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"Profile on nowhere": second(client.Profile(ctx, socialdata.ProfileRequest{Platform: "nowhere", Handle: "a"})),
		"Reels on github":    second(client.Reels(ctx, socialdata.ReelsRequest{Platform: platform.GitHub, Handle: "a"})),
		"Posts on kick":      second(client.Posts(ctx, socialdata.PostsRequest{Platform: platform.Kick, Handle: "a"})),
		"Trending on github": second(client.Trending(ctx, socialdata.TrendingRequest{Platform: platform.GitHub, Region: "SA"})),
		"Raw on nobody":      second(client.Raw(ctx, socialdata.RawRequest{Provider: "nobody", Path: "a"})),
		"Raw on github":      second(client.Raw(ctx, socialdata.RawRequest{Provider: "github", Path: "a/b/c/d"})),
		"SearchAcross":       second(client.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "a", Platforms: []platform.ID{"nowhere"}})),
		"Me":                 second(client.Account().Me(ctx, accounts.MeRequest{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "/v1") {
			t.Errorf("got %v; want an error that begins with %q, without a route", err, name+": ")
		}
	}
}

func TestAPlatformWithoutItsProviderNamesIt(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, mock.New(mock.Config{})...)
	for id, want := range map[platform.ID]string{
		platform.GitHub:     "pass github.New(github.Config{…}), of the package providers/github, to socialdata.WithProviders",
		platform.AppleMusic: "pass applemusic.New(",
	} {
		_, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: id, Handle: "a"})
		enginetest.WantProblem(t, err, problem.PlatformUnavailable, "no provider of "+string(id)+" is configured", want)
		wantWire(t, err, string(id)+" does not offer GET /v1/"+string(id)+"/profile: no provider of "+string(id)+" is configured")
	}
}

func TestAMissingSettingIsReportedOnce(t *testing.T) {
	t.Parallel()
	kick := mock.NewFor(platform.Kick, mock.Config{}).Without("client_id")
	_, err := enginetest.Of(t, kick).Client.Profile(t.Context(),
		socialdata.ProfileRequest{Platform: platform.Kick, Handle: "a"})
	const want = "Profile on kick: platform_unavailable: kick does not offer Profile: " +
		"the provider mock is not configured: missing the setting client_id"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	lacking, ok := errors.AsType[*providers.MissingError](err)
	if !ok || !slices.Equal(lacking.Qualified(), []string{"kick.client_id"}) {
		t.Errorf("missing settings: got %+v, want kick.client_id", lacking)
	}
}

// TestMeHasACreationTimeForExternalKeys checks that a key that the program's own authentication returns has a time
// at which it was created: that of the engine, since the program need not know one.
func TestMeHasACreationTimeForExternalKeys(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	e.Clock.Advance(time.Hour)
	me, err := e.Open.As(keys.Key{ID: "own", Account: e.Key.Account}).Account().Me(t.Context(), accounts.MeRequest{})
	if err != nil || !me.Data.Key.CreatedAt.Equal(enginetest.Start) {
		t.Errorf("%+v, %v; want the time at which the engine was made", me, err)
	}
}
