package applemusic

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// patience is how long to wait for what a profile can do without.
const patience = 3 * time.Second

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var r upstream.Object[row]
	var err error
	if links.Digits(handle) {
		r, _, err = c.lookup(ctx, handle, "artist", "")
	} else {
		r, err = c.named(ctx, handle)
	}
	if err != nil {
		return schema.Profile{}, fmt.Errorf("apple_music: profile %q: %w", handle, err)
	}
	p := r.V.profile(c.country, r.Raw)
	if c.catalog != nil {
		// These two are worth a try, not a failure.
		brief, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if full, err := c.catalog.artist(brief, p.ID); err == nil {
			p.Bio, p.AvatarURL = full.V.Attributes.bio(), full.V.Attributes.Artwork.url()
		}
	}
	return p, nil
}

// named finds the artist with exactly that name, but for its case; of namesakes the one that Apple puts first.
func (c *client) named(ctx context.Context, name string) (upstream.Object[row], error) {
	found, err := c.rows(ctx, c.term(name, "musicArtist", c.country).With("limit", "5"))
	if err != nil {
		return upstream.Object[row]{}, err
	}
	for _, r := range keep(found, row.isArtist) {
		if strings.EqualFold(strings.Join(strings.Fields(r.V.ArtistName), " "), name) {
			return r, nil
		}
	}
	return upstream.Object[row]{}, providers.NotFound("Apple Music has no artist of exactly that name in storefront %s", c.country)
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
