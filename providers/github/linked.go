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
	"github.com/socialdata/socialdata/schema"
)

// linked reads the social accounts that the owner has entered.
// https://docs.github.com/rest/users/social-accounts#list-social-accounts-for-a-user
func (c *client) linked(ctx context.Context, handle, cursor string) (providers.Page[schema.LinkedProfile], error) {
	return list(ctx, c, upstream.Get("users", handle, "social_accounts"), cursor, "social_accounts", account.linked)
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
