package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/linktree"
	"github.com/socialdata/socialdata/schema"
)

type linktreeReads struct{ *client }

func (c *client) linktree() providers.Provider {
	r := linktreeReads{c}
	return providers.Provider{
		Platform: platform.Linktree, Profile: r.profile, Linked: r.linked,
	}
}

// read reads the page of handle once per call.
func (r linktreeReads) read(ctx context.Context, handle string) (json.RawMessage, error) {
	return callctx.Of(ctx).Purse.Page(name+" "+handle, func() ([]byte, error) {
		var whole json.RawMessage
		_, err := r.http.Read(ctx, upstream.Get("v1/linktree").Says("url", "https://linktr.ee/"+handle), &whole)
		return whole, err
	})
}

func (r linktreeReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	page, err := r.read(ctx, handle)
	if err != nil {
		return p, err
	}
	if p, err = linktree.ParseProfile(ctx, page); err != nil {
		return p, err
	}
	return p, sameAccount(ctx, handle, p)
}

// linked lists all accounts at once.
func (r linktreeReads) linked(ctx context.Context, handle, _ string) (page providers.Page[schema.LinkedProfile], err error) {
	whole, err := r.read(ctx, handle)
	if err != nil {
		return page, err
	}
	page.Items, err = linktree.ParseLinked(ctx, whole)
	return page, err
}
