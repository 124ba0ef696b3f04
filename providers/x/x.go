// Package x reads X (Twitter): the official API, which charges for each read, and the public JSON of embedded posts,
// which needs no key and has single posts only.
//
// Sources: https://docs.x.com/x-api and the endpoint of https://publish.x.com
package x

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the providers for X. The official API needs either Token, or APIKey and APISecret.
type Config struct {
	Token     string // the app's bearer token, as shown in the developer console
	APIKey    string // the app's consumer key; with APISecret it is exchanged for the bearer token
	APISecret string
	UserToken string // an OAuth 2.0 token of a user, required by the search for profiles only
	// FullArchive searches the whole archive instead of the last seven days, at 300 reads in 15 minutes and one a
	// second.
	FullArchive bool
	// PostVocabulary requests the field names of 2026 (post.fields, referenced_posts) instead of those for tweets. In
	// either case the other names are tried if X refuses these, and answers with both are understood.
	PostVocabulary bool
	// Own reads the public JSON of embedded posts; on by default.
	Own providers.Own

	BaseURL      string       // "" means https://api.x.com
	EmbedBaseURL string       // "" means https://cdn.syndication.twimg.com
	HTTP         *http.Client // nil means a client of its own
}

// credentials are the query parameters in which X accepts, or once accepted, credentials.
// https://docs.x.com/fundamentals/authentication/oauth-1-0a/authorizing-a-request
var credentials = []string{
	"access_token", "client_id", "client_secret", "oauth_consumer_key", "oauth_signature", "oauth_token", "oauth_verifier",
}

// pageSize is that of every list. Each post and each account on a page is paid for.
const pageSize = "20"

// most is the maximum number of accounts or posts in one look-up.
const most = 100

type client struct {
	http *upstream.Client
	user *upstream.Client // with the user's token; nil without one

	postWords   atomic.Bool
	fullArchive bool
	accounts    accounts

	users, timelines, lookups, finds, communities, spaces, people *upstream.Quota
}

// New returns the providers for X, best first: the official API, and the public JSON of embedded posts.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	days := "of the last 7 days"
	if c.fullArchive {
		days = "of the whole archive"
	}
	kinds := []string{"post"}
	search := "posts " + days + ", without retweets; kind=profile needs the setting user_token"
	if c.user != nil {
		kinds = append(kinds, "profile")
		search = "posts " + days + " without retweets, unless kind=profile, whose query is Latin letters, digits, ' and _ only"
	}
	p := providers.Provider{
		Name: "x", Platform: platform.X, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(pageSize, providers.OpPosts, providers.OpSearch, providers.OpComments,
			providers.OpReplies),
		Limits: upstream.Limits(map[string]*upstream.Quota{
			"users": c.users, "timelines": c.timelines, "lookups": c.lookups, "searches": c.finds,
			"communities": c.communities, "spaces": c.spaces, "people": c.people,
		}),
		Profile:   c.profile,
		Live:      c.live,
		Posts:     c.posts,
		Post:      c.post,
		Search:    c.find,
		Comments:  c.comments,
		Replies:   c.replies,
		Community: c.community,

		Batches: providers.Batches{
			Profile: providers.Batch[schema.Profile]{Most: most, Read: c.profilesByName},
			Post:    providers.Batch[schema.Post]{Most: most, Read: c.postsByID},
		},

		Searches:  c.searchable,
		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Open: upstream.Opener(cfg.HTTP, "t.co"),
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts: providers.NewestFirst(),
			providers.OpSearch: {
				"kind": kinds, "sort": {"relevance", "recent"}, "since": nil, "until": nil, "lang": nil, "handle": nil,
			},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:          "with replies and retweets; at most the latest 3,200 posts",
			providers.OpSearch:         search,
			providers.OpComments:       "the whole conversation in one flat list, newest first, " + days,
			providers.OpReplies:        days,
			providers.OpLive:           "audio spaces; video broadcasts need a user's token",
			providers.OpFollowers:      "only offered on tiktok and github",
			providers.OpFollowing:      "only offered on tiktok and github",
			providers.OpSuggestions:    "X has no public suggestions",
			providers.OpTrending:       "X shows trending words, not posts",
			providers.OpTranscript:     "X has no public API for captions",
			providers.OpCollections:    "lists on X contain accounts, which does not match any kind of collection",
			providers.OpCommunityPosts: "X's API cannot list the posts of a community",
		},
		Routes: providers.Routes(platform.X,
			"2/users/search{?query,max_results,next_token,"+fields,
			"2/users/{id}"+ofUser, "2/users/by/username/{username}"+ofUser,
			"2/users/{id}/tweets{?max_results,pagination_token,since_id,until_id,start_time,end_time,exclude,"+fields,
			"2/tweets/{id}{?"+fields, "2/tweets/{id}/quote_tweets{?max_results,pagination_token,exclude,"+fields,
			"2/tweets/search/recent{?query,max_results,next_token,pagination_token,since_id,until_id,start_time,"+
				"end_time,sort_order,"+fields,
			"2/tweets/counts/recent{?query,granularity,next_token,pagination_token,since_id,until_id,start_time,"+
				"end_time,search_count.fields}",
			"2/communities/search{?query,max_results,next_token,pagination_token,community.fields}",
			"2/communities/{id}{?community.fields}", "2/spaces/{id}{?expansions,space.fields,topic.fields,user.fields}",
			"2/lists/{id}{?expansions,list.fields,user.fields}", "2/trends/by/woeid/{woeid}{?max_trends,trend.fields}",
		),
		Forward:     c.http.Forward,
		Credentials: credentials,
		Owner: providers.Owner{
			Words:  []string{"me"},
			Fields: []string{"confirmed_email", "connection_status", "non_public_metrics", "organic_metrics", "promoted_metrics"},
		},
	}
	if cfg.Token == "" && (cfg.APIKey == "" || cfg.APISecret == "") {
		return p.Without("token")
	}
	return p
}

