package bluesky_test

import (
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
		New: func(c *http.Client) providers.Chain { return bluesky.New(bluesky.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.example.com"),
			providertest.Profile("profile-bare", bob),
			providertest.Live("live", "cat.example.com"),
			providertest.Live("live-bare", "livebare.example.com"),
			providertest.Live("live-over", "over.example.com"),
			providertest.Live("live-none", "ann.example.com"),
			providertest.Posts("posts", "ann.example.com"),
			providertest.Posts("posts-only-reposts", "bob.example.com"),
			providertest.Post("post", at(ann, "3rich")),
			providertest.Post("post-by-handle", at("ann.example.com", "3rich")),
			providertest.Post("post-of-a-wild-client", at(bob, "3wild")),
			providertest.Post("post-quote-with-video", at(ann, "3vid")),
			providertest.Comments("comments", at(ann, "3rich")),
			providertest.Comments("comments-none", at(ann, "3late")),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: at(bob, "3r1")}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "te"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "down.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("deactivated account", "off.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("input that Bluesky cannot read", "odd.example.com"), Want: providers.ErrInvalid},
			{Call: providertest.Profile("rate limit", "limit.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("upstream of the upstream is slow", "slow.example.com"), Want: providers.ErrTimeout},
			{Call: providertest.Profile("no session", "auth.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("an error that we do not know", "new.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refused at the edge", "edge.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: providertest.Post("post of an unknown handle", at("nobody.example.com", "3rich")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of an unknown post", at(ann, "3none")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of a deleted post", at(ann, "3gone")), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of a withheld post", at(ann, "3blk")), Want: providers.ErrNotFound},
			{Call: providertest.Posts("dead cursor", "ann.example.com").From("dead"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor that is no place", at(ann, "3rich")).From("-1"), Want: providers.ErrCursor},
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
		New: func(c *http.Client) providers.Chain {
			return bluesky.New(bluesky.Config{HTTP: c, Identifier: "@ann.example.com", AppPassword: "app-pass"})
		},
		Upstream: "bluesky_session",
		Calls: []providertest.Call{
			providertest.Search("search-posts", providers.SearchQuery{Query: "tea", Kind: schema.PostResult}),
			providertest.Search("search-posts-narrowed", providers.SearchQuery{
				Query: "tea", Sort: "relevance", Lang: "ar", Handle: "ann.example.com",
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Search("a token that ends again and again", providers.SearchQuery{Query: "expired"}), Want: providers.ErrUnavailable},
			{Call: providertest.Search("a token that is refused", providers.SearchQuery{Query: "auth"}), Want: providers.ErrUnavailable},
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
