package scrapecreators

import (
	"context"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// kickReads reads data of Kick's website. The vendor only has clips.
type kickReads struct{ *client }

func (c *client) kick() providers.Provider {
	return providers.Provider{Platform: platform.Kick, Post: kickReads{c}.clip}
}

func (r kickReads) clip(ctx context.Context, id string) (p schema.Post, err error) {
	var a answer
	address := providers.AddressOf(ctx, providers.PostID, "https://kick.com/clips/"+id)
	if _, err = r.http.Read(ctx, upstream.Get("v1/kick/clip").Says("url", address), &a); err == nil {
		p, err = at(ctx, a, "clip", kick.ParseClip)
	}
	if err == nil {
		err = wire.Same(ctx, "clip", id, p.ID)
	}
	return p, err
}
