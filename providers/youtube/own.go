package youtube

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

type site struct {
	web, box *upstream.Client // the site, and its search box
	player   playerClient
}

func newOwn(cfg Config) providers.Provider {
	s := newSite(cfg)
	p := providers.Provider{
		Name: "youtube_own", Platform: platform.YouTube, Source: schema.Own, Prompt: true,
		Transcript:  s.transcript,
		Reels:       s.reels,
		Suggestions: s.suggestions,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpTranscript:  {"lang": nil},
			providers.OpSuggestions: {"region": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpTranscript:  "written captions are preferred to automatic ones; YouTube often answers data centers with a bot check",
			providers.OpReels:       "without an API key: the Shorts among the newest 15 videos, of a channel given by its id (UC…)",
			providers.OpSuggestions: "queries only",
		},
	}
	return p.IfOwn(cfg.Own, true)
}

func newSite(cfg Config) *site {
	web := cmp.Or(cfg.WebURL, "https://www.youtube.com")
	return &site{
		web: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: web, Absent: absentFeed, Header: http.Header{"Accept": {"*/*"}, "Accept-Language": {"en-US"}},
		}),
		box: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.SuggestURL, "https://suggestqueries-clients6.youtube.com"),
			Header: http.Header{"Origin": {web}, "Referer": {web}},
		}),
		player: playerClient{Name: cmp.Or(cfg.PlayerClient, "ANDROID"), Version: cmp.Or(cfg.PlayerVersion, "20.10.38")},
	}
}
