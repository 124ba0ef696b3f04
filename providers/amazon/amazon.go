// Package amazon reads Amazon's marketplaces: products by the Creators interface, which is for approved associates, and
// where it is switched on the pages that the shop shows to anybody, which have reviews too.
//
// A product of the marketplace of the settings has its ASIN for an id, and one of another marketplace that of the
// marketplace before it, as in sa:B07JP1QK9T for amazon.sa: an ASIN alone may be another product elsewhere.
//
// Sources: https://affiliate-program.amazon.com/creatorsapi/docs/ and https://www.amazon.com
package amazon

import (
	"cmp"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Amazon.
type Config struct {
	// ClientID and ClientSecret are a credential of the Creators interface, and CredentialVersion is its version, such as
	// "3.2" for Europe, the Middle East and India; "" means 3.1, which is for the Americas.
	ClientID, ClientSecret, CredentialVersion string
	// PartnerTag is the associate's in the marketplace, such as "example-20".
	PartnerTag string
	// Country says which marketplace is meant where nobody names one, ISO 3166-1 alpha-2; "" means US.
	Country string
	// Own reads the pages of the shop; off by default, since Amazon soon answers who reads many with a check for robots,
	// and its conditions of use forbid it.
	Own providers.Own

	BaseURL  string       // of the Creators interface; "" means https://creatorsapi.amazon/catalog/v1
	TokenURL string       // of its tokens; "" means that of the credential's version
	WebURL   string       // of the shop in every marketplace; "" means that of each
	HTTP     *http.Client // nil means a client of its own
}

type client struct {
	http    *upstream.Client
	tag     string
	markets markets
	unrated atomic.Bool // Amazon withholds ratings from most accounts, and then refuses to be asked for them
}

// New returns the providers for Amazon, best first: the Creators interface and the pages of the shop.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), cfg.somewhere(newOwn(cfg)).IfOwn(cfg.Own, false)}
}

func newOfficial(cfg Config) providers.Provider {
	c := &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://creatorsapi.amazon/catalog/v1"), Check: check,
			Tokens: tokens(cfg),
			Quota:  upstream.NewQuota(0, 0), // it begins with one read a second, and grows with what the associate sells
		}),
		tag: cfg.PartnerTag, markets: marketsOf(cfg),
	}
	p := providers.Provider{
		Name: "amazon", Platform: platform.Amazon, Source: schema.Official,
		Product: c.product,
		Search:  c.search,

		Normalize: c.markets.normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {
				"kind": {string(schema.ProductResult)}, "sort": {"relevance", "recent", "rating"}, "region": countries(),
			},
			providers.OpProduct: {"region": countries()},
		},
		Notes: map[providers.Op]string{
			providers.OpProduct:  "by ASIN, or with the marketplace before it as in sa:B07JP1QK9T; one without an offer is not found",
			providers.OpSearch:   "products, at most 100; in the marketplace of the region",
			providers.OpProducts: "Amazon's interface lists no products of a seller or a creator",
			providers.OpReviews:  "Amazon's interface tells how many reviews there are, not what they say",
			providers.OpStore:    "Amazon's interface knows no stores",
		},
	}
	p = p.Requiring(map[string]string{
		"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret, "partner_tag": cfg.PartnerTag,
	})
	if _, known := versions[cfg.version()]; !known && cfg.TokenURL == "" {
		p = p.Without("credential_version")
	}
	return cfg.somewhere(p)
}

// somewhere returns p, without anything where the country of the settings has no marketplace.
func (cfg Config) somewhere(p providers.Provider) providers.Provider {
	if _, known := all[cmp.Or(strings.ToUpper(cfg.Country), "US")]; !known {
		return p.Without("country")
	}
	return p
}
