package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/truthsocial"
	"github.com/socialdata/socialdata/schema"
)

// truthsocialReads reads answers of Truth Social's own API.
type truthsocialReads struct{ *client }

func (c *client) truthsocial() providers.Provider {
	r := truthsocialReads{c}
	return providers.Provider{
		Platform: platform.TruthSocial,
		Profile:  r.profile,
		Posts:    r.posts,
		Post:     r.post,
	}
}

func (r truthsocialReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := one(ctx, r.client, upstream.Get("v1/truthsocial/profile").Says("handle", handle), truthsocial.ParseProfile)
	if err == nil && p.ID != handle {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

// posts reads posts, newest first. A post of another account among them is malformed.
func (r truthsocialReads) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	key := "handle"
	if links.Digits(handle) {
		key = "user_id"
	}
	ask := upstream.Get("v1/truthsocial/user/posts").Says(key, handle).With("next_max_id", cursor)
	convert := func(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
		p, err := truthsocial.ParsePost(ctx, raw)
		if err == nil && p.Author.ID != handle && !strings.EqualFold(p.Author.Handle, handle) {
			return schema.Post{}, nil
		}
		return p, err
	}
	return list(ctx, r.client, ask, "posts", "next_max_id", parsed(ctx, convert))
}

func (r truthsocialReads) post(ctx context.Context, id string) (schema.Post, error) {
	address := providers.AddressOf(ctx, providers.PostID, "https://truthsocial.com/posts/"+id)
	p, err := one(ctx, r.client, upstream.Get("v1/truthsocial/post").Says("url", address), truthsocial.ParsePost)
	if err == nil {
		err = wire.Same(ctx, "post", id, p.ID)
	}
	return p, err
}
