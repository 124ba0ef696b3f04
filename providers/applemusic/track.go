package applemusic

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	r, _, err := c.lookup(ctx, id, "track", "")
	return c.song(ctx, r, err)
}

// tracks reads songs by their ids.
func (c *client) tracks(ctx context.Context, ids []string) (map[string]schema.Track, error) {
	found, err := c.lookups(ctx, ids)
	return providers.PerKey(ids, err, func(id string) (schema.Track, error) {
		r, err := found.of(ctx, id, "track")
		return c.song(ctx, r, err)
	})
}

// song converts a track, which must be a song. It returns err if it is not nil.
func (c *client) song(ctx context.Context, r wire.Object[row], err error) (schema.Track, error) {
	if err == nil {
		err = wire.Need(ctx, "kind", r.V.Kind != "")
	}
	if err == nil && !r.V.isSong() {
		err = providers.NotFound("that id on Apple Music is not a song's")
	}
	if err != nil {
		return schema.Track{}, err
	}
	return r.V.track(c.country, r.Raw), nil
}

func (r row) track(country string, raw []byte) schema.Track {
	t := schema.Track{
		Common:     schema.Common{ID: string(r.TrackID), URL: link(r.TrackURL), Raw: raw},
		Title:      r.TrackName,
		Album:      text.NonEmpty(r.CollectionName),
		CoverURL:   r.cover("600x600bb"),
		AudioURL:   text.URL(r.Preview),
		DurationS:  r.TrackMillis.Seconds(),
		ReleasedAt: dates.Release(r.ReleaseDate),
	}
	if t.URL == "" {
		t.URL = "https://music.apple.com/" + country + "/song/" + t.ID
	}
	if r.ArtistName != "" {
		t.Artists = []string{r.ArtistName} // in one string, as it is displayed: "A & B" may be one band
	}
	switch r.Explicitness {
	case "explicit":
		t.Explicit = new(true)
	case "notExplicit", "cleaned":
		t.Explicit = new(false)
	}
	return t
}
