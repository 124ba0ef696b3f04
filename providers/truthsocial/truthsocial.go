// Package truthsocial reads Truth Social through the JSON API of its own site, which has Mastodon's types. Its only
// documentation is the server's published source.
//
// Accounts, their posts and open groups are public; search, comments, suggestions and trends require the token of an
// account. The site is behind Cloudflare, which recognizes browsers by how they open a connection. If it refuses this
// client, set [Config.HTTP] to one that connects as a browser does. Source:
// https://github.com/milesmcc/truthsocial (the server, as of May 2025)
package truthsocial

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Truth Social.
type Config struct {
	// Token is the access token of an account, which the site keeps in the browser's local storage as truth:auth; with "",
	// only public data is read.
	Token string
	// CFClearance is the cookie cf_clearance of a browser that has passed Cloudflare's check. It is valid only with that
	// browser's UserAgent, and from its network.
	CFClearance string
	UserAgent   string        // "" means that of a common browser
	Own         providers.Own // on by default; the site is the only source

	BaseURL string       // "" means https://truthsocial.com/api
	HTTP    *http.Client // nil means a client of its own
}

const (
	site     = "https://truthsocial.com/"
	pageSize = "20" // of every list; at most 40 upstream
)

// credentials are the query parameters in which servers of this kind accept an access token.
// https://github.com/doorkeeper-gem/doorkeeper
var credentials = []string{"access_token", "bearer_token"}

type client struct {
	token bool // set if there is a token, whose owner may see what is not public
	http  *upstream.Client
	pages *upstream.Quota // limit of reads that continue a list by an id; everything else counts against another
}

// New returns the provider for Truth Social.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "truthsocial", Platform: platform.TruthSocial, Source: schema.Own, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts,
			providers.OpCommunityPosts).And(strconv.Itoa(trendingSize),
			providers.OpTrending).And(strconv.Itoa(commentsSize), providers.OpComments,
			providers.OpReplies).And(strconv.Itoa(searchSize), providers.OpSearch).
			And(suggestSize, providers.OpSuggestions),
		Limits:         upstream.Limits(map[string]*upstream.Quota{"reads": c.http.Quota(), "pages": c.pages}),
		Profile:        c.profile,
		Posts:          c.posts,
		Post:           c.post,
		Trending:       c.trending,
		Search:         c.find,
		Suggestions:    c.suggestions,
		Comments:       c.comments,
		Replies:        c.replies,
		Community:      c.community,
		CommunityPosts: c.communityPosts,

		Searches:  searchable,
		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"post", "profile"}, "since": nil, "until": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:        "Cloudflare blocks many programs and data centers; accounts hidden from visitors need the setting token",
			providers.OpPosts:          "without replies; reposts are included",
			providers.OpPost:           "replies need the setting token",
			providers.OpSearch:         "posts unless kind=profile; since and until only apply to posts",
			providers.OpSuggestions:    "recommended accounts whose handle or name contains the query",
			providers.OpComments:       "all levels in one list, oldest first",
			providers.OpReplies:        "all levels below the comment, oldest first",
			providers.OpCommunity:      "groups, by number or by the name in the URL",
			providers.OpCommunityPosts: "of groups that are open to everyone",
			providers.OpFollowers:      "only offered on tiktok and github",
			providers.OpFollowing:      "only offered on tiktok and github",
			providers.OpTranscript:     "Truth Social publishes no transcripts",
		},
		Routes: routes(),
		Owner: providers.Owner{
			Words:  []string{"me", "verify_credentials"},
			Fields: []string{"source", "favourited", "reblogged", "bookmarked", "muted"},
		},
		Subjects:    []string{"acct"},
		Forward:     c.forward,
		Credentials: credentials,
	}
	if cfg.Token == "" {
		delete(p.Filters, providers.OpSearch)
		p = p.WithoutOps([]string{"token"},
			providers.OpTrending, providers.OpSearch, providers.OpSuggestions, providers.OpComments, providers.OpReplies)
	}
	return providers.Chain{p.IfOwn(cfg.Own, true)}
}

