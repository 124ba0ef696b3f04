package google

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// site reads what the scripts of Google's own pages read. It is not documented.
type site struct{ box, ads *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	reads := func(address string, header http.Header) *upstream.Client {
		return upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: address, Header: header, Check: checkOwn,
			Quota: upstream.NewQuota(60, time.Minute), // Google publishes no limit, and stops bursts of requests
		})
	}
	s := &site{
		box: reads(cmp.Or(cfg.SuggestURL, "https://suggestqueries.google.com"), http.Header{"User-Agent": {browser.Agent}}),
		ads: reads(cmp.Or(cfg.AdsURL, adsURL), http.Header{
			"User-Agent": {browser.Agent}, "Origin": {adsURL}, "Referer": {adsURL + "/"}, "X-Same-Domain": {"1"},
		}),
	}
	return providers.Provider{
		Name: "google_own", Platform: platform.Google, Source: schema.Own, Prompt: true,
		PageSizes:   providers.PagesOf(strconv.Itoa(adsPage), providers.OpAds),
		Limits:      upstream.Limits(map[string]*upstream.Quota{"suggestions": s.box.Quota(), "ads": s.ads.Quota()}),
		Suggestions: s.suggestions,
		Ads:         s.adsOf,
		Ad:          s.ad,
		Advertisers: s.advertisers,

		Normalize: normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSuggestions: {"region": nil},
			providers.OpAds:         {"country": nil},
			providers.OpAdvertisers: {"country": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpSuggestions: "at most 20; for Google the location of our server matters more than the region",
			providers.OpAds:         "by advertiser or domain, without their texts; active means shown in the last two days",
			providers.OpAd:          "by its URL, as in lists: the id alone does not contain the advertiser",
			providers.OpAdvertisers: "advertisers, and domains that ads link to; the id of the latter is the domain",
		},
	}
}

const adsURL = "https://adstransparency.google.com"
