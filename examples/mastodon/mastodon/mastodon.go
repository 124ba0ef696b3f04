// Package mastodon reads the public accounts and posts of one Mastodon server, without credentials.
//
// Source: https://docs.joinmastodon.org/methods/
package mastodon

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Platform is for socialdata.WithPlatform.
var Platform = platform.Info{ID: "mastodon", Name: "Mastodon", BaseCredits: 1, Meaning: "handles are of one server"}

// Config configures the provider for one server.
type Config struct {
	BaseURL string       // of the server; "" means https://mastodon.social
	HTTP    *http.Client // nil means a client of its own
}

const pageSize = "20" // of posts; at most 40 upstream

type client struct {
	http *upstream.Client
	site string // the address of the server
}

// New returns the provider.
func New(cfg Config) providers.Chain {
	base := strings.TrimSuffix(cmp.Or(cfg.BaseURL, "https://mastodon.social"), "/")
	c := &client{upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Check: check, Absent: absent}), base}
	site := addresses(base)
	return providers.Chain{{
		Name: "mastodon", Platform: Platform.ID, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts),
		Profile:   c.profile,
		Posts:     c.posts,
		Post:      c.post,
		Comments:  c.comments,
		Search:    c.search,

		Normalize: site.Normalize, Names: site.Names, Also: site.Also,
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {"profile"}}},
		Notes: map[providers.Op]string{
			providers.OpPosts:  "without boosts",
			providers.OpSearch: "accounts that the server knows; posts are for its own users only",
		},
	}}
}

// check recognizes the answer of a server that shows something only to its own users.
func check(res *upstream.Response) error {
	if res.Status == http.StatusUnauthorized {
		return providers.Unsupported("this server only shows this to its own users")
	}
	return nil
}

// absent reports whether a 404 has the error body of a Mastodon server.
// https://docs.joinmastodon.org/entities/Error/
var absent = upstream.Says(func(e struct{ Error string }) bool { return e.Error != "" })
