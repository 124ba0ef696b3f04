// Package tiktok reads public TikTok data. Posts are videos and slide shows, tracks are sounds.
//
// There are three providers. The official one requires the key and secret of an app that TikTok has admitted to its
// Research Tools or its Commercial Content API. It alone has comments, followers, search by words, reviews and ads. The
// web one reads the pages of tiktok.com, which have the most data about an account and a post, and which TikTok
// protects with a bot check. The own one reads TikTok's public embed pages for other sites. Source:
// https://developers.tiktok.com/products/research-api/
package tiktok

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for TikTok.
type Config struct {
	ClientKey    string       // of the app; needed for the official APIs
	ClientSecret string       // of the app; needed for the official APIs
	BaseURL      string       // "" means https://open.tiktokapis.com
	HTTP         *http.Client // nil means a client of its own

	// Own reads public pages: by default those made to be embedded; when on, also those behind a bot check.
	Own        providers.Own
	WebURL     string // "" means https://www.tiktok.com
	WebcastURL string // "" means https://webcast.tiktok.com
}

// New returns the providers for TikTok, in the order in which they are tried.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newWeb(cfg).IfOwn(cfg.Own, false), newOwn(cfg).IfOwn(cfg.Own, true)}
}

// client reads the Research Tools and the Commercial Content API.
type client struct {
	http      *upstream.Client
	followers *upstream.Quota // of followers and following
	ads       *upstream.Quota // of the Commercial Content API
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "tiktok", Platform: platform.TikTok, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpFollowers, providers.OpFollowing,
			providers.OpPosts, providers.OpReels, providers.OpSearch, providers.OpComments,
			providers.OpReplies).And(strconv.Itoa(adPage), providers.OpAds, providers.OpAdsSearch,
			providers.OpAdvertisers).And(strconv.Itoa(shopPage), providers.OpReviews),
		Limits:      upstream.Limits(map[string]*upstream.Quota{"research": c.http.Quota(), "followers": c.followers, "ads": c.ads}),
		Profile:     c.profile,
		Followers:   c.followersOf,
		Following:   c.followingOf,
		Posts:       c.posts,
		Reels:       c.posts, // every post is a video
		Post:        c.post,
		Search:      c.search,
		Comments:    c.comments,
		Replies:     c.replies,
		Transcript:  c.transcript,
		Collection:  c.collection,
		Reviews:     c.reviews,
		Store:       c.store,
		Ads:         c.adsOf,
		AdsSearch:   c.searchAds,
		Ad:          c.ad,
		Advertisers: c.advertisers,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Open: upstream.Opener(cfg.HTTP, "vm.tiktok.com", "vt.tiktok.com", "www.tiktok.com"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:    {"kind": {"post"}, "sort": {"recent"}, "since": nil, "until": nil, "region": nil},
			providers.OpAds:       {"country": nil, "since": nil, "until": nil},
			providers.OpAdsSearch: {"country": nil, "since": nil, "until": nil},
		},
		Notes: notes,
	}
	return p.Requiring(map[string]string{"client_key": cfg.ClientKey, "client_secret": cfg.ClientSecret})
}

// notes are what a user should know about the official APIs, and why TikTok offers no more.
var notes = map[providers.Op]string{
	providers.OpProfile:      "the official API does not have the account's number: the id is the handle",
	providers.OpPosts:        "the official API is read a month at a time, so a page may be empty although there are more",
	providers.OpReels:        "every post is a short video: the same as posts",
	providers.OpSearch:       "posts; without the official API, only #word, and only the newest few",
	providers.OpComments:     "without authors from the official API; replies are included",
	providers.OpTranscript:   "the official API has the text without times",
	providers.OpCollection:   "playlists, by id or URL",
	providers.OpCollections:  "only TikTok's own signed requests list them",
	providers.OpStore:        "by its exact name: TikTok only finds shops by name",
	providers.OpProducts:     "the official API does not show whether a product is in stock",
	providers.OpProduct:      "the official API only lists the products of shops, without whether they are in stock",
	providers.OpAds:          "by number or exact name of the advertiser; ads that were shown in Europe since October 2022",
	providers.OpAdsSearch:    "ads that were shown in Europe since October 2022",
	providers.OpAdvertisers:  "advertisers of ads that were shown in Europe since October 2022",
	providers.OpSuggestions:  "only TikTok's own signed requests have them",
	providers.OpTrending:     "only TikTok's own signed requests have it",
	providers.OpAudience:     "TikTok only shows it to the account's owner",
	providers.OpTracks:       "only TikTok's own signed requests list the sounds of an account",
	providers.OpCommunity:    "TikTok has no communities",
	providers.OpEvents:       "TikTok lists no events",
	providers.OpEvent:        "TikTok lists no events",
	providers.OpEventsSearch: "TikTok lists no events",
}

// newClient returns a client whose tokens come from the same address. TikTok has one daily limit for all reads except
// those of followers and ads.
// https://developers.tiktok.com/doc/research-api-faq
func newClient(cfg Config) *client {
	base := cmp.Or(cfg.BaseURL, "https://open.tiktokapis.com")
	tokens := upstream.ClientCredentials(upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base}), upstream.Request{
		Path:   []string{"v2/oauth/token/"},
		Header: http.Header{"Cache-Control": {"no-cache"}},
		Form: url.Values{
			"client_key": {cfg.ClientKey}, "client_secret": {cfg.ClientSecret}, "grant_type": {"client_credentials"},
		},
	})
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: base, Tokens: tokens, Check: check, Quota: upstream.NewQuota(1000, 24*time.Hour),
		}),
		followers: upstream.NewQuota(20000, 24*time.Hour),
		ads:       upstream.NewQuota(0, 0),
	}
}

// ask returns a POST request, with which the official APIs are read. Every path ends with a slash.
func ask(path, fields string, body any) upstream.Request {
	r := upstream.Request{Method: http.MethodPost, Path: []string{"v2/research", path}, JSON: body, Retry: true}
	return r.With("fields", fields)
}

const pageSize = 100 // of every list of the official API, which may return fewer and still have more

// paging is beside each list of the official API.
type paging struct {
	Cursor  wire.Count `json:"cursor"` // a position in the list, or a time
	HasMore wire.Flag  `json:"has_more"`
}

// next returns the cursor of the next page, "" when there is none.
func (p paging) next(ctx context.Context) (string, error) {
	if err := wire.Need(ctx, "data.has_more", p.HasMore.V != nil); err != nil || !p.HasMore.Is() {
		return "", err
	}
	if err := wire.Need(ctx, "data.cursor", p.Cursor.V != nil); err != nil {
		return "", err
	}
	return strconv.FormatInt(*p.Cursor.V, 10), nil
}

// at converts a cursor to a number for the official API; nil for the first page.
func at(cursor string) *json.Number {
	if cursor == "" {
		return nil
	}
	return new(json.Number(cursor))
}
