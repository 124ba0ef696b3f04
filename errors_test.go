package socialdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/mock"
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
			"Profile on github: platform_unavailable: the upstream cannot be reached: one: dial tcp: no such host",
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
			"Profile on github: platform_unavailable: the upstream failed: one: row 5: dial tcp: no such host",
			"GET /v1/github/profile: the upstream failed",
		},
		{
			"two sources",
			[]error{providers.Unavailable(unreached(), "the first is down"), providers.Unavailable(nil, "the second is down")},
			problem.PlatformUnavailable,
			"Profile on github: platform_unavailable: the first is down: one: dial tcp: no such host; two: the second is down",
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
			wantWire(t, err, tt.detail)
		})
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
		"Me":                 second(client.Me(ctx, socialdata.MeRequest{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "/v1") {
			t.Errorf("%s: the error is %v", name, err)
		}
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
		t.Errorf("%v, want %s", err, want)
	}
	lacking, ok := errors.AsType[*providers.MissingError](err)
	if !ok || !slices.Equal(lacking.Qualified(), []string{"kick.client_id"}) {
		t.Errorf("the settings are not told: %+v", lacking)
	}
}
