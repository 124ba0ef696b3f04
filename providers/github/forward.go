package github

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// forward reads a route unchanged, if it shows public data: our token may be allowed to see more than that.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	segments := strings.Split(path, "/")
	if c.token && segments[0] == "repos" && len(segments) >= 3 {
		if err := c.public(ctx, segments[1]+"/"+segments[2]); err != nil {
			return nil, err
		}
	}
	return c.http.Forward(ctx, path, query)
}

// public returns [providers.ErrNotFound] unless a repository is public.
func (c *client) public(ctx context.Context, name string) error {
	repo, err := c.repository(ctx, name)
	if err != nil {
		return err
	}
	if private := repo.V.Private.V; private == nil || *private {
		return providers.ErrNotFound
	}
	return nil
}
