package applemusic

import (
	"context"

	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// profile reads an artist by id or name.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-artist
func (c *catalog) profile(ctx context.Context, handle string) (schema.Profile, error) {
	in, id := storeOf(c.markets, handle)
	var r wire.Object[resource]
	var err error
	if links.Digits(id) {
		r, err = c.one(ctx, "artists", in, id)
	} else {
		r, err = c.named(ctx, in, id)
	}
	if err != nil {
		return schema.Profile{}, err
	}
	return r.V.profile(in, r.Raw), nil
}

// named finds the artist with exactly that name in a storefront, ignoring case.
func (c *catalog) named(ctx context.Context, in store, name string) (wire.Object[resource], error) {
	r := get(in.country, "search").Says("term", name).With("types", "artists").With("limit", "5")
	found, err := c.find(ctx, r, []string{"artists"})
	if err != nil {
		return wire.Object[resource]{}, err
	}
	rows := found.Artists.V.Data
	odd := rows.Lost() > 0
	for _, r := range rows.All() {
		if sameName(r.V.Attributes.Name, name) {
			return r, wire.Need(ctx, "id", r.V.ID != "")
		}
		odd = odd || r.V.Attributes.Name == ""
	}
	return wire.Object[resource]{}, noArtist(odd, in)
}
