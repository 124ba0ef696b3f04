// Package linkedin reads LinkedIn: the official API, which shows organisations and the ad library for a member's token,
// and the public pages of the site.
//
// A person's id is the last part of its page's address, and a post's the number of its activity.
//
// Sources: https://learn.microsoft.com/en-us/linkedin/ and https://www.linkedin.com
package linkedin

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for LinkedIn.
type Config struct {
	// Token is a member's access token for an app that has access to Community Management, and to the Ad Library for ads;
	// with "", only the public pages are read. It is valid for 60 days.
	Token string
	// Version is the version of the official API, such as "202606", which is also what "" means. LinkedIn retires each
	// version after a year.
	Version string
	// Own reads the public pages. It is off by default: LinkedIn refuses clients that read more than a page in ten
	// seconds, and its user agreement forbids it.
	Own providers.Own
	// PagesPerMinute limits the rate at which public pages are read; 0 means no limit.
	PagesPerMinute int

	BaseURL string       // of the official API; "" means https://api.linkedin.com
	WebURL  string       // of the site; "" means https://www.linkedin.com
	HTTP    *http.Client // nil means a client of its own
}

const siteURL = "https://www.linkedin.com"

// credentials are the query parameters in which LinkedIn accepts credentials.
// https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow
var credentials = []string{"oauth2_access_token", "client_id", "client_secret"}

type client struct{ http *upstream.Client }

// New returns the providers for LinkedIn, best first: the official API and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, false)}
}

func newOfficial(cfg Config) providers.Provider {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.linkedin.com"), Check: check, Absent: absent, Encode: encode, Credentials: credentials,
		Header: http.Header{
			"Authorization":             {"Bearer " + cfg.Token},
			"LinkedIn-Version":          {cmp.Or(cfg.Version, "202606")},
			"X-Restli-Protocol-Version": {"2.0.0"},
		},
	})}
	p := providers.Provider{
		Name: "linkedin", Platform: platform.LinkedIn, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(adsPage, providers.OpAds, providers.OpAdsSearch),
		Profile:   c.profile,
		Ads:       c.adsOf,
		AdsSearch: c.searchAds,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Open: upstream.Opener(cfg.HTTP, "lnkd.in"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpAds:       {"country": nil, "since": nil, "until": nil},
			providers.OpAdsSearch: {"country": nil, "since": nil, "until": nil},
		},
		Notes: notes,
		Routes: providers.Routes(platform.LinkedIn,
			"rest/organizations{?q,vanityName}", "rest/organizationsLookup{?ids}",
			"rest/adLibrary{?q,keyword,advertiser,countries,dateRange,start,count}",
		),
		Subjects:    []string{"vanityName"},
		Forward:     c.http.Forward,
		Credentials: credentials,
	}
	return p.Requiring(map[string]string{"token": cfg.Token})
}

const login = "LinkedIn only shows this to logged-in users"

var notes = map[providers.Op]string{
	providers.OpProfile:     "companies and schools, as in company/name",
	providers.OpPosts:       "the API only shows the posts of our own organizations",
	providers.OpPost:        "the API only shows the posts of our own organizations",
	providers.OpComments:    "the API only shows the posts of our own organizations",
	providers.OpReplies:     login,
	providers.OpFollowers:   login,
	providers.OpFollowing:   login,
	providers.OpAudience:    login,
	providers.OpSearch:      login,
	providers.OpSuggestions: login,
	providers.OpEvent:       login,
	providers.OpEvents:      login,
	providers.OpLive:        login,
	providers.OpTranscript:  login,
	providers.OpReels:       "LinkedIn has no such videos",
	providers.OpCollections: "LinkedIn has no public collections",
	providers.OpCommunity:   login,
	providers.OpProducts:    "LinkedIn has no shop",
	providers.OpAds:         "by the advertiser's name; without the ad's text; times and countries only for the European Union",
	providers.OpAdsSearch:   "by keyword; without the ad's text; times and countries only for the European Union",
	providers.OpAd:          "LinkedIn's API cannot read a single ad",
	providers.OpAdvertisers: "LinkedIn has no search for advertisers",
}

// encode leaves the brackets of lists and records unescaped: LinkedIn would treat escaped ones as text. The values in
// them are already escaped.
// https://linkedin.github.io/rest.li/spec/protocol#restli-protocol-20-object-and-listarray-representation
func encode(q url.Values) string {
	plain := strings.NewReplacer("%28", "(", "%29", ")", "%2C", ",", "%3A", ":", "%25", "%")
	parts := strings.Split(q.Encode(), "&")
	for i, part := range parts {
		switch name, _, _ := strings.Cut(part, "="); name {
		case "ids", "countries", "dateRange":
			parts[i] = plain.Replace(part)
		}
	}
	return strings.Join(parts, "&")
}

func newOwn(cfg Config) providers.Provider {
	s := site{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, siteURL), Header: asBrowser, Check: checkPage, Absent: absentPage,
		Quota: upstream.NewQuota(cfg.PagesPerMinute, time.Minute),
	})}
	return providers.Provider{
		Name: "linkedin_own", Platform: platform.LinkedIn, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf("10", providers.OpPosts, providers.OpComments), // the most that LinkedIn shows
		Limits:    upstream.Limits(map[string]*upstream.Quota{"pages": s.http.Quota()}),
		Profile:   s.profile,
		Posts:     s.posts,
		Post:      s.post,
		Comments:  s.comments,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Notes: map[providers.Op]string{
			providers.OpProfile:  "in/name, company/name, school/name or showcase/name; LinkedIn rounds large counts, and hides some pages",
			providers.OpPosts:    "the newest on the page, at most ten; for a person, including shared posts",
			providers.OpPost:     "by the number of its activity, its urn or its address",
			providers.OpComments: "at most the first ten",
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page: any other client is refused.
var asBrowser = browser.Page()
