// Package threads reads Threads: the official API, whose public look-ups require a token of an app that Meta has
// reviewed, and the public pages of the site.
//
// A post's id is its shortcode, which both sources know, and so is a comment's. The official API looks up posts only by
// a media id of its own, and only those of the token's owner.
//
// Sources: https://developers.facebook.com/docs/threads and https://www.threads.com
package threads

import (
	"cmp"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for Threads.
type Config struct {
	// Token is a long-lived token of a user, with the scopes threads_basic, threads_profile_discovery,
	// threads_keyword_search and threads_read_replies; with "", only the public pages are read. It is valid for 60 days.
	// It is refreshed while the process runs, but a new process starts with this one.
	Token string
	// Own reads the public pages, which Threads hides from many data centres behind a login; on by default.
	Own providers.Own

	BaseURL string       // of the official API; "" means https://graph.threads.net
	WebURL  string       // of the site; "" means https://www.threads.com
	HTTP    *http.Client // nil means a client of its own
}

const (
	version  = "v1.0"
	pageSize = "25" // of every official list; at most 100 upstream
)

// credentials are the query parameters in which Threads accepts credentials. Threads repeats the token in the addresses
// of further pages.
// https://developers.facebook.com/docs/threads/get-started
var credentials = []string{"access_token", "appsecret_proof", "client_id", "client_secret"}

type client struct {
	http                     *upstream.Client
	lookups, searches, other *upstream.Quota
}

// New returns the providers for Threads, best first: the official API and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "threads", Platform: platform.Threads, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpSearch, providers.OpComments,
			providers.OpReplies),
		Limits:   upstream.Limits(map[string]*upstream.Quota{"lookups": c.lookups, "searches": c.searches.Dear(), "other": c.other}),
		Profile:  c.profile,
		Posts:    c.posts,
		Post:     c.post,
		Search:   c.find,
		Comments: c.comments,
		Replies:  c.replies,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post"}, "sort": {"relevance", "recent"}, "since": nil, "until": nil, "handle": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "public accounts of adults with 100 followers or more",
			providers.OpPosts:       "of such accounts, without counts",
			providers.OpPost:        "by media id, of the token's owner",
			providers.OpComments:    "by media id, of the token's owner, without those that are hidden",
			providers.OpReplies:     "by media id, of the token's owner, without those that are hidden",
			providers.OpSearch:      "posts; #word searches the tag; words that Meta considers sensitive have no results",
			providers.OpFollowers:   "Threads shows the number of followers, but no list of them",
			providers.OpFollowing:   "Threads does not show which accounts an account follows",
			providers.OpSuggestions: "Threads has no public suggestions",
			providers.OpTranscript:  "Threads has no public captions",
		},
		// No route takes method, batch, ids, callback and suppress_http_code: the Graph API honours them in any GET.
		Routes: providers.Routes(platform.Threads,
			"v1.0/profile_lookup{?username,fields}",
			"v1.0/profile_posts{?username,fields,limit,after,before,since,until}",
			"v1.0/keyword_search{?q,search_type,search_mode,media_type,author_username,fields,limit,after,before,since,until}",
		),
		Forward:     c.http.Forward,
		Credentials: credentials,
		Owner:       providers.Owner{Words: []string{"me"}, Fields: []string{"access_token", "insights"}},
	}
	return p.Requiring(map[string]string{"token": cfg.Token})
}

func newClient(cfg Config) *client {
	base := cmp.Or(cfg.BaseURL, "https://graph.threads.net")
	refresh := upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Credentials: credentials})
	day := 24 * time.Hour
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: base, Check: check, Absent: absent, Credentials: credentials, Tokens: longLived(refresh, cfg.Token, time.Now),
		}),
		lookups:  upstream.NewQuota(1000, day),
		searches: upstream.NewQuota(2200, day),
		other:    upstream.NewQuota(0, day), // 4,800 for each time that the app was seen: only the answers state it
	}
}
