package hackernews

import (
	"context"
	"fmt"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	u, err := c.user(ctx, handle)
	if err != nil {
		return schema.Profile{}, fmt.Errorf("hackernews: profile %q: %w", handle, err)
	}
	return u.V.profile(u.Raw), nil
}

func (c *client) user(ctx context.Context, handle string) (upstream.Object[*user], error) {
	var u upstream.Object[*user]
	if _, err := c.http.JSON(ctx, upstream.Get("user", handle+".json"), &u); err != nil {
		return u, err
	}
	switch {
	case u.V == nil: // an unknown user is the answer null, with status 200
		return u, providers.ErrNotFound
	case u.V.ID == "":
		return u, providers.Unavailable(nil, "the upstream's answer is no user")
	}
	return u, nil
}

// user is the answer of GET /user/{id}.json.
// https://github.com/HackerNews/API#users
type user struct {
	ID        string  `json:"id"`        // case matters
	About     string  `json:"about"`     // HTML; absent when never set
	Submitted []int64 `json:"submitted"` // stories, polls, comments and poll options, newest first
}

func (u user) profile(raw []byte) schema.Profile {
	about, links := read(u.About)
	return schema.Profile{
		Common: schema.Common{ID: u.ID, URL: site + "user?id=" + url.QueryEscape(u.ID), Raw: raw},
		Handle: u.ID,
		Bio:    text.NonEmpty(about),
		Links:  text.URLs(links...),
	}
}
