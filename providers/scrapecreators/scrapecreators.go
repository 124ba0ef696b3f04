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
	"maps"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach ScrapeCreators.
type Config struct {
	APIKey  string       // of the operator's account; needed
	BaseURL string       // "" means https://api.scrapecreators.com
	HTTP    *http.Client // nil means a client of its own

	// MaxCredits is the most of the vendor's credits that one call may cost, however many reads it is made of; 0 means 1,
	// which is what a plain read costs. What costs more is switched off.
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
	http vendor
	max  int64 // credits for one call
}

// New returns the vendor's providers, one for each platform, in the order of their names.
func New(cfg Config) providers.Chain {
	most := max(1, cfg.MaxCredits)
	c := &client{max: most, http: vendor{max: most, api: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.scrapecreators.com"), Check: check,
		Header: http.Header{"X-Api-Key": {cfg.APIKey}},
		AtOnce: atOnce, Attempt: patience,
	})}}
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
	p.Forward = c.http.forward
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
			notes[op] = "switched off here: it costs more than a plain read"
			delete(charges, op)
		}
	}
	p.Charges, p.Notes = charges, notes
	if !key {
		return p.Without(name + ".api_key")
	}
	return p
}

func (c *client) tooDear(credits int64) bool { return credits > c.max }
