package all

import (
	"errors"
	"net/http"
	"net/url"
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
					t.Errorf("%s forwards %s to %s", p.Name, name, r.Pattern)
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
				t.Errorf("%s lists %s", p.Name, r.Pattern)
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
					t.Errorf("%s reads %s by %s", provider, path, r.Pattern)
				}
			}
		}
		if !known {
			t.Errorf("there is no provider %s", provider)
		}
	}
}
