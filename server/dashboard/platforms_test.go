package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/server/dashboard"
)

func TestTheOperatorSeesTheSettingsOfAPlatform(t *testing.T) {
	t.Parallel()
	s := openWith(t, func(cfg *dashboard.Config) {
		cfg.Settings = func() []dashboard.Setting {
			return []dashboard.Setting{
				{
					Platform: platform.Mock, Name: "api key", Variable: "MOCK_API_KEY", Set: true,
					Operations: []string{"posts", "reels"},
				},
				{Platform: platform.Mock, Name: "region", Variable: "MOCK_REGION"},
				{Platform: platform.YouTube, Name: "token", Variable: "YOUTUBE_TOKEN"},
			}
		}
	})
	const page = "/dashboard/platforms/mock"
	_, secret, _ := s.account(t, "shop", keys.NewKey{Environment: keys.Live, Manage: true})
	if _, got := s.get(t, page); !strings.Contains(got, "Admin secret") {
		t.Errorf("the page is open to everyone:\n%s", got)
	}
	s.signInAs(t, secret)
	if status, got := s.get(t, page); status != http.StatusForbidden || strings.Contains(got, "MOCK_API_KEY") {
		t.Errorf("an account: %d\n%s", status, got)
	}
	s.signInAs(t, s.secret)
	status, got := s.get(t, page)
	for _, want := range []string{
		`<th scope="row">api key</th><td>yes</td><td class="more break">posts, reels</td><td class="word"><code>MOCK_<wbr>API_<wbr>KEY</code></td>`,
		`<th scope="row">region</th><td><span class="dim">no</span></td>`, `<th scope="row" class="word">profile</th><td>mock</td>`,
		`href="/docs/platforms/mock"`,
	} {
		if status != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("status %d, want %q:\n%s", status, want, got)
		}
	}
	if strings.Contains(got, "YOUTUBE_TOKEN") {
		t.Errorf("a setting of another platform is shown:\n%s", got)
	}
	if status, got := s.get(t, "/dashboard/platforms/nothing"); status != http.StatusNotFound {
		t.Errorf("an unknown platform: %d\n%s", status, got)
	}
	if _, got := s.get(t, "/dashboard"); !strings.Contains(got, `href="`+page+`"`) {
		t.Errorf("the overview has no link to it:\n%s", got)
	}
	if _, got := s.get(t, "/docs/platforms/mock"); !strings.Contains(got, `href="../../dashboard/platforms/mock"`) ||
		strings.Contains(got, "MOCK_API_KEY") {
		t.Errorf("the documentation has no link to it, or has a setting:\n%s", got)
	}
}
