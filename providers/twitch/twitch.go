// Package twitch reads public Twitch data from Helix, the documented API. Profiles are channels, posts are videos,
// reels are clips.
//
// It needs the client id and secret of an app. Data for a channel's owner only, such as the list of followers and the
// chat, is not available.
//
// Source: https://dev.twitch.tv/docs/api/reference
package twitch

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Twitch.
type Config struct {
	ClientID     string       // of the app; required
	ClientSecret string       // of the app; required
	BaseURL      string       // "" means https://api.twitch.tv/helix
	TokenURL     string       // "" means https://id.twitch.tv/oauth2/token
	HTTP         *http.Client // nil means a client of its own
}

const (
	pageSize = "100" // of every list; Helix's maximum
	most     = 100   // logins or ids in one request
)

type client struct {
	http   *upstream.Client
	extras *upstream.Client // without a new token after each refusal; see [client.followers]
	tokens *upstream.Tokens
}

// New returns the provider for public Twitch data.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "twitch", Platform: platform.Twitch, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpReels,
			providers.OpSearch).And(schedulePage, providers.OpEvents).
			And(strconv.Itoa(suggestions), providers.OpSuggestions),
		Limits:      upstream.Limits(map[string]*upstream.Quota{"points": c.http.Quota()}),
		Profile:     c.profile,
		Live:        c.live,
		Posts:       c.posts,
		Post:        c.post,
		Reels:       c.reels,
		Search:      c.find,
		Suggestions: c.suggestions,
		Events:      c.events,

		Batches: providers.Batches{
			Profile: providers.Batch[schema.Profile]{Most: most, Read: c.profiles},
			Live:    providers.Batch[schema.LiveStream]{Most: most, Read: c.lives},
			Post:    providers.Batch[schema.Post]{Most: most, Bytes: 4 << 10, Read: c.postsByID},
		},

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"profile"}},
			providers.OpEvents: {"time": {"upcoming"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "verified means partner; followers is null if Twitch does not show it to our app",
			providers.OpPosts:       "videos: archives, highlights and uploads; empty if the channel does not store them",
			providers.OpPost:        "the number of a video or the slug of a clip",
			providers.OpReels:       "clips, most viewed first: Twitch has no other order; about 1,000 of them",
			providers.OpSearch:      "channels by name or title; without followers, bio and partner status",
			providers.OpSuggestions: "the first channels of a search",
			providers.OpFollowers:   "only the channel's owner may list them; their number is in the profile",
			providers.OpFollowing:   "Twitch only shows it to the account itself",
			providers.OpComments:    "Twitch's API does not have the chat of a video",
			providers.OpReplies:     "Twitch's API does not have the chat of a video",
			providers.OpTranscript:  "Twitch has no transcripts",
			providers.OpTrending:    "Twitch lists popular streams and games, not videos",
			providers.OpCollections: "Twitch's API does not list a channel's collections",
			providers.OpEvents:      "the channel's schedule from now on, soonest first, without canceled broadcasts; only by handle",
			providers.OpEvent:       "Twitch only finds a scheduled broadcast by its channel",
			providers.OpCommunity:   "Twitch's API has teams, but no communities",
		},
		Routes:  routes(),
		Forward: c.http.Forward,
		// Helix only accepts credentials in headers.
	}
	return providers.Chain{p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})}
}

func routes() []providers.Route {
	return providers.Routes(platform.Twitch,
		"users{?id,login}", "channels{?broadcaster_id}",
		"videos{?id,user_id,game_id,language,period,sort,type,first,after,before}",
		"clips{?id,broadcaster_id,game_id,started_at,ended_at,is_featured,first,after,before}",
		"streams{?user_id,user_login,game_id,type,language,first,after,before}",
		"schedule{?broadcaster_id,id,start_time,utc_offset,first,after}", "games{?id,name,igdb_id}",
		"games/top{?first,after,before}", "search/channels{?query,live_only,first,after}",
		"search/categories{?query,first,after}", "teams{?id,name}", "teams/channel{?broadcaster_id}",
		"chat/emotes{?broadcaster_id}", "chat/emotes/global", "chat/badges{?broadcaster_id}", "chat/badges/global",
		"content_classification_labels{?locale}",
	)
}

func newClient(cfg Config) *client {
	helix := upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.twitch.tv/helix"), Check: check, Absent: absent,
		Header: http.Header{"Client-Id": {cfg.ClientID}},
		Quota:  upstream.NewQuota(800, time.Minute), // points of an app; each of our reads costs one
		Limits: &upstream.LimitHeaders{Limit: "Ratelimit-Limit", Remaining: "Ratelimit-Remaining", Reset: "Ratelimit-Reset"},
	}
	c := &client{tokens: tokens(cfg), extras: upstream.New(helix)}
	helix.Tokens = c.tokens
	c.http = upstream.New(helix)
	return c
}

// tokens requests access tokens with the app's credentials.
// https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/#client-credentials-grant-flow
func tokens(cfg Config) *upstream.Tokens {
	return upstream.AppTokens(cfg.HTTP, cmp.Or(cfg.TokenURL, "https://id.twitch.tv/oauth2/token"), cfg.ClientID, cfg.ClientSecret)
}

// check leaves everything except a 400 to the common rules.
// https://dev.twitch.tv/docs/api/guide/#http-status-codes
func check(res *upstream.Response) error {
	if res.Status == http.StatusBadRequest {
		return res.Malformed("Twitch")
	}
	return nil
}

// absent reports whether a response is Helix's 404 for a missing thing. For accounts it answers with an empty list; only
// these paths have a 404.
func absent(res *upstream.Response) bool {
	for _, path := range []string{"/videos", "/clips", "/schedule"} {
		if strings.HasSuffix(res.URL.Path, path) {
			return saysNotFound(res)
		}
	}
	return false
}

var saysNotFound = upstream.Says(func(r struct{ Status int }) bool { return r.Status == http.StatusNotFound })
