package otel

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
)

func TestOnlyPlatformsAreCountedByName(t *testing.T) {
	t.Parallel()
	m := &meters{platforms: []platform.ID{"mastodon"}}
	for given, want := range map[string]string{
		"github": "github", "mastodon": "mastodon", "": "none", "whatever a caller writes": other,
	} {
		if got := m.platform(given); got != want {
			t.Errorf("%q is counted as %q, want %q", given, got, want)
		}
	}
}
