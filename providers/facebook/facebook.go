// Package facebook reads Facebook: the Graph API, which shows Pages to an app that Meta has reviewed, and the public
// site, which shows events and the heads of pages.
//
// A post's id is {page}_{post}, as in the Graph API, and a comment's is {post}_{comment}; a video has a number of its
// own. Neither source shows people or groups.
//
// Sources: https://developers.facebook.com/docs/graph-api and https://www.facebook.com
package facebook

import (
	"cmp"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Facebook.
type Config struct {
	// AppID and AppSecret name an app with the features Page Public Content Access and Page Public Metadata Access.
	AppID, AppSecret string
	// Token is the token of a system user or user, used instead of the app's own. With AppSecret set, requests carry a
	// proof for it.
	Token string
	// PartnerToken is the token of a Facebook Marketing Partner, the only one who may read events; with "", events are
	// read from their pages.
	PartnerToken string
	// AdsToken is the token of a person with a confirmed identity, for the Ad Library. It is valid for 60 days.
	AdsToken string
	// Version is the version of the Graph API; "" means v25.0. A version is served for about two years.
	Version string
	// Own reads the public site, which Facebook hides from many data centres behind a login; on by default.
	Own providers.Own

	BaseURL  string       // of the Graph API; "" means https://graph.facebook.com
	WebURL   string       // of the site; "" means https://www.facebook.com
	ShortURL string       // of the short addresses of events; "" means https://fb.me
	HTTP     *http.Client // nil means a client of its own
}

// credentials are the query parameters in which Meta accepts credentials. Meta repeats the token in the addresses of
// further pages.
var credentials = []string{
	"access_token", "appsecret_proof", "client_id", "client_secret", "input_token", "fb_exchange_token",
}

// owner lists what the Graph API shows only to those who run a Page or an app.
// https://developers.facebook.com/docs/graph-api/reference/page
func owner() providers.Owner {
	return providers.Owner{
		Words: []string{"me", "app"},
		Fields: []string{
			"access_token", "insights", "tasks", "admin_notes", "conversations", "private_reply_conversation", "leadgen_forms",
			"promotable_id", "promotable_posts", "is_eligible_for_promotion", "promotion_status", "scheduled_publish_time",
			"feed_targeting", "targeting", "unread_message_count", "unread_notif_count", "unseen_message_count",
		},
	}
}

const (
	siteURL  = "https://www.facebook.com/"
	pageSize = "25" // of every official list; at most 100 upstream
	fewer    = "5"  // used when that may be too much
)

// client reads the Graph API, each part of it with the token that it requires.
type client struct{ pages, events, ads graph }

// New returns the providers for Facebook, best first: the Graph API and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	token := cfg.Token
	if token == "" && cfg.AppID != "" && cfg.AppSecret != "" {
		token = cfg.AppID + "|" + cfg.AppSecret
	}
	c := &client{newGraph(cfg, token), newGraph(cfg, cfg.PartnerToken), newGraph(cfg, cfg.AdsToken)}
	p := providers.Provider{
		Name: "facebook", Platform: platform.Facebook, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpComments, providers.OpReplies,
			providers.OpReels, providers.OpCollections, providers.OpEvents, providers.OpSearch, providers.OpAds,
			providers.OpAdsSearch),
		Profile:     c.profile,
		Live:        c.live,
		Posts:       c.posts,
		Post:        c.post,
		Search:      c.search,
		Comments:    c.comments,
		Replies:     c.replies,
		Reels:       c.reels,
		Collections: c.albums,
		Ads:         c.advertiserAds,
		AdsSearch:   c.searchAds,
		Event:       c.event,
		Events:      c.eventsOf,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Open: upstream.Opener(cfg.HTTP, "fb.me", "fb.watch", "www.facebook.com"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:       providers.NewestFirst(),
			providers.OpSearch:      {"kind": {"profile"}},
			providers.OpCollections: {"kind": {"album"}},
			providers.OpEvents:      {"time": {"upcoming", "past"}},
			providers.OpAds:         adFilters,
			providers.OpAdsSearch:   adFilters,
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:        "Pages, and people whose account is one",
			providers.OpPosts:          "of Pages; likes are all reactions",
			providers.OpPost:           "by {page}_{post}, or the number of a video",
			providers.OpSearch:         "Pages; posts cannot be searched",
			providers.OpComments:       "of Pages, without their authors",
			providers.OpReplies:        "of Pages, without their authors",
			providers.OpReels:          "of Pages that the token may manage",
			providers.OpCollections:    "albums of Pages",
			providers.OpEvent:          "with the token of a Marketing Partner",
			providers.OpEvents:         "of a Page, with the token of a Marketing Partner",
			providers.OpAds:            "of a Page; country US unless given; outside the EU and the UK only political ads; no pictures",
			providers.OpAdsSearch:      "country US unless given; outside the EU and the UK only political ads; no pictures",
			providers.OpAd:             "the Ad Library's API cannot read a single ad",
			providers.OpAdvertisers:    "the Ad Library's API cannot search advertisers",
			providers.OpCommunity:      "Facebook only shows groups to logged-in users",
			providers.OpCommunityPosts: "Facebook only shows groups to logged-in users",
			providers.OpEventsSearch:   "Facebook only searches events for logged-in users",
			providers.OpFollowers:      "Facebook shows the number of followers, but no list of them",
			providers.OpFollowing:      "Facebook does not show which accounts a Page follows",
			providers.OpTranscript:     "Facebook only shows captions to the owner of a video",
			providers.OpSuggestions:    "Facebook has no public suggestions",
		},
		// No route takes method, batch, ids, callback and suppress_http_code: the Graph API honours them in any GET.
		Routes: providers.Routes(platform.Facebook,
			"pages/search{?q,fields,limit,after,before}",
			"{page}/published_posts{?fields,limit,after,before,since,until,locale,summary}",
			"{page}/albums{?fields,limit,after,before,locale}",
			"{page}/live_videos{?broadcast_status,fields,limit,after,before,locale}",
			"{post}/comments{?filter,order,summary,fields,limit,after,before,since,until,locale}",
		),
		Forward:     c.pages.forward,
		Credentials: credentials,
		Owner:       owner(),
	}
	return cfg.served(p, token)
}

// served removes the operations that are not configured: each part of the Graph API requires a token of its own.
func (cfg Config) served(p providers.Provider, token string) providers.Provider {
	if token == "" {
		settings := missing(map[string]string{"app_id": cfg.AppID, "app_secret": cfg.AppSecret})
		p = p.WithoutOps(settings, providers.OpProfile, providers.OpLive, providers.OpPosts, providers.OpPost,
			providers.OpSearch, providers.OpComments, providers.OpReplies, providers.OpReels, providers.OpCollections)
		p.Missing[providers.OpRaw], p.Forward = settings, nil
	}
	if cfg.PartnerToken == "" {
		p = p.WithoutOps([]string{"partner_token"}, providers.OpEvent, providers.OpEvents)
	}
	if cfg.AdsToken == "" {
		p = p.WithoutOps([]string{"ads_token"}, providers.OpAds, providers.OpAdsSearch)
	}
	return p
}

// missing returns the names of the settings that are "", sorted.
func missing(settings map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// base returns the address of the Graph API with its version.
func (cfg Config) base() string {
	at := strings.TrimRight(cmp.Or(cfg.BaseURL, "https://graph.facebook.com"), "/")
	if last := path.Base(at); cfg.Version == "" && len(last) > 2 && last[0] == 'v' && links.Digits(last[1:2]) {
		return at // it has a version already
	}
	return at + "/" + cmp.Or(cfg.Version, "v25.0")
}
