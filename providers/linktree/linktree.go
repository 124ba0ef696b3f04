// Package linktree reads the public pages of Linktree. Profiles are those pages; what they link to are the links of the
// profile, and the accounts among them its linked profiles.
//
// Linktree has no public interface: the data is what the page carries for its own scripts, and is documented nowhere.
package linktree

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Linktree.
type Config struct {
	Own     providers.Own // reads the public pages; on by default
	BaseURL string        // "" means https://linktr.ee
	HTTP    *http.Client  // nil means a client of its own
}

const site = "https://linktr.ee/"

type client struct{ http *upstream.Client }

// New returns the one upstream of Linktree.
func New(cfg Config) providers.Chain {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://linktr.ee"), Header: asBrowser, Check: check, Quota: upstream.NewQuota(0, 0),
	})}
	const noPosts = "Linktree has links, no posts"
	p := providers.Provider{
		Name: "linktree", Platform: platform.Linktree, Source: schema.Own,
		Profile: c.profile,
		Linked:  c.linked,

		Normalize: normalize,
		Notes: map[providers.Op]string{
			providers.OpProfile:     "the links of the page are those of the profile; e-mail addresses and telephone numbers are left out",
			providers.OpPosts:       noPosts,
			providers.OpPost:        noPosts,
			providers.OpReels:       noPosts,
			providers.OpTrending:    noPosts,
			providers.OpComments:    noPosts,
			providers.OpReplies:     noPosts,
			providers.OpTranscript:  noPosts,
			providers.OpSearch:      "Linktree has no search",
			providers.OpSuggestions: "Linktree has no search",
			providers.OpFollowers:   "nobody follows a Linktree page",
			providers.OpFollowing:   "nobody follows a Linktree page",
			providers.OpAudience:    "Linktree tells it to the page's owner only",
			providers.OpLive:        "Linktree has no broadcasts",
			providers.OpCommunity:   "Linktree has no communities",
			providers.OpCollections: "Linktree has no collections",
			providers.OpTrack:       "Linktree has no sounds",
			providers.OpProducts:    "what a page sells is among its links, without prices",
			providers.OpAds:         "Linktree has no ads",
			providers.OpEvents:      "Linktree has no events",
		},
	}
	return providers.Chain{p.IfOwn(cfg.Own, true)}
}

// asBrowser is what a browser sends when a person opens a page.
var asBrowser = http.Header{
	"User-Agent": {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/142.0.0.0 Safari/537.36"},
	"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
	"Accept-Language": {"en"},
}
