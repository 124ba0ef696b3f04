// Package amazon reads Amazon's marketplaces: products from the Creators API, which is open to approved associates,
// and, when switched on, from the public pages of the shop, which have reviews too.
//
// A product in the configured marketplace has its ASIN as its id. A product in another marketplace has that marketplace
// before the ASIN, as in sa:B07JP1QK9T for amazon.sa, because the same ASIN may be another product elsewhere.
//
// Sources: https://affiliate-program.amazon.com/creatorsapi/docs/ and https://www.amazon.com
package amazon

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Amazon.
type Config struct {
	// ClientID and ClientSecret are a credential of the Creators API. CredentialVersion is its version, such as "3.2" for
	// Europe, the Middle East and India; "" means 3.1, which is for the Americas.
	ClientID, ClientSecret, CredentialVersion string
	// PartnerTag is the associate's tag in the marketplace, such as "example-20".
	PartnerTag string
	// Country is the default marketplace, used when a request names none, as ISO 3166-1 alpha-2; "" means US.
	Country string
	// Own reads the pages of the shop. It is off by default: Amazon soon answers frequent readers with a robot check, and
	// its conditions of use forbid reading them.
	Own providers.Own

	BaseURL  string       // of the Creators API; "" means https://creatorsapi.amazon/catalog/v1
	TokenURL string       // of its tokens; "" means that of the credential's version
	WebURL   string       // of the shop in every marketplace; "" means each marketplace's own
	HTTP     *http.Client // nil means a client of its own
}

type client struct {
	http    *upstream.Client
	tag     string
	markets markets
	unrated atomic.Bool // Amazon withholds ratings from most accounts, and then refuses requests for them
}

// New returns the providers for Amazon, best first: the Creators API and the pages of the shop.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), cfg.somewhere(newOwn(cfg)).IfOwn(cfg.Own, false)}
}

func newOfficial(cfg Config) providers.Provider {
	c := &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://creatorsapi.amazon/catalog/v1"), Check: check, Absent: absent,
			Tokens: tokens(cfg),
			Quota:  upstream.NewQuota(0, 0), // starts at one read a second, and grows with the associate's sales
		}),
		tag: cfg.PartnerTag, markets: marketsOf(cfg),
	}
	addresses := c.markets.addresses()
	p := providers.Provider{
		Name: "amazon", Platform: platform.Amazon, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpSearch),
		Product:   c.product,
		Search:    c.search,

		Normalize: normalizer(addresses), Names: addresses.Names, Also: addresses.Also,
		Country: addresses.CountryOf, InCountry: addresses.InCountry,
		Open: upstream.Opener(cfg.HTTP, "amzn.to", "amzn.eu", "amzn.asia", "a.co"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {
				"kind": {string(schema.ProductResult)}, "sort": {"relevance", "recent", "rating"}, "region": c.markets.Countries(),
			},
			providers.OpProduct: {"region": c.markets.Countries()},
		},
		Notes: map[providers.Op]string{
			providers.OpProduct:  "by ASIN, or with the marketplace before it as in sa:B07JP1QK9T; one without an offer is not found",
			providers.OpSearch:   "products, at most 100; in the marketplace of the region",
			providers.OpProducts: "Amazon's API does not list the products of a seller or a creator",
			providers.OpReviews:  "Amazon's API has the number of reviews, but not the reviews",
			providers.OpStore:    "Amazon's API has no stores",
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

// somewhere returns p, or an empty provider if the configured country has no marketplace.
func (cfg Config) somewhere(p providers.Provider) providers.Provider {
	if _, known := all[cmp.Or(strings.ToUpper(cfg.Country), "US")]; !known {
		return p.Without("country")
	}
	return p
}
