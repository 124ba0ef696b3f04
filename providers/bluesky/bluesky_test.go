package bluesky_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/bluesky"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

const (
	ann = "did:plc:annannannannannannannann"
	bob = "did:plc:bobbobbobbobbobbobbobbob"
)

func at(who, key string) string { return "at://" + who + "/app.bsky.feed.post/" + key }

func TestAppView(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Provider { return named("bluesky", bluesky.Config{HTTP: c}) },
		Calls: []providertest.Call{
			profile("profile", "ann.example.com"),
			profile("profile-bare", bob),
			live("live", "cat.example.com"),
			live("live-bare", "livebare.example.com"),
			live("live-over", "over.example.com"),
			live("live-none", "ann.example.com"),
			posts("posts", "ann.example.com"),
			posts("posts-only-reposts", "bob.example.com"),
			post("post", at(ann, "3rich")),
			post("post-by-handle", at("ann.example.com", "3rich")),
			post("post-of-a-wild-client", at(bob, "3wild")),
			post("post-quote-with-video", at(ann, "3vid")),
			comments("comments", at(ann, "3rich")),
			comments("comments-none", at(ann, "3late")),
			replies("replies", at(bob, "3r1")),
			search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.List("suggestions", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Suggestion], error) {
				return p.Suggestions(ctx, providers.SuggestionsQuery{Query: "te"}, cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: profile("unknown account", "nobody.example.com"), Want: providers.ErrNotFound},
			{Call: profile("suspended account", "down.example.com"), Want: providers.ErrNotFound},
			{Call: profile("deactivated account", "off.example.com"), Want: providers.ErrNotFound},
			{Call: profile("input that Bluesky cannot read", "odd.example.com"), Want: providers.ErrInvalid},
			{Call: profile("rate limit", "limit.example.com"), Want: providers.ErrUnavailable},
			{Call: profile("upstream of the upstream is slow", "slow.example.com"), Want: providers.ErrTimeout},
			{Call: profile("no session", "auth.example.com"), Want: providers.ErrUnavailable},
			{Call: profile("an error that we do not know", "new.example.com"), Want: providers.ErrUnavailable},
			{Call: profile("refused at the edge", "edge.example.com"), Want: providers.ErrUnavailable},
			{Call: post("unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: post("post of an unknown handle", at("nobody.example.com", "3rich")), Want: providers.ErrNotFound},
			{Call: comments("comments of an unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: comments("comments of a deleted post", at(ann, "3gone")), Want: providers.ErrNotFound},
			{Call: comments("comments of a withheld post", at(ann, "3blk")), Want: providers.ErrNotFound},
			{Call: providertest.List("dead cursor", func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Post], error) {
				return p.Posts(ctx, "ann.example.com", "dead")
			}), Want: providers.ErrCursor},
			{Call: providertest.List("cursor that is no place", func(ctx context.Context, p providers.Provider, _ string) (providers.Page[schema.Comment], error) {
				return p.Comments(ctx, at(ann, "3rich"), "-1")
			}), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Jay.BSKY.team", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: "\u2066@jay.bsky.team\u2069", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: ann, Want: ann},
			{Subject: providers.Handle, In: "at://" + ann, Want: ann},
			{Subject: providers.Handle, In: "https://bsky.app/profile/Jay.bsky.team", Want: "jay.bsky.team"},
			{Subject: providers.Handle, In: "bsky.app", Want: "bsky.app"},
			{Subject: providers.Handle, In: "bsky.app/profile/" + ann, Want: ann},
			{Subject: providers.Handle, In: "https://example.com/profile/jay.bsky.team"},
			{Subject: providers.Handle, In: "https://bsky.app/search"},
			{Subject: providers.Handle, In: "jay"},
			{Subject: providers.PostID, In: at(ann, "3rich"), Want: at(ann, "3rich")},
			{Subject: providers.PostID, In: at("Ann.Example.com", "3rich"), Want: at("ann.example.com", "3rich")},
			{Subject: providers.CommentID, In: "https://bsky.app/profile/ann.example.com/post/3rich", Want: at("ann.example.com", "3rich")},
			{Subject: providers.CommentID, In: "bsky.app/profile/" + ann + "/post/3rich", Want: at(ann, "3rich")},
			{Subject: providers.PostID, In: "https://bsky.app/profile/ann.example.com"},
			{Subject: providers.PostID, In: "https://bsky.app/profile/ann.example.com/lists/3rich"},
			{Subject: providers.PostID, In: "at://" + ann + "/app.bsky.feed.like/3rich"},
			{Subject: providers.PostID, In: "at://" + ann + "/app.bsky.feed.post/a b"},
			{Subject: providers.PostID, In: "3rich"},
		},
	})
}

func TestSession(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Provider {
			return named("bluesky_session", bluesky.Config{HTTP: c, Identifier: "@ann.example.com", AppPassword: "app-pass"})
		},
		Calls: []providertest.Call{
			search("search-posts", providers.SearchQuery{Query: "tea", Kind: schema.PostResult}),
			search("search-posts-narrowed", providers.SearchQuery{
				Query: "tea", Sort: "relevance", Lang: "ar", Handle: "ann.example.com",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			}),
		},
		Fails: []providertest.Fail{
			{Call: search("a token that ends again and again", providers.SearchQuery{Query: "expired"}), Want: providers.ErrUnavailable},
			{Call: search("a token that is refused", providers.SearchQuery{Query: "auth"}), Want: providers.ErrUnavailable},
		},
	})
}

// named returns the provider of that name.
func named(name string, cfg bluesky.Config) providers.Provider {
	for _, p := range bluesky.New(cfg) {
		if p.Name == name {
			return p
		}
	}
	panic("no provider " + name)
}

func profile(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) {
		return p.Profile(ctx, handle)
	})
}

func live(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.LiveStream, error) {
		return p.Live(ctx, handle)
	})
}

func post(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) {
		return p.Post(ctx, id)
	})
}

func posts(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.Posts(ctx, handle, cursor)
	})
}

func comments(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Comments(ctx, id, cursor)
	})
}

func replies(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Replies(ctx, providers.RepliesQuery{CommentID: id}, cursor)
	})
}

func search(name string, q providers.SearchQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
		return p.Search(ctx, q, cursor)
	})
}