// fields are the parameters that select the fields of posts, and the end of a template.
// https://docs.x.com/x-api/fundamentals/fields
const (
	fields = "expansions,media.fields,place.fields,poll.fields,tweet.fields,user.fields}"
	ofUser = "{?expansions,tweet.fields,user.fields}"
)

func newClient(cfg Config) *client {
	base := cmp.Or(cfg.BaseURL, "https://api.x.com")
	up := upstream.Config{
		HTTP: cfg.HTTP, Base: base, Check: check, Absent: absent, Credentials: credentials,
		Limits: &upstream.LimitHeaders{Limit: "x-rate-limit-limit", Remaining: "x-rate-limit-remaining", Reset: "x-rate-limit-reset"},
	}
	app := up
	if cfg.Token != "" {
		app.Header = bearer(cfg.Token)
	} else {
		app.Tokens = appToken(cfg, base)
	}
	// https://docs.x.com/x-api/fundamentals/rate-limits
	const window = 15 * time.Minute
	c := &client{
		http:        upstream.New(app),
		fullArchive: cfg.FullArchive,
		users:       upstream.NewQuota(300, window),
		timelines:   upstream.NewQuota(10_000, window),
		lookups:     upstream.NewQuota(3_500, window),
		finds:       upstream.NewQuota(450, window),
		communities: upstream.NewQuota(300, window),
		spaces:      upstream.NewQuota(300, window),
		people:      upstream.NewQuota(0, window), // X does not document the limit
	}
	if cfg.FullArchive {
		c.finds = upstream.NewQuota(1, time.Second) // the headers state the limit of 300 in the window
	}
	if cfg.UserToken != "" {
		user := up
		user.Header = bearer(cfg.UserToken)
		c.user = upstream.New(user)
	}
	c.postWords.Store(cfg.PostVocabulary)
	return c
}

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// appToken exchanges the app's key and secret for its bearer token.
// https://docs.x.com/fundamentals/authentication/oauth-2-0/application-only
func appToken(cfg Config, base string) *upstream.Tokens {
	c := upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base, Check: func(res *upstream.Response) error {
		var answer struct {
			TokenType string `json:"token_type"`
		}
		if res.Status != http.StatusOK {
			return nil
		}
		if json.Unmarshal(res.Body, &answer) != nil || !strings.EqualFold(answer.TokenType, "bearer") {
			return providers.Unavailable(nil, "X returned no bearer token")
		}
		return nil
	}})
	r := upstream.Request{
		Path: []string{"oauth2", "token"},
		Form: url.Values{"grant_type": {"client_credentials"}},
		Header: http.Header{
			"Authorization": {upstream.Basic(url.QueryEscape(cfg.APIKey), url.QueryEscape(cfg.APISecret))},
			"Content-Type":  {"application/x-www-form-urlencoded;charset=UTF-8"},
		},
	}
	return upstream.ClientCredentials(c, r)
}