func newClient(cfg Config) *client {
	// What the site's own code sends.
	header := browser.Script("User-Agent", cmp.Or(cfg.UserAgent, browser.Agent), "Accept", "application/json", "Referer", site)
	if cfg.CFClearance != "" {
		header.Set("Cookie", "cf_clearance="+cfg.CFClearance)
	}
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
	}
	return &client{
		token: cfg.Token != "",
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, site+"api"), Header: header, Check: check(cfg.Token != ""), Absent: absent,
			Credentials: credentials,
			Limits: &upstream.LimitHeaders{
				Limit: "X-RateLimit-Limit", Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset", Form: upstream.RFC3339,
			},
			Quota: upstream.NewQuota(200, 5*time.Minute),
		}),
		// Truth Social allows 300 reads in 5 minutes and, of these, 300 in 15 minutes that continue a list. Split this way,
		// the two quotas respect both limits.
		pages: upstream.NewQuota(100, 5*time.Minute),
	}
}

func routes() []providers.Route {
	const paging = "{?limit,max_id,min_id,since_id}"
	return providers.Routes(platform.TruthSocial,
		"v1/accounts/lookup{?acct}", "v1/accounts/{id}",
		"v1/accounts/{id}/statuses{?limit,max_id,min_id,since_id,exclude_replies,exclude_reblogs,only_media,only_replies,"+
			"pinned,tagged,with_muted}",
		"v1/accounts/{id}/followers"+paging, "v1/accounts/{id}/following"+paging,
		"v1/statuses/{id}", "v1/statuses/{id}/context", "v1/statuses/{id}/context/descendants{?sort,limit,offset,max_id}",
		"v1/statuses/{id}/favourited_by"+paging, "v1/statuses/{id}/reblogged_by"+paging,
		"v1/groups/lookup{?id,name,slug}", "v1/groups/{id}",
		"v1/timelines/group/{id}{?limit,max_id,min_id,since_id,only_media,pinned}",
		"v1/timelines/tag/{tag}{?limit,max_id,min_id,since_id,only_media,any,all,none}",
		"v1/trends{?limit,offset}", "v1/truth/trending/truths{?limit,offset}",
		"v2/search{?q,type,limit,offset,resolve,max_id,min_id,account_id,exclude_unreviewed}",
	)
}

// forward accepts only numbers for {id}: accounts/verify_credentials, for example, returns the account of our token. It
// returns only public statuses, because the token's owner may see more.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	s := strings.Split(path, "/")
	named := len(s) > 2 && (s[1] == "accounts" || s[1] == "statuses" || s[1] == "groups") && s[2] != "lookup"
	if named && !links.Digits(s[2]) {
		return nil, providers.NotFound("accounts, statuses and groups must be given by number")
	}
	if c.token && named && s[1] == "statuses" {
		if _, err := c.post(ctx, s[2]); err != nil {
			return nil, err
		}
	}
	raw, err := c.http.Forward(ctx, path, query)
	if err != nil {
		return raw, err
	}
	if c.token {
		if err := allPublic(raw); err != nil {
			return raw, err
		}
	}
	return raw, nil
}

// allPublic returns an error if a list contains a status that is not public: with a token Truth Social also returns
// what only the token's owner may see. The list is forwarded unchanged or not at all.
func allPublic(raw json.RawMessage) error {
	for t := range jsontext.Walk(raw) {
		if string(t.Name) == "visibility" && (status{Visibility: jsontext.Text(t.Value)}).hidden() {
			return providers.NotFound("the answer contains posts that are not public")
		}
	}
	return nil
}

// check distinguishes what needs an account from what is forbidden, and both from Cloudflare's refusals.
func check(signedIn bool) func(*upstream.Response) error {
	return func(res *upstream.Response) error {
		switch {
		case res.Status == http.StatusUnauthorized,
			res.Status == http.StatusUnprocessableEntity && bytes.Contains(res.Body, []byte("authenticated user")):
			if signedIn {
				return providers.Unavailable(nil, "Truth Social refuses our token (setting token)")
			}
			return providers.Unsupported("Truth Social shows this to signed-in readers only: the setting token is missing")
		case res.Status == http.StatusForbidden && bytes.HasPrefix(bytes.TrimSpace(res.Body), []byte("<")):
			return providers.Unavailable(nil, "Cloudflare blocks our requests to Truth Social")
		case res.Status == http.StatusForbidden:
			return providers.Unavailable(nil, "Truth Social does not allow this")
		}
		return nil
	}
}

// errNothing is a success without the requested data, such as the {} that Truth Social returns to clients that it
// considers too fast.
var errNothing = providers.Unavailable(nil, "Truth Social returned no data")

// absent reports whether a 404 has the site's error body.
var absent = upstream.Says(func(r struct{ Error string }) bool { return strings.Contains(r.Error, "not found") })
