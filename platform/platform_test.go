package platform_test

import (
	"slices"
	"testing"

	"github.com/socialdata/socialdata/platform"
)

func TestTableIsSortedSoThatLookupFindsEveryPlatform(t *testing.T) {
	t.Parallel()
	all := platform.All()
	if len(all) != 29 {
		t.Errorf("All() has %d platforms, want the 29 of the specification", len(all))
	}
	for _, want := range all {
		got, ok := platform.Lookup(want.ID)
		if !ok || got != want {
			t.Errorf("Lookup(%q) = %+v, %v", want.ID, got, ok)
		}
		if want.BaseCredits < 1 {
			t.Errorf("%s costs %d credits", want.ID, want.BaseCredits)
		}
	}
	reserved := []platform.ID{"me", "search", "job", "raw", "enrich", "usage", "platforms"}
	for _, id := range append(reserved, "", "GitHub", "myspace") {
		if id.Valid() {
			t.Errorf("%q is valid, but must not name a platform", id)
		}
	}
}

func TestTwoCreditPlatforms(t *testing.T) {
	t.Parallel()
	var got []platform.ID
	for _, i := range platform.All() {
		if i.BaseCredits == 2 {
			got = append(got, i.ID)
		}
	}
	if want := []platform.ID{platform.LinkedIn, platform.Snapchat, platform.Telegram}; !slices.Equal(got, want) {
		t.Errorf("two credits: %v, want %v", got, want)
	}
}
