// Package instagram reads Instagram: the official API, which shows the professional accounts that Meta calls business
// and creator accounts, and the public site.
//
// A post's id is the number that the shortcode in its address encodes, which both sources know. The official API looks
// up no posts of others by id. What it calls an id (17 digits that begin with 17 or 18) is unknown elsewhere, and is
// used only when a post came without its address.
//
// Sources: https://developers.facebook.com/docs/instagram-platform and https://www.instagram.com
package instagram

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Instagram.
type Config struct {
	// Token is a long-lived token of a Facebook user or system user, with the permissions instagram_basic,
	// instagram_manage_insights and pages_read_engagement; with "", only the public pages are read.
	Token string
	// AccountID is the number of the professional account on whose behalf other accounts are read; it begins with 17841.
	AccountID string
	AppSecret string // of the token's app; with "", no proof of it is sent
	Version   string // of the Graph API; "" means v25.0. A version is served for about two years.

	// Own reads the public site, which Instagram hides from many data centres behind a login; on by default.
	Own providers.Own
	// TimelineDocID and PostDocID are the numbers of the site's own queries, which change with its releases; "" means
	// 9310670392322965 for the posts of an account and 8845758582119845 for one post.
	TimelineDocID, PostDocID string

	BaseURL string       // of the official API, with or without the version; "" means https://graph.facebook.com
	WebURL  string       // of the site; "" means https://www.instagram.com
	HTTP    *http.Client // nil means a client of its own
}

// credentials are the query parameters in which Meta accepts credentials. Meta repeats the token in the addresses of
// further pages.
// https://developers.facebook.com/docs/graph-api/guides/secure-requests
var credentials = []string{
	"access_token", "appsecret_proof", "client_id", "client_secret", "input_token", "fb_exchange_token",
}

// client reads the official API on behalf of one account.
type client struct {
	http          *upstream.Client
	account       string
	proof         string // proves that the token is held by its app; "" for none
	lookups, tags *upstream.Quota
}

// New returns the providers for Instagram, best first: the official API and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "instagram", Platform: platform.Instagram, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(mediaPage, providers.OpPosts, providers.OpReels).And(hashtagPage, providers.OpSearch),
		Limits:    upstream.Limits(map[string]*upstream.Quota{"lookups": c.lookups, "hashtags": c.tags}),
		Profile:   c.profile,
		Posts:     c.posts,
		Reels:     c.reels,
		Search:    c.find,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open:     upstream.Opener(cfg.HTTP, "www.instagram.com"),
		Searches: searchable,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"post"}, "sort": {"relevance", "recent"}},
		},
		Notes: notes,
		// No route takes method, batch, ids, callback and suppress_http_code: the Graph API honours them in any GET.
		Routes: providers.Routes(platform.Instagram,
			"ig_hashtag_search{?q,user_id}",
			"{hashtag}/recent_media{?user_id,fields,limit,after,before}",
			"{hashtag}/top_media{?user_id,fields,limit,after,before}",
		),
		Forward:     c.forward,
		Credentials: credentials,
		Owner:       providers.Owner{Words: []string{"me"}, Fields: []string{"access_token", "insights"}},
	}
	return p.Requiring(map[string]string{"token": cfg.Token, "account_id": cfg.AccountID})
}

// notes are what a user should know about both sources, and why Instagram offers no more.
var notes = map[providers.Op]string{
	providers.OpProfile: "the official API shows professional accounts, and not whether they are verified; the " +
		"site shows many data centers a login page instead",
	providers.OpPosts: "the official API shows those of professional accounts, without the @ in captions; the site " +
		"shows many visitors only the newest twelve, without counts and times",
	providers.OpPost:  "by shortcode, number or URL, from the site, where counts may be rounded",
	providers.OpReels: "the reels among the posts, with the limits of posts; a page may be empty although there are more",
	providers.OpSearch: "posts with a #word: of the last 24 hours, or the top posts if there are none; at most 30 " +
		"different words a week; without their authors",
	providers.OpComments:         "the first ten to fifteen on the site, without replies",
	providers.OpCollections:      "highlights, from the site",
	providers.OpReplies:          "Instagram only shows them to logged-in users",
	providers.OpCollection:       "Instagram only shows the contents of a highlight to logged-in users",
	providers.OpCollectionPosts:  "Instagram only shows the contents of a highlight to logged-in users",
	providers.OpCollectionTracks: "a highlight has no tracks",
	providers.OpFollowers:        "Instagram shows the number of followers, but no list of them",
	providers.OpFollowing:        "Instagram does not show which accounts an account follows",
	providers.OpAudience:         "Instagram only shows it to the account's owner",
	providers.OpLive:             "Instagram only shows live videos to logged-in users",
	providers.OpSuggestions:      "Instagram only shows suggestions to logged-in users",
	providers.OpTrending:         "Instagram only shows popular posts to logged-in users",
	providers.OpTranscript:       "Instagram has no public captions",
	providers.OpTrack:            "Instagram only shows sounds to logged-in users",
	providers.OpTracks:           "Instagram does not list the sounds of an account",
	providers.OpTrackPosts:       "Instagram only shows the reels of a sound to logged-in users",
	providers.OpCommunity:        "Instagram has no communities",
	providers.OpCommunityPosts:   "Instagram has no communities",
	providers.OpProducts:         "Instagram only shows its shops to logged-in users",
	providers.OpProduct:          "Instagram only shows its shops to logged-in users",
	providers.OpReviews:          "Instagram only shows its shops to logged-in users",
	providers.OpStore:            "Instagram only shows its shops to logged-in users",
	providers.OpAds:              "Meta has one ad library for all of its sites: use platform facebook",
	providers.OpAdsSearch:        "Meta has one ad library for all of its sites: use platform facebook",
	providers.OpAd:               "Meta has one ad library for all of its sites: use platform facebook",
	providers.OpAdvertisers:      "Meta has one ad library for all of its sites: use platform facebook",
	providers.OpEvent:            "Instagram lists no events",
	providers.OpEvents:           "Instagram lists no events",
	providers.OpEventsSearch:     "Instagram lists no events",
}

func newClient(cfg Config) *client {
	version := "/" + cmp.Or(cfg.Version, "v25.0")
	base := strings.TrimSuffix(strings.TrimRight(cmp.Or(cfg.BaseURL, "https://graph.facebook.com"), "/"), version)
	c := &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: base + version,
			Header: http.Header{"Authorization": {"Bearer " + cfg.Token}}, Check: check, Absent: ownRefusal, Credentials: credentials,
		}),
		account: cfg.AccountID,
		lookups: upstream.NewQuota(0, 0), // the limit depends on how much the app is used: only the answers state it
		tags:    upstream.NewQuota(0, 0),
	}
	if cfg.AppSecret != "" {
		mac := hmac.New(sha256.New, []byte(cfg.AppSecret))
		mac.Write([]byte(cfg.Token))
		c.proof = hex.EncodeToString(mac.Sum(nil))
	}
	return c
}

// read sends r and decodes the answer. It retries once after a temporary failure.
func (c *client) read(ctx context.Context, r upstream.Request, dst any) error {
	r = r.With("appsecret_proof", c.proof)
	_, err := c.http.Read(ctx, r, dst)
	if isPassing(err) {
		_, err = c.http.Read(ctx, r, dst)
	}
	return err
}

// forward reads path unchanged. A hashtag is read on behalf of an account: ours, if the caller names none.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	if !query.Has("user_id") {
		query.Set("user_id", c.account)
	}
	if c.proof != "" {
		query.Set("appsecret_proof", c.proof)
	}
	return c.http.Forward(ctx, path, query)
}
