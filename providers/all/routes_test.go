package all

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// TestNoRawReadWrites sends every raw route of every provider the parameters that would turn a read into a write,
// several reads or a script: Graph interfaces honor them in any GET. No upstream may receive a request.
func TestNoRawReadWrites(t *testing.T) {
	t.Parallel()
	refused := []string{"method", "batch", "ids", "callback", "suppress_http_code", "_method", "jsonp", "access_token", "mine"}
	meant := map[string][]string{ // parameters that these routes use with a harmless meaning
		"linkedin rest/organizationsLookup":               {"ids"},
		"soundcloud tracks":                               {"ids"},
		"apple_music_catalog catalog/{storefront}/genres": {"ids"},
	}
	routes := 0
	for _, p := range providersWith(t, &http.Client{}, usual) {
		for _, r := range p.Routes {
			if p.Platform == platform.Mock {
				continue // the sandbox cannot be written to
			}
			routes++
			for _, name := range refused {
				err := p.Refuse(r, url.Values{name: {"post"}})
				if !errors.Is(err, providers.ErrInvalid) && !slices.Contains(meant[p.Name+" "+r.Pattern], name) {
					t.Errorf("%s forwards %s to %s, want ErrInvalid", p.Name, name, r.Pattern)
				}
			}
		}
	}
	if routes < 200 {
		t.Errorf("%d routes were tried: the test shows nothing", routes)
	}
}

// TestNoRawReadIsAboutTheOwner looks for routes that read the owner of the credential without naming an account.
func TestNoRawReadIsAboutTheOwner(t *testing.T) {
	t.Parallel()
	owners := []string{"me", "my_profile", "user_account", "verify_credentials"}
	for _, p := range providersWith(t, &http.Client{}, usual) {
		for _, r := range p.Routes {
			last := r.Pattern[strings.LastIndexByte(r.Pattern, '/')+1:]
			if slices.Contains(owners, last) || r.Pattern == "user" {
				t.Errorf("%s lists %s, which is about the owner of the credentials", p.Name, r.Pattern)
			}
		}
	}
	for provider, paths := range map[string][]string{
		"truthsocial": {"v1/accounts/verify_credentials"}, "snapchat": {"public/v1/public_profiles/my_profile"},
		"x": {"2/users/me", "2/users/me/tweets"}, "facebook": {"me/albums", "Me/published_posts"}, "instagram": {"me/recent_media"},
		"reddit": {"user/me/about"}, "pinterest": {"v5/user_account"}, "github": {"user", "user/repos"},
		"spotify": {"me", "playlists/me"}, "soundcloud": {"me", "users/me"},
	} {
		known := false
		for _, p := range providersWith(t, &http.Client{}, usual) {
			if p.Name != provider {
				continue
			}
			known = true
			for _, path := range paths {
				if r, ok := p.Route(path); ok {
					t.Errorf("%s reads %s by %s, want no route", provider, path, r.Pattern)
				}
			}
		}
		if !known {
			t.Errorf("there is no provider %s", provider)
		}
	}
}

// TestCapturedRawRequestsAreForwarded sends every captured request for which a provider of its platform has a raw route
// through that route, with the parameters that it had.
func TestCapturedRawRequestsAreForwarded(t *testing.T) {
	t.Parallel()
	var sent *url.URL
	web := &http.Client{Transport: answering(func(r *http.Request) (int, string) {
		if isTokenRequest(r) {
			return http.StatusOK, honestToken
		}
		sent = r.URL
		return http.StatusOK, "{}"
	})}
	tried, reached := 0, map[string]bool{}
	for _, p := range providersWith(t, web, usual) {
		if p.Forward == nil {
			continue
		}
		for _, u := range capturedRequests(t, p) {
			path := strings.Trim(u.Path, "/")
			for found := false; path != "" && !found; {
				var r providers.Route
				if r, found = p.Route(path); found {
					sent = nil
					_, _ = p.Forward(t.Context(), path, url.Values{}) // only its host matters
					if sent == nil || sent.Host != u.Host {
						continue // it is of another upstream of the platform
					}
					tried++
					reached[p.Name+" "+r.Pattern] = true
					query := u.Query()
					for _, name := range p.Credentials {
						query.Del(name)
					}
					if err := p.Refuse(r, query); err != nil {
						t.Errorf("%s does not forward %s: %v", p.Name, u, err)
					}
				}
				_, path, _ = strings.Cut(path, "/") // the base address may have a path
			}
		}
	}
	t.Logf("%d requests through %d routes", tried, len(reached))
	if _, err := os.Stat(filepath.Join(shared, "upstreams/samples")); err != nil {
		t.Skip("the captured answers are not here: ", err)
	}
	if tried < 100 {
		t.Errorf("%d requests were tried: the test shows nothing", tried)
	}
}

// capturedRequests returns the addresses of the captured GETs of a provider's platform, or of the reseller.
func capturedRequests(t *testing.T, p providers.Provider) []*url.URL {
	t.Helper()
	dir := string(p.Platform)
	if p.Name == "scrapecreators" {
		dir = p.Name
	}
	b, err := os.ReadFile("../../../shared/upstreams/samples/" + dir + "/MANIFEST.json")
	if err != nil {
		return nil // the platform has no captures, or the folder is not here
	}
	var captured []struct {
		Request struct{ Method, URL string }
	}
	if err := json.Unmarshal(b, &captured); err != nil {
		t.Fatal(err)
	}
	var out []*url.URL
	for _, c := range captured {
		if u, err := url.Parse(c.Request.URL); err == nil && (c.Request.Method == "" || c.Request.Method == http.MethodGet) {
			out = append(out, u)
		}
	}
	return out
}
