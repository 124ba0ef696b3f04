// Package x reads X (Twitter): the official interface, paid by the read, and the public JSON behind embedded posts, which
// needs no key and serves single posts only.
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

// Config says how to reach X. The official interface needs either Token, or APIKey and APISecret.
type Config struct {
	Token     string // the app's bearer token, as the developer console shows it
	APIKey    string // the app's consumer key; with APISecret it fetches the bearer token
	APISecret string
	UserToken string // an OAuth 2.0 token of a user: only search for profiles needs it
	// FullArchive searches the whole archive instead of the last seven days, at 300 reads in 15 minutes and one a
	// second.
	FullArchive bool
	// PostVocabulary asks in the words of 2026 (post.fields, referenced_posts) instead of those of the tweets. Either
	// way the other words are tried when X refuses these, and answers in both are understood.
	PostVocabulary bool
	// Own reads the public JSON behind embedded posts; on by default.
	Own providers.Own

	BaseURL      string       // "" means https://api.x.com
	EmbedBaseURL string       // "" means https://cdn.syndication.twimg.com
	HTTP         *http.Client // nil means a client of its own
}

// credentials are the query parameters by which X takes, or once took, credentials.
// https://docs.x.com/fundamentals/authentication/oauth-1-0a/authorizing-a-request
var credentials = []string{
	"access_token", "client_id", "client_secret", "oauth_consumer_key", "oauth_signature", "oauth_token", "oauth_verifier",
}

// pageSize of every list. Each post and each account of a page is paid for.
const pageSize = "20"

// most is how many accounts or posts one look-up takes.
const most = 100

type client struct {
	http *upstream.Client
	user *upstream.Client // speaks for a user; nil without a token

	postWords   atomic.Bool
	fullArchive bool
	accounts    accounts

	users, timelines, lookups, finds, communities, spaces, people *upstream.Quota
}

// New returns the providers for X, best first: the official interface, and the public JSON behind embedded posts.
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
		Name: "x", Platform: platform.X, Source: schema.Official,
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
			providers.OpSearch: {
				"kind": kinds, "sort": {"relevance", "recent"}, "since": nil, "until": nil, "lang": nil, "handle": nil,
			},
		},
		Notes: map[providers.Op]string{
			providers.OpPosts:          "with replies and retweets; X reaches back 3,200 posts",
			providers.OpSearch:         search,
			providers.OpComments:       "the whole conversation in one flat list, newest first, " + days,
			providers.OpReplies:        days,
			providers.OpLive:           "audio spaces; video broadcasts need a user's token",
			providers.OpFollowers:      "offered on tiktok and github only",
			providers.OpFollowing:      "offered on tiktok and github only",
			providers.OpSuggestions:    "X has no public suggestions",
			providers.OpTrending:       "X tells trending words, not posts",
			providers.OpTranscript:     "X has no public captions interface",
			providers.OpCollections:    "X lists are lists of accounts, which no kind of collection fits",
			providers.OpCommunityPosts: "X's interface cannot list the posts of a community",
		},
		Routes: providers.Routes(platform.X,
			"2/users/{id}"+ofUser, "2/users/by/username/{username}"+ofUser,
			"2/users/{id}/tweets{?max_results,pagination_token,since_id,until_id,start_time,end_time,exclude,"+fields,
			"2/tweets/{id}{?"+fields, "2/tweets/{id}/quote_tweets{?max_results,pagination_token,exclude,"+fields,
			"2/tweets/search/recent{?query,max_results,next_token,pagination_token,since_id,until_id,start_time,"+
				"end_time,sort_order,"+fields,
			"2/tweets/counts/recent{?query,granularity,next_token,pagination_token,since_id,until_id,start_time,"+
				"end_time,search_count.fields}",
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

// fields are the parameters that choose what is in an answer about posts, and the end of a template.
// https://docs.x.com/x-api/fundamentals/fields
const (
	fields = "expansions,media.fields,place.fields,poll.fields,tweet.fields,user.fields}"
	ofUser = "{?expansions,tweet.fields,user.fields}"
)

func newClient(cfg Config) *client {
	base := cmp.Or(cfg.BaseURL, "https://api.x.com")
	up := upstream.Config{
		HTTP: cfg.HTTP, Base: base, Check: check, Credentials: credentials,
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
		people:      upstream.NewQuota(0, window), // no number is documented
	}
	if cfg.FullArchive {
		c.finds = upstream.NewQuota(1, time.Second) // of the 300 in the window the headers tell
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

// appToken trades the app's key and secret for its bearer token.
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
			return providers.Unavailable(nil, "X gave us no bearer token")
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
