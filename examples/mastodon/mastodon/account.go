package mastodon

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	return upstream.One(ctx, c.http, upstream.Get("api/v1/accounts/lookup").Says("acct", handle), "", wire.As(c.profileOf),
		upstream.AboutAccount(handle))
}

// search finds accounts by their names. Further pages are for users of the server.
// https://docs.joinmastodon.org/methods/search/#v2
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	if cursor != "" {
		return providers.Page[schema.SearchResult]{}, providers.ErrCursor
	}
	r := upstream.Get("api/v2/search").Says("q", q.Query).With("type", "accounts").With("limit", "40")
	return upstream.Page(ctx, c.http, r, upstream.List{Rows: "accounts"}, func(a account, raw json.RawMessage) (schema.SearchResult, bool) {
		p := c.profileOf(a, raw)
		return schema.Result(&p), true
	})
}

// account is an account, as in GET /api/v1/accounts/lookup.
// https://docs.joinmastodon.org/entities/Account/
type account struct {
	ID          wire.Serial `json:"id"`
	Acct        string      `json:"acct"` // with @server if that is another one
	DisplayName string      `json:"display_name"`
	Note        string      `json:"note"` // HTML
	Avatar      string      `json:"avatar"`
	Followers   wire.Count  `json:"followers_count"`
	Following   wire.Count  `json:"following_count"`
	Statuses    wire.Count  `json:"statuses_count"`
	Fields      []struct {
		Value string `json:"value"` // HTML
	} `json:"fields"`
}

// profileOf converts a. Its address is that on our server, also for an account of another one.
func (c *client) profileOf(a account, raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: c.site + "/@" + a.Acct, Raw: raw},
		Handle:      a.Acct,
		DisplayName: text.NonEmpty(a.DisplayName),
		Bio:         text.NonEmpty(text.FromHTML(a.Note)),
		AvatarURL:   text.URL(a.Avatar),
		Followers:   a.Followers.V,
		Following:   a.Following.V,
		PostsCount:  a.Statuses.V,
	}
	for _, f := range a.Fields {
		p.Links = append(p.Links, text.Addresses(text.FromHTML(f.Value))...)
	}
	p.Links = text.URLs(p.Links...)
	return p
}

func (a *account) actor() schema.Actor {
	if a == nil || a.ID == "" || a.Acct == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(a.ID), Handle: a.Acct, DisplayName: text.NonEmpty(a.DisplayName), AvatarURL: text.URL(a.Avatar),
	}
}
