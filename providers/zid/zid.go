// Package zid reads shops of Zid: the store that a merchant has connected, its products and their reviews.
//
// The merchant API comes first. It serves the one store whose merchant granted access, identifies products by UUID, and
// gives prices of taxable products without VAT. The public storefront after it serves any shop at {name}.zid.store,
// identifies products by number, and gives prices with VAT: no list ever mixes both. Private data of the merchant is in
// no response and no raw, and so nothing is forwarded unchanged. Source: https://docs.zid.sa
package zid

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Zid. Both tokens are in the response of https://oauth.zid.sa/oauth/token, and are
// valid for about a year. They are settings, and are not refreshed here. https://docs.zid.sa
type Config struct {
	Authorization string // the long token, "authorization" in that response
	AccessToken   string // the manager's token, "access_token" in that response
	Lang          string // preferred language of names, "ar" or "en"; "" means ar

	BaseURL       string       // of the merchant API; "" means https://api.zid.sa/v1
	StorefrontURL string       // of every storefront; "" means the shop's own host, https://{name}.zid.store
	HTTP          *http.Client // nil means a client of its own

	// Own reads the public storefront; on by default. Zid often refuses access from data centres.
	Own providers.Own
}

// merchant is the merchant API of one store.
type merchant struct {
	http *upstream.Client
	lang string

	mu     sync.Mutex
	known  shop // the store, which every other read needs
	readAt time.Time
}

// New returns the providers for Zid: the merchant API, and then the public storefront.
func New(cfg Config) providers.Chain {
	m := newMerchant(cfg)
	official := providers.Provider{
		Name: "zid", Platform: platform.Zid, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpProducts, providers.OpSearch).
			And(reviewsPage, providers.OpReviews),
		Limits:   upstream.Limits(map[string]*upstream.Quota{"reads": m.http.Quota()}),
		Store:    m.store,
		Products: m.products,
		Product:  m.product,
		Reviews:  m.reviews,
		Search:   m.search,

		Normalize: webAddresses.Normalize, Names: webAddresses.Names, Also: webAddresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"product"}, "lang": {"ar", "en"}},
		},
		Notes: notes(map[providers.Op]string{
			providers.OpStore:    "the store of the configured tokens",
			providers.OpProducts: "published products, their prices without VAT; variants are included in their parent",
			providers.OpProduct:  "by UUID, the price without VAT",
			providers.OpReviews:  "approved ones; Zid has no list for one product, so a page may be empty",
			providers.OpSearch:   "products whose name contains every word; Zid has no search, so a page may be empty",
		}),
	}
	official = official.Requiring(map[string]string{
		"authorization": cfg.Authorization, "access_token": cfg.AccessToken,
	})
	return providers.Chain{official, newStorefronts(cfg).provider().IfOwn(cfg.Own, true)}
}

func newMerchant(cfg Config) *merchant {
	lang := cmp.Or(cfg.Lang, "ar")
	return &merchant{lang: lang, http: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.zid.sa/v1"), Check: check, Absent: absent,
		Quota: upstream.NewQuota(60, time.Minute), // for one store
		Header: http.Header{
			"Authorization":   {"Bearer " + cfg.Authorization},
			"X-Manager-Token": {cfg.AccessToken},
			"Access-Token":    {cfg.AccessToken}, // its name on the pages about products
			"Role":            {"Manager"},
			"Accept":          {"application/json"},
			"Accept-Language": {lang},
		},
	})}
}

// notes adds the reasons why the other operations are not served.
func notes(served map[providers.Op]string) map[providers.Op]string {
	for _, op := range providers.Ops() {
		if served[op] == "" {
			served[op] = "Zid is a platform of shops: it has stores, products and reviews"
		}
	}
	return served
}
