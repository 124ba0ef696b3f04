package cli

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/server/dashboard"
)

func TestSwitchesAreTheSettingsOfEachPlatform(t *testing.T) {
	t.Parallel()
	set := map[string]string{"SOCIALDATA_VENDOR_API_KEY": "secret-value", "SOCIALDATA_GITHUB_TOKEN": ""}
	e := &env{cfg: Config{Providers: func(on Environment) ([]providers.Chain, error) {
		for _, name := range []string{
			"SOCIALDATA_YOUTUBE_API_KEY", "SOCIALDATA_VENDOR_API_KEY", "SOCIALDATA_GITHUB_TOKEN",
		} {
			on.Lookup(name)
		}
		missing := func(setting string, ops ...providers.Op) map[providers.Op][]string {
			out := map[providers.Op][]string{}
			for _, op := range ops {
				out[op] = []string{setting}
			}
			return out
		}
		return []providers.Chain{{
			{Name: "youtube", Platform: platform.YouTube, Missing: missing("api_key", providers.OpProfile, providers.OpSearch)},
			{Name: "vendor", Platform: platform.YouTube, Missing: missing("vendor.api_key", providers.OpProfile)},
		}}, nil
	}}, getenv: func(name string) string { return set[name] }}
	got := e.providerSettings(platform.Specified())
	for i := range got {
		slices.Sort(got[i].Operations)
	}
	want := []dashboard.Setting{
		{Platform: platform.YouTube, Name: "api key", Variable: "SOCIALDATA_YOUTUBE_API_KEY", Operations: []string{"profile", "search"}},
		{
			Platform: platform.YouTube, Name: "api key of vendor", Variable: "SOCIALDATA_VENDOR_API_KEY", Set: true,
			Operations: []string{"profile"},
		},
		{Platform: platform.GitHub, Name: "token", Variable: "SOCIALDATA_GITHUB_TOKEN"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("providerSettings (-want +got):\n%s", diff)
	}
}
