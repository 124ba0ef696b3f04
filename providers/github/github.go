// Package github reads public GitHub data from the REST interface. Profiles are users and organisations, posts are
// public repositories, comments are those on a repository's issues and pull requests.
//
// Everything works without a token, at 60 reads an hour; a token without scopes raises that to 5,000.
// Source: https://docs.github.com/rest
package github

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach GitHub.
type Config struct {
	Token   string       // a personal access token without scopes; "" reads anonymously
	BaseURL string       // "" means https://api.github.com
	HTTP    *http.Client // nil means a client of its own
}

const (
	site     = "https://github.com/"
	pageSize = 30 // of every list; at most 100 upstream
)

// credentials are the query parameters by which GitHub takes, or once took, credentials.
// https://docs.github.com/rest/authentication/authenticating-to-the-rest-api
var credentials = []string{"access_token", "client_id", "client_secret"}

type client struct {
	token    bool // one may be allowed to see what is not public
	http     *upstream.Client
	searches *upstream.Quota // a bucket of its own; everything else counts against the core limit
}

// New returns the one upstream of public GitHub data.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	return providers.Chain{{
		Name: "github", Platform: platform.GitHub, Source: schema.Official,
		Profile:   c.profile,
		Followers: c.followers,
		Following: c.following,
		Linked:    c.linked,
		Posts:     c.posts,
		Post:      c.post,
		Search:    c.search,
		Comments:  c.comments,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post", "profile"}, "sort": {"relevance", "recent"}, "since": nil, "until": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpComments:    "of a repository: those on its issues and pull requests, newest first; of owner/repo#123: that issue's, oldest first",
			providers.OpSearch:      "repositories unless kind=profile; since and until are about creation; at most 1,000 results",
			providers.OpReplies:     "issue comments are flat",
			providers.OpSuggestions: "GitHub has no public suggestions",
			providers.OpTrending:    "GitHub has no interface for its trending page",
		},
		Routes: providers.Routes(platform.GitHub,
			"users/{username}", "users/{username}/repos", "users/{username}/social_accounts", "orgs/{org}",
			"repos/{owner}/{repo}", "repos/{owner}/{repo}/languages", "repos/{owner}/{repo}/releases",
			"repos/{owner}/{repo}/contributors", "repos/{owner}/{repo}/issues/{number}",
		),
		Forward:     c.forward,
		Credentials: credentials,
	}}
}

func newClient(cfg Config) *client {
	header := http.Header{
		"Accept":               {"application/vnd.github+json"},
		"X-GitHub-Api-Version": {"2022-11-28"},
	}
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
	}
	return &client{
		token: cfg.Token != "",
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.github.com"), Header: header, Check: check, Credentials: credentials,
			Limits: &upstream.LimitHeaders{Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset"},
			Quota:  upstream.NewQuota(0, 0), // each answer tells what is left, for whoever else reads from our address, too
		}),
		searches: upstream.NewQuota(0, 0),
	}
}
