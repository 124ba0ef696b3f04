package all

import (
	"slices"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// TestUnsupportedSearchesAreRefused checks that official and own sources refuse searches that they do not
// support. A fan-out asks them before anything is priced (D76).
func TestUnsupportedSearchesAreRefused(t *testing.T) {
	t.Parallel()
	settings := map[string]string{
		"SOCIALDATA_REDDIT_CLIENT_ID": "test", "SOCIALDATA_REDDIT_CLIENT_SECRET": "test", "SOCIALDATA_TRUTHSOCIAL_TOKEN": "test",
		"SOCIALDATA_X_TOKEN": "test", "SOCIALDATA_X_USER_TOKEN": "test", "SOCIALDATA_SCRAPECREATORS_API_KEY": "test-test",
	}
	recently := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		provider string
		on       platform.ID
		query    providers.SearchQuery
		taken    bool
	}{
		{"x", platform.X, providers.SearchQuery{Query: "شاي"}, true},
		{"x", platform.X, providers.SearchQuery{Query: "شاي", Kind: schema.ProfileResult}, false},
		{"x", platform.X, providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}, true},
		{"x", platform.X, providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult, Since: recently}, false},
		{"x", platform.X, providers.SearchQuery{Query: "tea", Lang: "arabic"}, false},
		{"truthsocial", platform.TruthSocial, providers.SearchQuery{Query: "tea", Since: recently}, true},
		{"truthsocial", platform.TruthSocial, providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult, Since: recently}, false},
		{"rumble", platform.Rumble, providers.SearchQuery{Query: "tea", Sort: "views"}, true},
		{"rumble", platform.Rumble, providers.SearchQuery{Query: "tea", Sort: "views", Kind: schema.ProfileResult}, false},
		{"reddit", platform.Reddit, providers.SearchQuery{Query: "tea", Sort: "top"}, true},
		{"reddit", platform.Reddit, providers.SearchQuery{Query: "tea", Sort: "top", Kind: schema.ProfileResult}, false},
		{"scrapecreators", platform.Instagram, providers.SearchQuery{Query: "tea", Since: recently, Kind: schema.ProfileResult}, false},
		{"scrapecreators", platform.TikTok, providers.SearchQuery{Query: "tea", Sort: "recent", Kind: schema.ProductResult}, false},
		{"scrapecreators", platform.YouTube, providers.SearchQuery{Query: "tea", Since: recently, Kind: schema.ProfileResult}, false},
		{"scrapecreators", platform.YouTube, providers.SearchQuery{Query: "tea", Since: recently}, true},
	}
	chains := chainsWith(t, nil, func(name string) string { return settings[name] })
	for _, tt := range tests {
		found := false
		for _, p := range slices.Concat(chains...) {
			if p.Name != tt.provider || p.Platform != tt.on {
				continue
			}
			found = true
			if !p.Serves(providers.OpSearch) || p.Searches == nil {
				t.Errorf("%s on %s: it cannot search, or takes every query", tt.provider, tt.on)
			} else if err := p.Searches(tt.query); (err == nil) != tt.taken {
				t.Errorf("%s on %s, %+v: got %v, want it accepted: %t", tt.provider, tt.on, tt.query, err, tt.taken)
			}
		}
		if !found {
			t.Errorf("there is no %s on %s", tt.provider, tt.on)
		}
	}
}
