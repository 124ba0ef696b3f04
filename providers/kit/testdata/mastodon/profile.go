package mastodon

import (
	"context"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var a wire.Object[account]
	if _, err := c.http.Read(ctx, upstream.Get("api", "v1", "accounts", "lookup").Says("acct", handle), &a); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.SameFold(ctx, "account", handle, a.V.Acct); err != nil { // it must be the requested account
		return schema.Profile{}, err
	}
	return schema.Profile{
		Common:      schema.Common{ID: string(a.V.ID), URL: a.V.URL, Raw: a.Raw},
		Handle:      a.V.Acct,
		DisplayName: text.NonEmpty(a.V.DisplayName),
		Bio:         text.NonEmpty(text.FromHTML(a.V.Note)),
		Followers:   a.V.Followers.V,
	}, nil
}

// account is the answer of GET /api/v1/accounts/lookup.
// https://docs.joinmastodon.org/entities/Account/
type account struct {
	ID          wire.ID    `json:"id"`
	Acct        string     `json:"acct"`
	URL         string     `json:"url"`
	DisplayName string     `json:"display_name"`
	Note        string     `json:"note"` // HTML
	Followers   wire.Count `json:"followers_count"`
}
