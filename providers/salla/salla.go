// Package salla reads one store on Salla: the store itself, its products and their reviews.
//
// Salla has no API across stores. The official one, the Merchant API, needs a token that a store gives to our app when
// it installs it, so a Config is for one store, and Store refuses every other one. What a store shows publicly is read
// from the API of its theme, which needs the store's number and its address.
//
// Nothing is forwarded unchanged: the responses of the Merchant API contain cost prices and buyers. These are removed
// from the raw of every object too.
//
// Source: https://docs.salla.dev
package salla

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for one store.
type Config struct {
	// Token is the access token that the store gave to our app, with the scopes products.read, reviews.read and
	// settings.read. It is valid for two weeks, and longer only with the four settings below.
	Token string
	// RefreshToken is exchanged for a new Token when Salla refuses the current one. Salla accepts each refresh token once,
	// and a second use ends the grant until the merchant installs the app again. It is therefore used only if GrantFile
	// can keep the new one, and no other process may use the same grant.
	RefreshToken string
	ClientID     string // of our app; for refreshing
	ClientSecret string // of our app; for refreshing
	GrantFile    string // path of the file in which the newest tokens are stored; for refreshing

	Own      providers.Own // reads the store's public API; on by default
	StoreID  string        // the store's number; needed for the public API, and with a token without settings.read
	StoreURL string        // the store's address, such as https://salla.sa/example; needed whenever StoreID is

	Language string       // of names and descriptions if the store has them, "ar" or "en"; "" means ar
	BaseURL  string       // of the Merchant API; "" means https://api.salla.dev/admin/v2
	TokenURL string       // "" means https://accounts.salla.sa/oauth2/token
	OwnURL   string       // of the theme's API; "" means https://api.salla.dev/store/v1
	HTTP     *http.Client // nil means a client of its own
}

// New returns the providers for Salla, in the order in which they are tried: the Merchant API, and the API of the
// store's theme.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg)}
}

const (
	pageSize = "20"             // of every list of the Merchant API, which allows 60
	storeAge = 10 * time.Minute // how long the store's own data is cached
)

// merchant reads the Merchant API of one store.
type merchant struct {
	http *upstream.Client
	set  schema.StoreSummary // the store as far as the settings describe it; may be empty

	mu    sync.Mutex
	known schema.StoreSummary // as last read
	until time.Time           // when it is read again
}

func newOfficial(cfg Config) providers.Provider {
	m := &merchant{set: storeOf(cfg), http: upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.salla.dev/admin/v2"), Check: check, Absent: absent, Tokens: tokens(cfg),
		Header: http.Header{"Accept-Language": {language(cfg)}},
		Quota:  upstream.NewQuota(0, 0), // the limit depends on the store's plan; a 429 says how long to wait
	})}
	p := providers.Provider{
		Name: "salla", Platform: platform.Salla, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpProducts, providers.OpReviews, providers.OpSearch),
		Store:     m.store,
		Products:  m.products,
		Product:   m.product,
		Reviews:   m.reviews,
		Search:    m.search,

		Normalize: normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: searchFilters()},
		Notes:   notes(),
	}
	return p.Requiring(map[string]string{"token": cfg.Token})
}

// storeOf returns the store as far as the settings describe it.
func storeOf(cfg Config) schema.StoreSummary {
	return schema.StoreSummary{ID: cfg.StoreID, URL: text.URLOr(cfg.StoreURL, "")}
}

func language(cfg Config) string { return cmp.Or(cfg.Language, "ar") }

func searchFilters() providers.Filters {
	return providers.Filters{"kind": {string(schema.ProductResult)}, "lang": {"ar", "en"}}
}

// untaxed documents which price is returned. Salla's own examples have both kinds of shops: one with a price of 51.75
// that is the taxed price, and one with a price of 299, a tax of 44.85 and a taxed price of 343.85.
const untaxed = "the price is as the store states it, without VAT if it adds VAT at checkout"

func notes() map[providers.Op]string {
	return map[providers.Op]string{
		providers.OpStore:    "only the store of the configured token",
		providers.OpProducts: "only of the configured store; hidden products are left out; " + untaxed,
		providers.OpProduct:  "only of the configured store; hidden products are not found; " + untaxed,
		providers.OpReviews:  "published ratings only; questions, and ratings of shipping and of the store, are left out",
		providers.OpSearch:   "products of the configured store, by name or SKU",
		providers.OpProfile:  "an account on Salla is a store: use store",
		providers.OpComments: "Salla has reviews instead of comments",
	}
}
