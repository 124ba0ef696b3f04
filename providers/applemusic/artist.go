package applemusic

import (
	"context"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// patience is how long to wait for what a profile can do without.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var r wire.Object[row]
	var err error
	if links.Digits(handle) {
		r, _, err = c.lookup(ctx, handle, "artist", "")
	} else {
		r, err = c.named(ctx, handle)
	}
	if err != nil {
		return schema.Profile{}, err
	}
	p := r.V.profile(c.country, r.Raw)
	if c.catalog != nil {
		// These two are worth a try, not a failure.
		brief, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if full, err := c.catalog.one(brief, "artists", p.ID); err == nil {
			p.Bio, p.AvatarURL = full.V.Attributes.bio(), full.V.Attributes.Artwork.url()
		}
	}
	return p, nil
}

// named finds the artist with exactly that name, but for its case; of namesakes the one that Apple puts first.
func (c *client) named(ctx context.Context, name string) (wire.Object[row], error) {
	found, err := c.rows(ctx, c.term(name, "musicArtist", c.country).With("limit", "5"))
	if err != nil {
		return wire.Object[row]{}, err
	}
	odd := found.Lost() > 0
	for _, r := range found.All() {
		if r.V.isArtist() && sameName(r.V.ArtistName, name) {
			return r, wire.Need(ctx, "artistId", r.V.ArtistID != "")
		}
		odd = odd || r.V.odd() || r.V.isArtist() && r.V.ArtistName == ""
	}
	return wire.Object[row]{}, nobody(odd, c.country)
}

// sameName compares an artist's name with the one asked for, which is in lower case.
func sameName(name, asked string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(name), " "), asked)
}

// nobody says that no artist has the name asked for, unless there is an odd one among those found: it may be that one's.
func nobody(odd bool, storefront string) error {
	if odd {
		return providers.Unreadable(nil)
	}
	return providers.NotFound("Apple Music has no artist of exactly that name in storefront %s", storefront)
}

// artistID returns the id that handle is, or that the artist of that name has.
func (c *client) artistID(ctx context.Context, handle string) (string, error) {
	if links.Digits(handle) {
		return handle, nil
	}
	r, err := c.named(ctx, handle)
	return string(r.V.ArtistID), err
}

func (r row) profile(country string, raw []byte) schema.Profile {
	id := string(r.ArtistID)
	p := schema.Profile{
		Common:      schema.Common{ID: id, URL: link(r.ArtistURL), Raw: raw},
		Handle:      id,
		DisplayName: text.NonEmpty(r.ArtistName),
	}
	if !strings.HasPrefix(p.URL, "https://music.apple.com/") { // the store of old
		p.URL = "https://music.apple.com/" + country + "/artist/" + id
	}
	return p
}
