// Package pinterest reads public Pinterest data. Posts are pins, collections are boards.
//
// There are four providers. The official one sees only the account that its token belongs to. The own one reads the API
// behind the website, which has the most data. The widgets, made for other sites to show pins, and the feeds, the RSS
// of accounts and boards, have only the newest pins, and are used when the website refuses us. Source:
// https://developers.pinterest.com/docs/api/v5/
package pinterest

import (
	"cmp"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Pinterest.
type Config struct {
	// Token is an access token of the account that the official API reads, with the scopes boards:read, pins:read and
	// user_accounts:read, and no scope that ends in _secret, since secret pins and boards must not be shown.
	Token        string
	ClientID     string       // of an app, instead of Token: the account is then the app owner's
	ClientSecret string       // of the app
	BaseURL      string       // of the official API and of pin.it; "" means https://api.pinterest.com
	HTTP         *http.Client // nil means a client of its own

	Own        providers.Own // reads the public website, widgets and feeds; on by default
	WebURL     string        // "" means https://www.pinterest.com
	WidgetsURL string        // "" means https://widgets.pinterest.com
}

// credentials are the query parameters in which Pinterest accepts, or once accepted, credentials.
var credentials = []string{"access_token", "client_id", "client_secret", "refresh_token"}

// New returns the providers for Pinterest, in the order in which they are tried.
func New(cfg Config) providers.Chain {
	return providers.Chain{
		newOfficial(cfg),
		newOwn(cfg).IfOwn(cfg.Own, true),
		newWidgets(cfg).IfOwn(cfg.Own, true),
		newFeeds(cfg).IfOwn(cfg.Own, true),
	}
}

// official reads the official API, which shows the account of its token.
type official struct {
	http  *upstream.Client
	short shortener

	mu    sync.Mutex
	owner string    // the handle of the account, "" when it is unknown
	until time.Time // when owner expires
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "pinterest", Platform: platform.Pinterest, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpCollections,
			providers.OpCollectionPosts),
		Limits:          upstream.Limits(map[string]*upstream.Quota{"reads": c.http.Quota()}),
		Profile:         c.profile,
		Posts:           c.posts,
		Post:            c.post,
		Collections:     c.collections,
		Collection:      c.collection,
		CollectionPosts: c.collectionPosts,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, "pin.it"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpCollections:     {"kind": {"board"}},
			providers.OpCollection:      {"kind": {"board"}},
			providers.OpCollectionPosts: {"kind": {"board"}},
		},
		Notes:       notes,
		Credentials: credentials,
	}
	if cfg.Token == "" {
		p = p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})
	}
	return p
}

// notes are what a user should know about all providers, and why Pinterest offers no more.
var notes = map[providers.Op]string{
	providers.OpProfile:          "the official API only shows the token's account; others are read from the site",
	providers.OpPosts:            "pins that the account has saved or created; only the newest 25 or 50 if the website refuses us",
	providers.OpCollections:      "boards; secret and protected ones are left out",
	providers.OpCollection:       "boards, by number or URL",
	providers.OpCollectionPosts:  "boards, by number or URL; their pins often have no time",
	providers.OpSearch:           "pins unless a kind is given; the official search is closed to most apps",
	providers.OpComments:         "Pinterest only shows comments to logged-in users",
	providers.OpReplies:          "Pinterest only shows comments to logged-in users",
	providers.OpFollowers:        "Pinterest only shows followers to the account's owner",
	providers.OpFollowing:        "Pinterest only shows them to the account's owner",
	providers.OpReels:            "Pinterest has no separate list of videos",
	providers.OpTranscript:       "Pinterest has no transcripts",
	providers.OpTrending:         "Pinterest only shows trends to advertisers",
	providers.OpSuggestions:      "Pinterest only shows suggestions to logged-in users",
	providers.OpAudience:         "Pinterest only shows it to the account's owner",
	providers.OpLive:             "Pinterest has no broadcasts",
	providers.OpTrack:            "Pinterest has no tracks",
	providers.OpTracks:           "Pinterest has no tracks",
	providers.OpTrackPosts:       "Pinterest has no tracks",
	providers.OpCollectionTracks: "boards have pins, not tracks",
	providers.OpCommunity:        "Pinterest has no communities",
	providers.OpCommunityPosts:   "Pinterest has no communities",
	providers.OpProducts:         "Pinterest has no product catalog, only pins with prices",
	providers.OpProduct:          "Pinterest has no product catalog, only pins with prices",
	providers.OpReviews:          "Pinterest has no product catalog, only pins with prices",
	providers.OpStore:            "Pinterest has no product catalog, only pins with prices",
}

// newClient returns a client whose tokens come from the same address. The limits are those that Pinterest announces;
// the header for their reset has an undocumented format.
func newClient(cfg Config) *official {
	base := cmp.Or(cfg.BaseURL, "https://api.pinterest.com")
	c := upstream.Config{
		HTTP: cfg.HTTP, Base: base, Check: checkOfficial, Absent: absentOfficial, Credentials: credentials,
		Limits: &upstream.LimitHeaders{Limit: "X-RateLimit-Limit", Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset"},
		Quota:  upstream.NewQuota(0, 0),
	}
	if cfg.Token != "" {
		c.Header = http.Header{"Authorization": {"Bearer " + cfg.Token}}
	} else {
		c.Tokens = tokens(cfg, base)
	}
	return &official{http: upstream.New(c), short: newShortener(cfg)}
}

// tokens gets access tokens for the account of the app's owner.
// https://developers.pinterest.com/docs/api/v5/oauth-token
func tokens(cfg Config, base string) *upstream.Tokens {
	c := upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: base, Header: http.Header{"Authorization": {upstream.Basic(cfg.ClientID, cfg.ClientSecret)}},
	})
	return upstream.ClientCredentials(c, upstream.Request{
		Path: []string{"v5/oauth/token"},
		Form: url.Values{"grant_type": {"client_credentials"}, "scope": {"boards:read,pins:read,user_accounts:read"}},
	})
}
