package platform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
)

func TestATableTakesPlatformsOfOnesOwn(t *testing.T) {
	t.Parallel()
	before := platform.Names()
	table, err := platform.Specified().With(platform.Info{ID: "mastodon", BaseCredits: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := platform.Info{ID: "mastodon", Name: "mastodon", BaseCredits: 3}
	if got, ok := table.Lookup("mastodon"); !ok || got != want {
		t.Errorf("Lookup = %+v, %t", got, ok)
	}
	names := append(slices.Clone(before), "mastodon")
	slices.Sort(names)
	if diff := cmp.Diff(names, table.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, platform.Names()); diff != "" || platform.ID("mastodon").Valid() || platform.Specified().Has("mastodon") {
		t.Errorf("the table of the specification has changed (-want +got):\n%s", diff)
	}
}

func TestATableRefusesWhatIsNoPlatform(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		info       platform.Info
	}{
		{"no word", "lower-case", platform.Info{BaseCredits: 1}},
		{"capitals", "lower-case", platform.Info{ID: "Mastodon", BaseCredits: 1}},
		{"a path", "lower-case", platform.Info{ID: "a/b", BaseCredits: 1}},
		{"a long word", "lower-case", platform.Info{ID: platform.ID(strings.Repeat("a", 33)), BaseCredits: 1}},
		{"the word of a route", "word of a route", platform.Info{ID: "search", BaseCredits: 1}},
		{"a word that is kept for a route", "word of a route", platform.Info{ID: "monitors", BaseCredits: 1}},
		{"one that there is", "there is a platform", platform.Info{ID: platform.GitHub, BaseCredits: 1}},
		{"no price", "BaseCredits", platform.Info{ID: "mastodon"}},
		{"a negative price", "BaseCredits", platform.Info{ID: "mastodon", BaseCredits: -1}},
	}
	for _, tt := range tests {
		if table, err := platform.Specified().With(tt.info); err == nil || table != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v", tt.name, table, err)
		}
	}
}

func TestMeantKnowsTheOtherNamesOfPlatforms(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"twitter": "x", "Twitter": "x", "hn": "hackernews", "ig": "instagram", "fb": "facebook", "yt": "youtube", "itunes": "apple_music",
		"Hacker News": "hackernews", "App Store": "appstore", "x": "x", "github": "github", "myspace": "myspace",
	} {
		if got := platform.Specified().Meant(word); got != want {
			t.Errorf("Meant(%q) = %q, want %q", word, got, want)
		}
	}
}
