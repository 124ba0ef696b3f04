package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestACustomPlatformIsServedAndDescribed(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{
		Providers: []providers.Provider{mock.NewFor("mastodon", mock.Config{})},
		Options: []socialdata.Option{socialdata.WithPlatform(platform.Info{
			ID: "mastodon", Name: "Mastodon of the Team", BaseCredits: 3,
		})},
	})
	got := s.get(t, "/v1/mastodon/profile?handle=salma")
	if got.status != http.StatusOK || got.header.Get("X-Credits-Used") != "3" ||
		!strings.Contains(string(got.body), `"platform":"mastodon"`) {
		t.Errorf("got %d %v %s; want a profile of mastodon", got.status, got.header, got.body)
	}
	for path, want := range map[string]string{
		"/v1/mastodon/prfile?handle=a":  "did you mean /v1/mastodon/profile?",
		"/v1/mastodno/profile?handle=a": "did you mean mastodon?",
		"/v1/mastodon/profile?handle=%": "malformed",
		"/v1/platforms":                 "Mastodon of the Team",
		"/health":                       `"mastodon":`,
		"/docs/platforms":               "Mastodon of the Team",
		"/schemas/post.json":            `"mastodon"`,
	} {
		if body := string(s.get(t, path).body); !strings.Contains(body, want) {
			t.Errorf("%s does not say %q: %.300s", path, want, body)
		}
	}
	var doc struct {
		Components struct {
			Schemas struct{ PlatformID struct{ Enum []string } }
		}
	}
	if err := json.Unmarshal(s.get(t, "/openapi.json").body, &doc); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(doc.Components.Schemas.PlatformID.Enum, "mastodon") {
		t.Errorf("the description has the platforms %v", doc.Components.Schemas.PlatformID.Enum)
	}
	closed := open(t, enginetest.Config{})
	if body := string(closed.get(t, "/openapi.json").body); strings.Contains(body, "mastodon") {
		t.Error("the description of another server has it too")
	}
}
