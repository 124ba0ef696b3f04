package hackernews

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.user(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return u.V.profile(u.Raw), nil
}

func (c *client) user(ctx context.Context, handle string) (wire.Object[*user], error) {
	var u wire.Object[*user]
	if _, err := c.http.Read(ctx, upstream.Get("user", handle+".json"), &u); err != nil {
		return u, err
	}
	if u.V == nil { // for an unknown user the API answers null with status 200
		return u, providers.ErrNotFound
	}
	if err := wire.Same(ctx, "user", handle, u.V.ID); err != nil {
		return u, err
	}
	return u, u.V.Submitted.Optional(ctx, "submitted")
}

// user is the answer of GET /user/{id}.json.
// https://github.com/HackerNews/API#users
type user struct {
	ID        string       `json:"id"`        // case matters
	About     string       `json:"about"`     // HTML; absent when never set
	Submitted wire.Numbers `json:"submitted"` // stories, polls, comments and poll options, newest first; absent if none
}

func (u user) profile(raw json.RawMessage) schema.Profile {
	about, links := read(u.About)
	return schema.Profile{
		Common: schema.Common{ID: u.ID, URL: site + "user?id=" + url.QueryEscape(u.ID), Raw: raw},
		Handle: u.ID,
		Bio:    text.NonEmpty(about),
		Links:  text.URLs(links...),
	}
}
