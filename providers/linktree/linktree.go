// Package linktree reads Linktree from its public pages: it has no API for reading. Profiles are pages. The targets of
// a page are its links and, if they lead to an account elsewhere, its linked profiles.
//
// Source: https://linktr.ee, whose pages carry their data as JSON for their own scripts
package linktree

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Linktree.
type Config struct {
	Own     providers.Own // on by default; the pages are the only source
	BaseURL string        // "" means https://linktr.ee
	HTTP    *http.Client  // nil means a client of its own
}

const site = "https://linktr.ee/"

type client struct{ http *upstream.Client }

// New returns the one provider for Linktree.
func New(cfg Config) providers.Chain {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://linktr.ee"), Header: asBrowser, Check: check, Absent: saysAbsent,
	})}
	p := providers.Provider{
		Name: "linktree", Platform: platform.Linktree, Source: schema.Own, Prompt: true,
		Profile: c.profile,
		Linked:  c.linked,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpProfile:     "without counts, which Linktree does not show; e-mail addresses and telephone numbers are left out",
			providers.OpPosts:       "a Linktree page has links, not posts",
			providers.OpPost:        "a Linktree page has links, not posts",
			providers.OpReels:       "a Linktree page has links, not posts",
			providers.OpComments:    "Linktree pages have no comments",
			providers.OpReplies:     "Linktree pages have no comments",
			providers.OpSearch:      "Linktree has no public search",
			providers.OpSuggestions: "Linktree has no public search",
			providers.OpTrending:    "Linktree has no list of popular pages",
			providers.OpFollowers:   "Linktree pages have no followers",
			providers.OpFollowing:   "Linktree pages do not follow accounts",
			providers.OpCollections: "the groups of a page do not match any kind of collection",
		},
	}
	return providers.Chain{p.IfOwn(cfg.Own, true)}
}

// asBrowser are the headers that a browser sends when a person opens a page.
var asBrowser = browser.Page("Accept-Language", "en")
