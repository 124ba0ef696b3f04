package scrapecreators

import (
	"context"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/truthsocial"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) truthsocial() providers.Provider {
	return providers.Provider{
		Platform: platform.TruthSocial,
		Profile:  one(c, by("v1/truthsocial/profile", "handle"), "", wire.Parsed(truthsocial.ParseProfile), sameAccountOrID),
		Posts:    list(c, truthsocialPosts, upstream.List{Rows: "posts", Next: "next_max_id"}, parsed(truthsocial.ParsePost), truthsocialWrote),
		Post:     one(c, byPost("v1/truthsocial/post", after("https://truthsocial.com/posts/")), "", wire.Parsed(truthsocial.ParsePost), samePost),
	}
}

// truthsocialPosts asks for posts, newest first.
func truthsocialPosts(_ context.Context, handle string) (upstream.Request, error) {
	key := "handle"
	if links.Digits(handle) {
		key = "user_id"
	}
	return upstream.Get("v1/truthsocial/user/posts").Says(key, handle), nil
}

// truthsocialWrote is [wrote] for an account that may be given by its id.
func truthsocialWrote(asked string, p schema.Post) bool {
	return p.Author.ID == asked || wrote(asked, p)
}
