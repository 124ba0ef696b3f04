// Package twitch reads public Twitch data from Helix, the documented interface. Profiles are channels, posts are videos,
// reels are clips.
//
// It needs the client id and secret of an app. What belongs to a channel's owner alone, such as the list of followers
// and the chat, is out of its reach.
// Source: https://dev.twitch.tv/docs/api/reference
package twitch

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Twitch.
type Config struct {
	ClientID     string       // of the app; needed
	ClientSecret string       // of the app; needed
	BaseURL      string       // "" means https://api.twitch.tv/helix
	TokenURL     string       // "" means https://id.twitch.tv/oauth2/token
	HTTP         *http.Client // nil means a client of its own
}

const pageSize = "100" // of every list; the most that Helix gives

type client struct {
	http   *upstream.Client
	extras *upstream.Client // the same without a new token for each refusal; see [client.followers]
	tokens *upstream.Tokens
}

// New returns the provider for public Twitch data.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "twitch", Platform: platform.Twitch, Source: schema.Official,
		Profile:     c.profile,
		Live:        c.live,
		Posts:       c.posts,
		Post:        c.post,
		Reels:       c.reels,
		Search:      c.find,
		Suggestions: c.suggestions,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"profile"}},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "verified means partner; followers is null where Twitch does not tell the app",
			providers.OpPosts:       "videos: archives, highlights and uploads; empty where the channel does not keep them",
			providers.OpPost:        "the number of a video or the slug of a clip",
			providers.OpReels:       "clips, most viewed first: Twitch has no other order; about 1,000 of them",
			providers.OpSearch:      "channels by name or title; without followers, bio and partner status",
			providers.OpSuggestions: "the first channels of a search",
			providers.OpFollowers:   "only the channel's owner may list them; their number is in the profile",
			providers.OpFollowing:   "Twitch shows it to the account itself only",
			providers.OpComments:    "Twitch's interface does not give out the chat of a video",
			providers.OpReplies:     "Twitch's interface does not give out the chat of a video",
			providers.OpTranscript:  "Twitch has no transcripts",
			providers.OpTrending:    "Twitch tells popular streams and games, not videos",
			providers.OpCollections: "Twitch's interface does not list a channel's collections",
			providers.OpEvents:      "the stream schedule is at GET /v1/raw/twitch/schedule",
		},
		Routes:  routes(),
		Forward: c.http.Forward,
	}
	return providers.Chain{p.Requiring(map[string]string{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret})}
}

func routes() []providers.Route {
	return providers.Routes(platform.Twitch,
		"users", "channels", "videos", "clips", "streams", "schedule", "games", "games/top", "search/channels",
		"search/categories", "teams", "teams/channel", "chat/emotes", "chat/emotes/global", "chat/badges", "chat/badges/global",
		"content_classification_labels",
	)
}

func newClient(cfg Config) *client {
	helix := upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.twitch.tv/helix"), Check: check,
		Header: http.Header{"Client-Id": {cfg.ClientID}},
		Quota:  upstream.NewQuota(800, time.Minute), // points of an app; each of our reads costs one
		Limits: &upstream.LimitHeaders{Remaining: "Ratelimit-Remaining", Reset: "Ratelimit-Reset"},
	}
	c := &client{tokens: tokens(cfg), extras: upstream.New(helix)}
	helix.Tokens = c.tokens
	c.http = upstream.New(helix)
	return c
}

// tokens asks for an access token with the app's own credentials.
// https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/#client-credentials-grant-flow
func tokens(cfg Config) *upstream.Tokens {
	return upstream.AppTokens(cfg.HTTP, cmp.Or(cfg.TokenURL, "https://id.twitch.tv/oauth2/token"), cfg.ClientID, cfg.ClientSecret)
}

// errRefused is a 400: Helix cannot read a parameter, which is the caller's, for the rest are always the same.
var errRefused = &providers.Error{Kind: providers.ErrInvalid, Detail: "Twitch cannot read this value"}

// check reads the refusals whose status means something of its own at Twitch.
// https://dev.twitch.tv/docs/api/guide/#http-status-codes
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusBadRequest:
		return errRefused
	case http.StatusNotFound:
		// Accounts that do not exist come as an empty list; there is only one thing that Helix itself does not find.
		if !strings.HasSuffix(res.URL.Path, "/videos") && !strings.HasSuffix(res.URL.Path, "/clips") {
			return providers.Unavailable(nil, "the upstream does not know this address")
		}
	case http.StatusGone:
		return providers.Unavailable(nil, "the upstream has taken this interface away")
	}
	return nil
}

var (
	login = regexp.MustCompile(`^[a-z0-9_]{1,25}$`)
	slug  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
)

// reserved are paths of twitch.tv that are no channels.
var reserved = map[string]bool{
	"collections": true, "directory": true, "downloads": true, "drops": true, "friends": true, "inventory": true, "jobs": true,
	"login": true, "p": true, "search": true, "settings": true, "signup": true, "store": true, "subscriptions": true,
	"team": true, "turbo": true, "videos": true, "wallet": true,
}

// normalize folds a login, which ignores case, and reduces a post to the number of a video or the slug of a clip. A
// handle that no login can be is left for the look-up to miss.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "twitch.tv", "clips.twitch.tv", "player.twitch.tv", "go.twitch.tv")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link == nil {
			return strings.ToLower(strings.TrimPrefix(value, "@")), nil
		}
		name := link.Segment(0)
		switch {
		case name == "popout" || name == "moderator" || name == "embed":
			name = link.Segment(1)
		case link.Host == "player.twitch.tv":
			name = link.Query.Get("channel")
		}
		name = strings.ToLower(name)
		if link.Host == "clips.twitch.tv" || reserved[name] || !login.MatchString(name) {
			return "", providers.Invalid("a Twitch handle is a login such as twitchdev, or the URL of a channel")
		}
		return name, nil
	}
	if link != nil {
		value = postOf(link)
	}
	if !slug.MatchString(value) {
		return "", providers.Invalid("a Twitch post is the number of a video, the slug of a clip, or the URL of either")
	}
	return value, nil
}

// postOf finds the video or clip that a URL names, "" when it names none.
func postOf(l *links.Link) string {
	first, second, third := l.Segment(0), l.Segment(1), l.Segment(2)
	switch {
	case l.Host == "clips.twitch.tv" && first == "embed":
		return l.Query.Get("clip")
	case l.Host == "clips.twitch.tv":
		return first
	case l.Host == "player.twitch.tv":
		return strings.TrimPrefix(l.Query.Get("video"), "v")
	case first == "videos" && links.Digits(second):
		return second
	case (second == "video" || second == "v" || second == "videos") && links.Digits(third):
		return third
	case second == "clip":
		return third
	}
	return ""
}
