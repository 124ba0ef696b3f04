// Package bluesky reads Bluesky from its AppView, the public service that knows every account and post of the network.
// People are named by their DID and posts by their AT-URI; handles and links are accepted for both.
//
// Everything but the search for posts works without an account. That one is read through the server of an account, with
// an app password (https://bsky.app/settings/app-passwords).
// Source: https://docs.bsky.app/docs/category/http-reference
package bluesky

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

// Config says how to reach Bluesky.
type Config struct {
	Identifier  string       // handle or e-mail address of the account that searches posts
	AppPassword string       // of that account, never its own password
	BaseURL     string       // of the AppView; "" means https://public.api.bsky.app
	FallbackURL string       // of the AppView's other address, asked when the first fails; "" means https://api.bsky.app
	PDSURL      string       // of the account's server; "" means https://bsky.social
	HTTP        *http.Client // nil means a client of its own

	NoFallback bool // leaves the AppView's other address out
}

// New returns the providers for Bluesky: the AppView; the AppView again behind its other address, since the first refuses
// some networks; and the account's server for the search for posts, in front of them when there is an account.
func New(cfg Config) providers.Chain {
	list := providers.Chain{newAppView(cfg, "bluesky", cmp.Or(cfg.BaseURL, "https://public.api.bsky.app"))}
	if !cfg.NoFallback {
		list = append(list, newAppView(cfg, "bluesky_fallback", cmp.Or(cfg.FallbackURL, "https://api.bsky.app")))
	}
	if cfg.signsIn() {
		return append(providers.Chain{newSession(cfg)}, list...)
	}
	return append(list, newSession(cfg))
}

func (cfg Config) signsIn() bool { return cfg.Identifier != "" && cfg.AppPassword != "" }

// client reads from one host.
type client struct{ http *upstream.Client }

func newClient(cfg Config, base string, tokens *upstream.Tokens) *client {
	return &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: base, Tokens: tokens, Check: check,
		Limits: &upstream.LimitHeaders{Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"},
		Quota:  upstream.NewQuota(3000, 5*time.Minute),
	})}
}

// get is a read of the method that nsid names.
func get(nsid string) upstream.Request { return upstream.Get("xrpc", nsid) }

func newAppView(cfg Config, name, base string) providers.Provider {
	c := newClient(cfg, base, nil)
	p := providers.Provider{
		Name: name, Platform: platform.Bluesky, Source: schema.Official,
		Profile:     c.profile,
		Live:        c.live,
		Posts:       c.posts,
		Post:        c.post,
		Search:      c.searchProfiles,
		Suggestions: c.suggestions,
		Comments:    c.comments,
		Replies:     c.replies,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"profile"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "without replies to others and without reposts",
			providers.OpComments:    "six levels deep, each answer behind what it answers; what is deeper is read as replies",
			providers.OpLive:        "the live badge of a profile, which leads to a stream elsewhere",
			providers.OpSearch:      "profiles; posts too with the settings identifier and app_password",
			providers.OpFollowers:   "the interface serves followers of tiktok and github only",
			providers.OpFollowing:   "the interface serves following of tiktok and github only",
			providers.OpCollections: "lists, starter packs and feeds are none of the kinds of collection",
			providers.OpTranscript:  "Bluesky publishes no transcripts",
		},
		Forward: c.http.Forward,
	}
	for _, nsid := range []string{
		"app.bsky.actor.getProfile", "app.bsky.actor.getProfiles", "app.bsky.actor.searchActors",
		"app.bsky.feed.getActorFeeds", "app.bsky.feed.getAuthorFeed", "app.bsky.feed.getFeedGenerator", "app.bsky.feed.getLikes",
		"app.bsky.feed.getPosts", "app.bsky.feed.getPostThread", "app.bsky.feed.getQuotes", "app.bsky.feed.getRepostedBy",
		"app.bsky.graph.getActorStarterPacks", "app.bsky.graph.getFollowers", "app.bsky.graph.getFollows", "app.bsky.graph.getList",
		"app.bsky.graph.getLists", "app.bsky.graph.getStarterPack", "com.atproto.identity.resolveHandle",
	} {
		p.Routes = append(p.Routes, providers.Route{Pattern: "xrpc/" + nsid, Platform: platform.Bluesky})
	}
	return p
}

const (
	site           = "https://bsky.app/profile/"
	postCollection = "app.bsky.feed.post"
)

var (
	handle = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
	did    = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
	rkey   = regexp.MustCompile(`^[A-Za-z0-9._:~-]{1,512}$`)
)

// normalize folds a handle, which ignores case, and reduces a post to its AT-URI, of whose author only Bluesky knows
// the DID when the link has the handle.
func normalize(s providers.Subject, value string) (string, error) {
	value, isURI := strings.CutPrefix(value, "at://")
	var link *links.Link
	if !isURI {
		var err error
		if link, err = links.Parse(value, "bsky.app"); err != nil {
			return "", err
		}
	}
	if link != nil && link.Segment(0) != "profile" {
		return "", providers.Invalid("%q is no profile or post on bsky.app", value)
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(1)
		}
		return account(value)
	}
	who, collection, key := "", "", ""
	if parts := strings.Split(value, "/"); isURI && len(parts) == 3 {
		who, collection, key = parts[0], parts[1], parts[2]
	}
	if link != nil && link.Segment(2) == "post" {
		who, collection, key = link.Segment(1), postCollection, link.Segment(3)
	}
	who, err := account(who)
	if err != nil || collection != postCollection || !rkey.MatchString(key) {
		return "", providers.Invalid("a Bluesky post is given by its link on bsky.app, or its address at://did:plc:…/app.bsky.feed.post/…")
	}
	return uri(who, key), nil
}

// account reads a handle or a DID. Handles that are copied out of the app come between marks of direction.
func account(value string) (string, error) {
	value = strings.TrimPrefix(strings.Trim(value, "\u200e\u200f\u202a\u202c\u2066\u2068\u2069"), "@")
	if did.MatchString(value) {
		return value, nil
	}
	if value = strings.ToLower(value); handle.MatchString(value) {
		return value, nil
	}
	return "", providers.Invalid("a Bluesky handle is a domain such as bsky.app or jay.bsky.team, or a DID")
}

func uri(who, key string) string { return "at://" + who + "/" + postCollection + "/" + key }
