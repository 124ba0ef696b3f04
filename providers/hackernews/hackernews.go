// Package hackernews reads Hacker News from its official API. Profiles are users, posts are stories, jobs and polls,
// comments are the direct replies of a post.
//
// The API needs no key, announces no limit, and serves single items only, so a list costs one read per item. Source:
// https://github.com/HackerNews/API
package hackernews

import (
	"cmp"
	"net/http"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Hacker News.
type Config struct {
	BaseURL string       // "" means https://hacker-news.firebaseio.com/v0
	HTTP    *http.Client // nil means a client of its own
}

const site = "https://news.ycombinator.com/"

type client struct{ http *upstream.Client }

// New returns the one provider for Hacker News.
func New(cfg Config) providers.Chain {
	c := &client{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://hacker-news.firebaseio.com/v0"),
		Header: http.Header{"X-Firebase-Etag": {"true"}}, // without it, answers have no validator
	})}
	return providers.Chain{{
		Name: "hackernews", Platform: platform.HackerNews, Source: schema.Official,
		Profile:  c.profile,
		Posts:    c.posts,
		Post:     c.post,
		Trending: c.trending,
		Comments: c.comments,
		Replies:  c.replies,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpPosts:       "a page comes out of 60 submissions at most, so it may be short, or empty, and still go on",
			providers.OpTrending:    "the front page, jobs included",
			providers.OpComments:    "direct replies of a story, job or poll, in the order of the page; what is deeper is read as replies",
			providers.OpSearch:      "Hacker News has no official search endpoint",
			providers.OpSuggestions: "Hacker News has no official search endpoint",
			providers.OpFollowers:   "Hacker News users follow nobody",
			providers.OpFollowing:   "Hacker News users follow nobody",
			providers.OpCommunity:   "Hacker News is one community",
		},
		Routes: providers.Routes(platform.HackerNews,
			"user/{file}{?print}", "item/{file}{?print}", "topstories.json{?print}", "newstories.json{?print}",
			"beststories.json{?print}", "askstories.json{?print}", "showstories.json{?print}", "jobstories.json{?print}",
			"maxitem.json{?print}", "updates.json{?print}",
		),
		Forward: c.http.Forward,
	}}
}
