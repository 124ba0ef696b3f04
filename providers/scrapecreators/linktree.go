package scrapecreators

import (
	"context"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/providers/internal/wire"
	"github.com/socialdata/socialdata/providers/linktree"
	"github.com/socialdata/socialdata/schema"
)

type linktreeReads struct{ *client }

func (c *client) linktree() providers.Provider {
	r := linktreeReads{c}
	return providers.Provider{Platform: platform.Linktree, Profile: r.profile, Linked: r.linked}
}

// page is what a read of the page of handle is.
func (linktreeReads) page(handle string) upstream.Request {
	return upstream.Get("v1/linktree").Says("url", "https://linktr.ee/"+handle)
}

func (r linktreeReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := one(ctx, r.client, r.page(handle), linktree.ParseProfile)
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

// linked lists all at once.
func (r linktreeReads) linked(ctx context.Context, handle, _ string) (page providers.Page[schema.LinkedProfile], err error) {
	page.Items, err = one(ctx, r.client, r.page(handle), linktree.ParseLinked)
	return page, err
}
