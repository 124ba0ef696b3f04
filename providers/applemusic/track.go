package applemusic

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	in, id := storeOf(c.markets, id)
	r, _, err := c.lookup(ctx, in, id, "track", "")
	if err != nil {
		return schema.Track{}, err
	}
	return song(ctx, in, r)
}

// tracks reads songs by their ids.
func (c *client) tracks(ctx context.Context, ids []string) (map[string]schema.Track, error) {
	found, err := c.lookups(ctx, ids)
	return providers.PerKey(ids, err, func(id string) (schema.Track, error) {
		in, r, err := found.of(ctx, id, "track")
		if err != nil {
			return schema.Track{}, err
		}
		return song(ctx, in, r)
	})
}

// song converts a track, which must be a song.
func song(ctx context.Context, in store, r wire.Object[row]) (schema.Track, error) {
	if err := wire.Need(ctx, "kind", r.V.Kind != ""); err != nil {
		return schema.Track{}, err
	}
	if !r.V.isSong() {
		return schema.Track{}, providers.NotFound("that id on Apple Music is not a song's")
	}
	return r.V.track(in, r.Raw), nil
}

func (r row) track(in store, raw json.RawMessage) schema.Track {
	t := schema.Track{
		Common:     schema.Common{ID: in.id(string(r.TrackID)), URL: link(r.TrackURL), Raw: raw},
		Title:      r.TrackName,
		Album:      text.NonEmpty(r.CollectionName),
		CoverURL:   r.cover("600x600bb"),
		AudioURL:   text.URL(r.Preview),
		DurationS:  r.TrackMillis.Seconds(),
		ReleasedAt: dates.Release(r.ReleaseDate),
	}
	if t.URL == "" {
		t.URL = in.page("song/" + string(r.TrackID))
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
