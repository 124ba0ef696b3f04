// Package scrapecreators reads public data of many platforms through the reseller ScrapeCreators. It is used after the
// platforms' own providers, which are free, and for what they do not serve.
//
// There is one provider for each platform, in a file with the platform's name. If the vendor returns the platform's own
// answers, the platform's own package converts them. Identifiers are passed in the form of that package.
//
// A plain read is a row of its provider: what to request, where in the answer the object or the list is, how to convert
// it, and what it must be about; see [one] and [list]. Only a read with logic of its own is a function. The vendor
// documents each route at https://docs.scrapecreators.com/ followed by the route.
//
// The vendor charges its customer for each successful call: see [providers.Provider.Charges]. Source:
// https://docs.scrapecreators.com
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

// Config configures the providers for ScrapeCreators.
type Config struct {
	APIKey  string       // of the operator's account; required
	BaseURL string       // "" means https://api.scrapecreators.com
	HTTP    *http.Client // nil means a client of its own

	// MaxCredits is the most of the vendor's credits that one call may cost, however many reads it makes; 0 means 1, the
	// price of a plain read. Operations that cost more are switched off.
	MaxCredits int64

	// AmazonCountry is the country in Amazon's own settings; an ASIN alone is a product in its marketplace. "" means US.
	AmazonCountry string
}

const (
	name     = "scrapecreators"
	atOnce   = 10               // the vendor publishes no limit
	patience = 15 * time.Second // some of its answers take longer, but our calls may not
)

// client reads from the vendor.
type client struct {
	http vendor
	max  int64 // credits for one call
}

// New returns the vendor's providers, one for each platform, sorted by name.
func New(cfg Config) providers.Chain {
	most := max(1, cfg.MaxCredits)
	c := &client{max: most, http: vendor{max: most, api: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.scrapecreators.com"), Check: check, Absent: spoke,
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

// complete adds to p what is the same on every platform. Charges lists the operations that do not cost one credit.
func (c *client) complete(p providers.Provider, key bool) providers.Provider {
	p.Name, p.Source, p.Prompt = name, schema.Upstream(name), true
	p.Forward, p.Gate = c.http.forward, c.http.api.Gate()
	p.Subjects = []string{"acct", "author", "by", "owner", "page_alias", "permalink", "pk", "slug", "uri", "urn", "vanityName"}
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
		if c.tooExpensive(charges[op]) {
			p = p.WithoutOps(nil, op)
			notes[op] = "disabled: it costs more than a plain read"
			delete(charges, op)
		}
	}
	if p.Serves(providers.OpProfile) { // linked accounts are derived from profiles, each of which is a read
		charges[providers.OpLinked] = c.max
	}
	p.Charges, p.Notes = charges, notes
	if !key {
		return p.Without(name + ".api_key")
	}
	return p
}

func (c *client) tooExpensive(credits int64) bool { return credits > c.max }
