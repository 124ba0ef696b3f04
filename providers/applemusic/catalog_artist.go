package applemusic

import (
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *catalog) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var r upstream.Object[resource]
	var err error
	if links.Digits(handle) {
		r, err = c.artist(ctx, handle)
	} else {
		r, err = c.named(ctx, handle)
	}
	if err != nil {
		return schema.Profile{}, fmt.Errorf("apple_music_catalog: profile %q: %w", handle, err)
	}
	return r.V.profile(c.storefront, r.Raw), nil
}

// artist reads an artist by id.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-artist
func (c *catalog) artist(ctx context.Context, id string) (upstream.Object[resource], error) {
	return c.one(ctx, c.get("artists", id).With("include", "albums"))
}

// named finds the artist with exactly that name, but for its case.
func (c *catalog) named(ctx context.Context, name string) (upstream.Object[resource], error) {
	found, err := c.find(ctx, c.get("search").With("term", name).With("types", "artists").With("limit", "5"))
	if err != nil {
		return upstream.Object[resource]{}, err
	}
	if found.Artists != nil {
		for _, r := range found.Artists.Data {
			if strings.EqualFold(strings.Join(strings.Fields(r.V.Attributes.Name), " "), name) {
				return r, nil
			}
		}
	}
	return upstream.Object[resource]{}, providers.NotFound("Apple Music has no artist of exactly that name in storefront %s", c.storefront)
}
