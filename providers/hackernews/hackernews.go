// Package hackernews reads Hacker News from its official API. Profiles are users, posts are stories, jobs and polls,
// comments are the direct replies of a post.
//
// The API needs no key, announces no limit, and serves single items only, so a list costs one read per item. Source:
// https://github.com/HackerNews/API
package hackernews

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for Hacker News.
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
		Name: "hackernews", Platform: platform.HackerNews, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpPosts, providers.OpTrending,
			providers.OpComments, providers.OpReplies),
		Profile:  c.profile,
		Posts:    c.posts,
		Post:     c.post,
		Trending: c.trending,
		Comments: c.comments,
		Replies:  c.replies,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpPosts:       "a page is made from at most 60 submissions, so it may be short or empty although there are more",
			providers.OpTrending:    "the front page, jobs included",
			providers.OpComments:    "direct replies to a story, job or poll, in the order of the page; deeper ones are read with replies",
			providers.OpSearch:      "Hacker News has no official search endpoint",
			providers.OpSuggestions: "Hacker News has no official search endpoint",
			providers.OpFollowers:   "Hacker News has no followers",
			providers.OpFollowing:   "Hacker News has no followers",
			providers.OpCommunity:   "Hacker News is one community",
		},
		Routes: providers.Routes(platform.HackerNews,
			"user/{file}{?print}", "item/{file}{?print}", "topstories.json{?print}", "newstories.json{?print}",
			"beststories.json{?print}", "askstories.json{?print}", "showstories.json{?print}", "jobstories.json{?print}",
			"maxitem.json{?print}", "updates.json{?print}",
		),
		Subjects: []string{"by"},
		Forward:  c.http.Forward,
	}}
}

// known returns an error unless o, the answer for id, is an item of a known kind. For an item that does not exist,
// Hacker News answers only null.
func known(ctx context.Context, id string, o object) error {
	if o.V == nil {
		return nil
	}
	if err := wire.Same(ctx, "item", id, string(o.V.ID)); err != nil {
		return err
	}
	return wire.Marker(ctx, "type", o.V.Type, "story", "job", "poll", "comment", "pollopt")
}

// absent returns the reason why i is not a post.
func absent(i *item) error {
	switch {
	case i == nil:
		return providers.ErrNotFound
	case i.Deleted.Is():
		return providers.NotFound("this item was deleted")
	case i.Dead.Is():
		return providers.NotFound("this item was flagged or killed")
	case !i.public():
		return providers.Unreadable(nil)
	}
	return providers.NotFound("this item is a %s, not a story, job or poll", i.Type)
}
