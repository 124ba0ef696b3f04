// Package scrapecreators reads public data of many platforms through the reseller ScrapeCreators. It stands behind the
// platforms' own providers, which are free, and serves what they do not.
//
// There is one provider for each platform, in a file of the platform's name. Where the vendor hands on what the platform
// itself has answered, the platform's own package converts it. Identifiers arrive as that package writes them.
//
// The vendor charges its customer for each call that succeeds: see [providers.Provider.Charges].
// Source: https://docs.scrapecreators.com
package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach ScrapeCreators.
type Config struct {
	APIKey  string       // of the operator's account; needed
	BaseURL string       // "" means https://api.scrapecreators.com
	HTTP    *http.Client // nil means a client of its own

	// MaxCredits is the most of the vendor's credits that one call may cost; 0 means any number. What costs more is refused
	// before the vendor is asked.
	MaxCredits int64

	// AmazonCountry is the country of Amazon's own settings, in whose marketplace an ASIN alone is a product; "" means US.
	AmazonCountry string
}

const (
	name     = "scrapecreators"
	atOnce   = 10               // the vendor names no limit
	patience = 15 * time.Second // some of its answers take longer, but no call of ours does
)

// client reads from the vendor.
type client struct {
	http *upstream.Client
	max  int64 // credits for one call; 0 means any number
}

// New returns the vendor's providers, one for each platform, in the order of their names.
func New(cfg Config) providers.Chain {
	c := &client{max: cfg.MaxCredits, http: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.scrapecreators.com"), Check: check,
		Header: http.Header{"X-Api-Key": {cfg.APIKey}},
		AtOnce: atOnce, Attempt: patience,
	})}
	chain := providers.Chain{
		c.amazon(cfg.AmazonCountry),
		c.appleMusic(),
		c.bluesky(),
		c.facebook(),
		c.github(),
		c.google(),
		c.instagram(),
		c.kick(),
		c.kwai(),
		c.linkedin(),
		c.linktree(),
		c.pinterest(),
		c.reddit(),
		c.rumble(),
		c.snapchat(),
		c.soundcloud(),
		c.spotify(),
		c.telegram(),
		c.threads(),
		c.tiktok(),
		c.truthsocial(),
		c.twitch(),
		c.x(),
		c.youtube(),
	}
	for i, p := range chain {
		chain[i] = c.complete(p, cfg.APIKey != "")
	}
	return chain
}

// complete adds to p what is the same on every platform. Charges lists what costs another number of credits than one.
func (c *client) complete(p providers.Provider, key bool) providers.Provider {
	p.Name, p.Source = name, schema.Upstream(name)
	p.Forward = c.forward
	for _, route := range routes {
		if route.Platform == p.Platform {
			p.Routes = append(p.Routes, route)
		}
	}
	charges := map[providers.Op]int64{}
	notes := maps.Clone(p.Notes)
	if notes == nil {
		notes = map[providers.Op]string{}
	}
	for _, op := range providers.Ops() {
		if !p.Serves(op) {
			continue
		}
		charges[op] = cmp.Or(p.Charges[op], 1)
		if c.tooDear(charges[op]) {
			p = p.WithoutOps(nil, op)
			notes[op] = c.refusal(charges[op])
			delete(charges, op)
		}
	}
	p.Charges, p.Notes = charges, notes
	if !key {
		return p.Without(name + ".api_key")
	}
	return p
}

func (c *client) tooDear(credits int64) bool { return c.max > 0 && credits > c.max }

func (c *client) refusal(credits int64) string {
	return fmt.Sprintf("ScrapeCreators charges %d credits for it, and the setting max_credits allows %d", credits, c.max)
}

// forward reads path unchanged, unless it costs more than is allowed.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	if n := price(path, query); c.tooDear(n) {
		return nil, providers.Unsupported("%s", c.refusal(n))
	}
	return c.http.Forward(ctx, path, query)
}

// price is what the vendor charges for a read.
// https://docs.scrapecreators.com/openapi.json
func price(path string, query url.Values) int64 {
	switch {
	case path == "v1/tiktok/user/audience":
		return audienceCredits
	case path == "v1/google/company/ads" && query.Get("get_ad_details") == "true":
		return 25
	}
	n := int64(1)
	for flag, more := range map[string]int64{"include_replies": 15, "use_ai_as_fallback": 10, "download_media": 10} {
		if query.Get(flag) == "true" {
			n += more
		}
	}
	return n
}
