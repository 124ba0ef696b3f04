// Package appstore reads Apple's App Store. Profiles are apps, looked up by number or by bundle id; an app is a product
// too, with its price, its rating and its reviews.
//
// Apps and search come from the documented iTunes Search interface, reviews from the public reviews feed and suggestions
// from the hints of the store's search box. None of them wants a key. Everything is read in one storefront: ratings,
// reviews and prices differ from one to the next.
// Source: https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/
package appstore

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach the App Store.
type Config struct {
	Country  string       // the storefront, ISO 3166-1 alpha-2; "" means US
	BaseURL  string       // of look-ups, search and reviews; "" means https://itunes.apple.com
	HintsURL string       // of suggestions; "" means https://search.itunes.apple.com
	HTTP     *http.Client // nil means a client of its own

	// Batch is how many apps one look-up asks for; 0 means 200, which is how many results Apple answers with at most, and 1 asks for
	// each by itself. Apple documents that there may be several, and not how many.
	Batch int

	// Quota is Apple's limit on itunes.apple.com, about 20 reads a minute for an address, which apple_music draws on too;
	// nil means one of its own.
	Quota *upstream.Quota

	// Own reads the reviews, which come from a feed without documentation, and the suggestions of the store's search box;
	// on by default.
	Own providers.Own
}

const (
	longestAnswer = 200 // results
	// longestKeys is how long the numbers of a look-up may be together, in bytes: its address is of 2 KB at most, and each comma in it
	// takes three.
	longestKeys = 1500
)

type client struct {
	itunes, hints *upstream.Client
	country       string          // lower case
	feeds         *upstream.Quota // without an announced limit, unlike everything else on that host
}

// New returns the providers for the App Store: one for what Apple documents and one for what it only shows.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	official := providers.Provider{
		Name: "appstore", Platform: platform.AppStore, Source: schema.Official,
		Limits:  upstream.Limits(map[string]*upstream.Quota{"lookups": c.itunes.Quota(), "feeds": c.feeds}),
		Profile: c.profile,
		Product: c.product,
		Search:  c.search,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:  {"kind": {"profile"}, "region": nil},
			providers.OpProduct: {"region": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:   "an app, by its number or its bundle id",
			providers.OpSearch:    "at most 200 results",
			providers.OpPosts:     "apps publish no posts",
			providers.OpPost:      "apps publish no posts",
			providers.OpComments:  "what people say of an app are reviews",
			providers.OpFollowers: "apps have no followers",
			providers.OpProducts:  "a developer's apps are found by search",
		},
		Routes: providers.Routes(platform.AppStore,
			"lookup{?id,amgArtistId,amgAlbumId,amgVideoId,upc,isbn,bundleId,entity,media,country,lang,limit,sort}",
			"search{?term,country,media,entity,attribute,genreId,limit,offset,lang,version,explicit}",
			"{country}/rss/customerreviews/{page}/{id}/{sort}/json{?l}",
		),
		Forward: c.itunes.Forward,
	}
	if most := min(cmp.Or(cfg.Batch, longestAnswer), longestAnswer); most > 1 {
		official.Batches = providers.Batches{
			Profile: providers.Batch[schema.Profile]{Most: most, Bytes: longestKeys, Read: c.profiles},
			Product: providers.BatchBy[providers.ProductQuery, schema.Product]{Most: most, Bytes: longestKeys, Read: c.productsByID},
		}
	}
	return providers.Chain{official, c.own().IfOwn(cfg.Own, true)}
}

func newClient(cfg Config) *client {
	quota := cfg.Quota
	if quota == nil {
		quota = upstream.NewQuota(20, time.Minute)
	}
	return &client{
		itunes: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://itunes.apple.com"), Check: check, Quota: quota,
		}),
		hints: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.HintsURL, "https://search.itunes.apple.com"), Check: check,
		}),
		country: cmp.Or(strings.ToLower(cfg.Country), "us"),
		feeds:   upstream.NewQuota(0, 0),
	}
}
