// Package appstore reads Apple's App Store. Profiles are apps, looked up by number or by bundle id; an app is a product
// too, with its price, its rating and its reviews.
//
// Apps and search come from the documented iTunes Search API, reviews from the public reviews feed and suggestions from
// the hints of the store's search box. None of them needs a key. Ratings, reviews and prices differ between storefronts:
// an id without a prefix is that of an app in the configured one, and sa:284882215 is an app in the Saudi one.
//
// Source: https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/
package appstore

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for the App Store.
type Config struct {
	Country  string       // the storefront, ISO 3166-1 alpha-2; "" means US
	BaseURL  string       // of look-ups, search and reviews; "" means https://itunes.apple.com
	HintsURL string       // of suggestions; "" means https://search.itunes.apple.com
	HTTP     *http.Client // nil means a client of its own

	// Batch is the maximum number of apps in one look-up; 0 means 200, Apple's maximum number of results, and 1 means
	// one request for each app. Apple documents that several are allowed, but not how many.
	Batch int

	// Quota is Apple's limit on itunes.apple.com, about 20 reads a minute for each address, which apple_music shares;
	// nil means a limit for this provider alone.
	Quota *upstream.Quota

	// Own reads the reviews, which come from an undocumented feed, and the suggestions of the store's search box. It is
	// on by default.
	Own providers.Own
}

const (
	longestAnswer = 200 // results
	// longestKeys is the maximum total length of the numbers in a look-up, in bytes: the URL may have at most 2 KB, and
	// each comma takes three bytes.
	longestKeys = 1500
)

type client struct {
	itunes, hints *upstream.Client
	markets       *links.Markets
	feeds         *upstream.Quota // Apple announces no limit for the feeds, unlike everything else on that host
}

// New returns the providers for the App Store: one for the documented API and one for the undocumented sources.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	site := addresses(c.markets)
	official := providers.Provider{
		Name: "appstore", Platform: platform.AppStore, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(searchPage), providers.OpSearch),
		Limits:    upstream.Limits(map[string]*upstream.Quota{"lookups": c.itunes.Quota(), "feeds": c.feeds}),
		Profile:   c.profile,
		Product:   c.product,
		Search:    c.search,

		Normalize: site.Normalize, Names: site.Names, Also: site.Also, Country: site.CountryOf, InCountry: site.InCountry,
		Filters: map[providers.Op]providers.Filters{
			providers.OpProfile: {"region": nil},
			providers.OpSearch:  {"kind": {"profile"}, "region": nil},
			providers.OpProduct: {"region": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:   "an app, by its number or its bundle id",
			providers.OpSearch:    "at most 200 results",
			providers.OpPosts:     "apps publish no posts",
			providers.OpPost:      "apps publish no posts",
			providers.OpComments:  "apps have reviews instead of comments",
			providers.OpFollowers: "apps have no followers",
			providers.OpProducts:  "use search to find a developer's apps",
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
		markets: links.MarketsOf(cfg.Country),
		feeds:   upstream.NewQuota(0, 0),
	}
}

// check handles a 403 without a body, which means too many calls in a minute, and a 400, which means that the caller's
// region has no store. Apple does not say when to retry, so our own quota sets the pace.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func check(res *upstream.Response) error {
	switch {
	case res.Status == http.StatusForbidden && len(bytes.TrimSpace(res.Body)) == 0:
		return providers.Limited("Apple is rate limiting us", 0)
	case res.Status == http.StatusBadRequest && res.Input:
		return providers.Invalid("the App Store rejects the request: the region may have no store")
	}
	return nil
}
