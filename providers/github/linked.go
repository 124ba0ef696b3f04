package github

import (
	"context"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// linked reads the social accounts that the owner has entered.
// https://docs.github.com/rest/users/social-accounts#list-social-accounts-for-a-user
func (c *client) linked(ctx context.Context, handle, cursor string) (providers.Page[schema.LinkedProfile], error) {
	var list wire.Rows[account]
	next, err := c.page(ctx, upstream.Get("users", handle, "social_accounts"), cursor, &list)
	if err != nil {
		return providers.Page[schema.LinkedProfile]{}, err
	}
	items, err := wire.Items(ctx, "social_accounts", list, account.linked)
	if err != nil {
		return providers.Page[schema.LinkedProfile]{}, err
	}
	return providers.Page[schema.LinkedProfile]{Items: items, Next: next}, nil
}

type account struct {
	Provider string `json:"provider"`
	URL      string `json:"url"`
}

// linked leaves out accounts on sites that are not supported platforms.
func (a account) linked(raw json.RawMessage) (schema.LinkedProfile, bool) {
	on := platform.ID(a.Provider)
	if a.Provider == "twitter" {
		on = platform.X
	}
	page := text.URL(a.URL)
	if page == nil || !on.Valid() {
		return schema.LinkedProfile{}, false
	}
	u, err := url.Parse(*page)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return schema.LinkedProfile{}, false
	}
	return schema.LinkedProfile{
		Common:     schema.Common{Platform: on, ID: a.Provider + ":" + a.URL, URL: *page, Raw: raw},
		Handle:     strings.TrimPrefix(path.Base(u.Path), "@"),
		Confidence: 1,
		Evidence:   []string{"github social_accounts"},
	}, true
}
