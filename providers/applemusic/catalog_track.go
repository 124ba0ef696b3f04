package applemusic

import (
	"context"

	"github.com/socialdata/socialdata/schema"
)

// track reads a song.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-song
func (c *catalog) track(ctx context.Context, id string) (schema.Track, error) {
	r, err := c.one(ctx, "songs", id)
	if err != nil {
		return schema.Track{}, err
	}
	return r.V.track(c.storefront, r.Raw), nil
}
