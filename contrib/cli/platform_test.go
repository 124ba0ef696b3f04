package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

// federated is a program with a platform of its own.
func federated() Config {
	return Config{
		Platforms: []platform.Info{{ID: "mastodon", Name: "Mastodon of the Team", BaseCredits: 3}},
		Providers: func(Environment) ([]providers.Chain, error) {
			return []providers.Chain{{mock.NewFor("mastodon", mock.Config{})}}, nil
		},
	}
}

func TestAProgramHasCustomPlatforms(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "a.db")
	for _, tt := range []struct {
		args, want string
		status     int
	}{
		{"get mastodon profile handle=salma -o json", `"platform":"mastodon"`, 0},
		{"platforms", "mastodon\n", 0},
		{"get mastodno profile handle=salma", "did you mean mastodon?", 2},
	} {
		var out bytes.Buffer
		getenv := func(name string) string { return map[string]string{"SOCIALDATA_DB": db}[name] }
		status := Run(t.Context(), federated(), strings.Fields(tt.args), Streams{strings.NewReader(""), &out, &out}, getenv)
		if status != tt.status || !strings.Contains(strings.ReplaceAll(out.String(), `": "`, `":"`), tt.want) {
			t.Errorf("%s: status %d: %s", tt.args, status, out.String())
		}
	}
	words := predictParams(typed{done: []string{"get", "mock", "linked", "platforms"}}, federated().platforms().Names())
	if !slices.Contains(words, "mastodon") {
		t.Errorf("the shell completes %v", words)
	}
}

func TestAnInvalidPlatformIsRefused(t *testing.T) {
	t.Parallel()
	cfg := federated()
	cfg.Platforms[0].BaseCredits = 0
	var out bytes.Buffer
	status := Run(t.Context(), cfg, []string{"platforms"}, Streams{strings.NewReader(""), &out, &out},
		func(string) string { return "" })
	if status == 0 || !strings.Contains(out.String(), "WithPlatform") {
		t.Errorf("status %d: %s", status, out.String())
	}
}
