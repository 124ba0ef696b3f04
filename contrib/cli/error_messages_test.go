package cli

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestTheLogNamesTheVariableOfAMissingSetting(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	unset := mock.NewFor(platform.Kick, mock.Config{}).Without("client_id")
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{unset}),
		socialdata.WithLogger(newLog(&said, slog.LevelDebug)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Kick, Handle: "a"})
	const variable = "SOCIALDATA_KICK_CLIENT_ID"
	if err == nil || strings.Contains(err.Error(), variable) {
		t.Errorf("the caller sees %v", err)
	}
	if !strings.Contains(said.String(), variable) {
		t.Errorf("the log says %s", said.String())
	}
}

// TestErrorsNameTheirCause reads through addresses and proxies that do not work, from here and from a server.
func TestErrorsNameTheirCause(t *testing.T) {
	t.Parallel()
	closed := "127.0.0.1:1"
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // the client refuses its certificate
	untrusted.StartTLS()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"login":"octocat"`)
	}))
	t.Cleanup(untrusted.Close)
	t.Cleanup(cut.Close)
	for _, tt := range []struct {
		name, upstream, proxy, server string
		want                          string
	}{
		{
			"an upstream that refuses", "http://" + closed, "", "",
			"github profile: the upstream cannot be reached: github: HOST/users/octocat: connection refused (platform_unavailable)",
		},
		{
			"a proxy that refuses", "https://api.github.com", "http://" + closed, "",
			"github profile: the upstream cannot be reached: github: HOST/users/octocat: the proxy cannot be used: connection refused (platform_unavailable)",
		},
		{
			"a certificate of an unknown authority", untrusted.URL, "", "",
			"github profile: the upstream cannot be reached: github: HOST/users/octocat: the certificate is signed by an unknown authority (platform_unavailable)",
		},
		{"a truncated answer", cut.URL, "", "", "github profile: the upstream's answer ended too early: github: HOST/users/octocat (platform_unavailable)"},
		{
			"a server that refuses", "", "", "http://" + closed,
			"the service did not answer: dial tcp 127.0.0.1:1: connect: connection refused (platform_unavailable)",
		},
		{
			"a server whose answer is truncated", "", "", cut.URL,
			"the service closed the connection before its answer was complete (platform_unavailable)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Providers: func(env Environment) ([]providers.Chain, error) {
				through := http.Transport{}
				if proxy, err := url.Parse(tt.proxy); err == nil && tt.proxy != "" {
					through.Proxy = http.ProxyURL(proxy)
				}
				return []providers.Chain{github.New(github.Config{BaseURL: tt.upstream, HTTP: &http.Client{Transport: &through}})}, nil
			}}
			args := []string{"get", "github", "profile", "handle=octocat"}
			if tt.server != "" {
				args = append([]string{"--server", tt.server, "--key", "sk_test_x"}, args...)
			}
			var out, log bytes.Buffer
			status := Run(t.Context(), cfg, args, Streams{strings.NewReader(""), &out, &log}, func(string) string { return "" })
			if status != 1 || out.Len() > 0 {
				t.Errorf("exit status %d, output %q", status, out.String())
			}
			_, host, _ := strings.Cut(tt.upstream, "://")
			want := "socialdata: " + strings.ReplaceAll(tt.want, "HOST", host) + "\n"
			if diff := cmp.Diff(want, log.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettingsOfOtherProvidersAreNamedAfterThem(t *testing.T) {
	t.Parallel()
	lacking := providers.MissingError{Platform: platform.Kick, Settings: []string{"client_id", "scrapecreators.api_key"}}
	const want = "set SOCIALDATA_KICK_CLIENT_ID and SOCIALDATA_SCRAPECREATORS_API_KEY"
	if got := toSet(lacking.Qualified()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
