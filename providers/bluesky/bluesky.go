// Package bluesky reads Bluesky from its AppView, the public service that knows every account and post of the network.
// Accounts are identified by their DID and posts by their AT-URI; handles and links are accepted for both.
//
// Everything except the search for posts works without an account. That search goes through the server of an account,
// with an app password (https://bsky.app/settings/app-passwords).
//
// Source: https://docs.bsky.app/docs/category/http-reference
package bluesky

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Bluesky.
type Config struct {
	Identifier  string       // handle or e-mail address of the account for the search for posts
	AppPassword string       // an app password of that account, never its main password
	BaseURL     string       // of the AppView; "" means https://public.api.bsky.app
	FallbackURL string       // of the AppView's other address, used if the first fails; "" means https://api.bsky.app
	PDSURL      string       // of the account's server; "" means https://bsky.social
	HTTP        *http.Client // nil means a client of its own

	NoFallback bool // does not use the AppView's other address
}

// New returns the providers for Bluesky: the AppView; the AppView at its other address, because the first refuses some
// networks; and, before both if there is an account, the account's server for the search for posts.
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
		Limits: &upstream.LimitHeaders{Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"},
		Quota:  upstream.NewQuota(3000, 5*time.Minute),
	})}
}

// get returns a read of the method nsid.
func get(nsid string) upstream.Request { return upstream.Get("xrpc", nsid) }

func newAppView(cfg Config, name, base string) providers.Provider {
	c := newClient(cfg, base, nil)
	return providers.Provider{
		Name: name, Platform: platform.Bluesky, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts).And(searchSize,
			providers.OpSearch).And(suggestSize, providers.OpSuggestions).And(strconv.Itoa(commentPage),
			providers.OpComments, providers.OpReplies),
		Limits:      upstream.Limits(map[string]*upstream.Quota{"reads": c.http.Quota()}),
		Profile:     c.profile,
		Live:        c.live,
		Posts:       c.posts,
		Post:        c.post,
		Search:      c.searchProfiles,
		Suggestions: c.suggestions,
		Comments:    c.comments,
		Replies:     c.replies,

		Batches: providers.Batches{
			Profile: providers.Batch[schema.Profile]{Most: most, Bytes: longest, Read: c.profiles},
			Post:    providers.Batch[schema.Post]{Most: most, Bytes: longest, Read: c.postsByID},
		},

		Normalize: normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, short),
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"profile"}},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:       "without replies to others and without reposts",
			providers.OpComments:    "all levels in one list, each reply after its comment",
			providers.OpLive:        "the live status of a profile, which links to a stream on another site",
			providers.OpSearch:      "profiles; posts too with the settings identifier and app_password",
			providers.OpFollowers:   "followers are only offered on tiktok and github",
			providers.OpFollowing:   "following is only offered on tiktok and github",
			providers.OpCollections: "lists, starter packs and feeds do not match any kind of collection",
			providers.OpTranscript:  "Bluesky publishes no transcripts",
			providers.OpReels:       "Bluesky has no short videos apart from posts",
			providers.OpTrending:    "Bluesky documents no list of popular posts",
			providers.OpCommunity:   "Bluesky has no communities",
		},
		Routes:   providers.Routes(platform.Bluesky, routes...),
		Subjects: []string{"uri"},
		Forward:  c.http.Forward,
	}
}

// routes are the public methods of the AppView that are forwarded unchanged, with their parameters.
// https://docs.bsky.app/docs/category/http-reference
var routes = []string{
	"xrpc/app.bsky.actor.getProfile{?actor}",
	"xrpc/app.bsky.actor.getProfiles{?actors}",
	"xrpc/app.bsky.actor.searchActors{?q,term,limit,cursor}",
	"xrpc/app.bsky.feed.getActorFeeds{?actor,limit,cursor}",
	"xrpc/app.bsky.feed.getAuthorFeed{?actor,limit,cursor,filter,includePins}",
	"xrpc/app.bsky.feed.getFeedGenerator{?feed}",
	"xrpc/app.bsky.feed.getLikes{?uri,cid,limit,cursor}",
	"xrpc/app.bsky.feed.getPosts{?uris}",
	"xrpc/app.bsky.feed.getPostThread{?uri,depth,parentHeight}",
	"xrpc/app.bsky.feed.getQuotes{?uri,cid,limit,cursor}",
	"xrpc/app.bsky.feed.getRepostedBy{?uri,cid,limit,cursor}",
	"xrpc/app.bsky.graph.getActorStarterPacks{?actor,limit,cursor}",
	"xrpc/app.bsky.graph.getFollowers{?actor,limit,cursor}",
	"xrpc/app.bsky.graph.getFollows{?actor,limit,cursor}",
	"xrpc/app.bsky.graph.getList{?list,limit,cursor}",
	"xrpc/app.bsky.graph.getLists{?actor,limit,cursor,purposes}",
	"xrpc/app.bsky.graph.getStarterPack{?starterPack}",
	"xrpc/com.atproto.identity.resolveHandle{?handle}",
}

const (
	site           = "https://bsky.app/profile/"
	postCollection = "app.bsky.feed.post"
	invalidHandle  = "handle.invalid" // replaces a handle whose domain no longer points to the account
)
