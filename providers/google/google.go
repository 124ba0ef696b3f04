// Package google reads Google: the web, with the Custom Search API, and two of its own public pages: the suggestions of
// the search box and the Ads Transparency Center.
//
// Google closed Custom Search to new customers in 2025, and ends it on 1 January 2027. Its page of results is not read:
// Google shows it only to browsers.
//
// Sources: https://developers.google.com/custom-search/v1/reference/rest and https://adstransparency.google.com
package google

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Google.
type Config struct {
	APIKey   string       // of a Google Cloud project with Custom Search enabled
	EngineID string       // of a Programmable Search Engine, called cx by Google: what part of the web to search
	BaseURL  string       // of Custom Search; "" means https://customsearch.googleapis.com
	HTTP     *http.Client // nil means a client of its own

	// Own reads the suggestions and the Ads Transparency Center; on by default.
	Own        providers.Own
	SuggestURL string // of the suggestions; "" means https://suggestqueries.google.com
	AdsURL     string // of the Ads Transparency Center; "" means https://adstransparency.google.com
}

// credentials are the query parameters in which Google accepts credentials.
// https://cloud.google.com/apis/docs/system-parameters
var credentials = []string{"key", "access_token", "oauth_token"}

type client struct {
	http   *upstream.Client
	engine string
}

// New returns the providers for Google: Custom Search, and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	c := &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://customsearch.googleapis.com"), Check: check,
			Header:      http.Header{"X-Goog-Api-Key": {cfg.APIKey}}, // keeps the key out of logged addresses
			Credentials: credentials,
			Quota:       upstream.NewQuota(0, 0).Dear(), // 100 searches a day are free; more must be paid for
		}),
		engine: cfg.EngineID,
	}
	p := providers.Provider{
		Name: "google", Platform: platform.Google, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpSearch),
		Search:    c.search,

		Normalize: normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {
				"kind": {string(schema.WebResult)}, "sort": {"relevance", "recent"}, "since": nil, "region": nil,
				"lang": languages(),
			},
		},
		Notes: map[providers.Op]string{
			providers.OpSearch: "web pages, at most 100, that the configured search engine covers; since counts in " +
				"whole days; region is the location of the searcher",
			providers.OpAdsSearch: "Google cannot search the text of ads: find the advertiser or the domain, then its ads",
			providers.OpReviews:   "Google only provides reviews of places in its Places API",
		},
		// https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
		Routes: providers.Routes(platform.Google, path+"{?q,cx,num,start,c2coff,cr,dateRestrict,exactTerms,excludeTerms,"+
			"fields,fileType,filter,gl,highRange,hl,hq,imgColorType,imgDominantColor,imgSize,imgType,linkSite,lowRange,lr,"+
			"orTerms,rights,safe,searchType,siteSearch,siteSearchFilter,sort}"),
		Forward:     c.forward,
		Credentials: credentials,
	}
	return p.Requiring(map[string]string{"api_key": cfg.APIKey, "engine_id": cfg.EngineID})
}
