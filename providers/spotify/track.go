package spotify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// track reads a song or else the episode with that id: lists return both as tracks.
func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	kind := "tracks"
	bare, isEpisode := strings.CutPrefix(id, "episode/")
	if isEpisode {
		kind = "episodes"
	}
	i, err := c.item(ctx, kind, bare)
	if errors.Is(err, providers.ErrNotFound) && !isEpisode {
		// For an app that may not read episodes, a missing song counts as not found.
		if e, eerr := c.item(ctx, "episodes", bare); !errors.Is(eerr, errForbidden) {
			i, err = e, eerr
		}
	}
	if err != nil {
		return schema.Track{}, err
	}
	return i.V.track(i.Raw), nil
}

// item reads a track or an episode.
func (c *client) item(ctx context.Context, kind, id string) (i wire.Object[item], err error) {
	if _, err := c.http.Read(ctx, c.get(kind, id), &i); err != nil {
		return i, err
	}
	if string(i.V.LinkedFrom.ID) != id {
		if err := wire.Same(ctx, "track", id, string(i.V.ID)); err != nil {
			return i, err
		}
	}
	return i, nil
}

// topTracks reads an artist's most popular tracks, all on one page.
// https://developer.spotify.com/documentation/web-api/reference/get-an-artists-top-tracks
func (c *client) topTracks(ctx context.Context, handle, _ string) (page providers.Page[schema.Track], err error) {
	var top struct {
		Tracks rows[item] `json:"tracks"`
	}
	artist, err := c.artistID(ctx, handle)
	if err != nil {
		return page, err
	}
	_, err = c.http.Read(ctx, c.get("artists", artist, "top-tracks"), &top)
	if errors.Is(err, errForbidden) {
		err = providers.Unsupported("the tracks of an artist need an app with extended quota at Spotify")
	}
	if err != nil {
		return page, err
	}
	page.Items, err = tracks(ctx, "tracks", top.Tracks, func(*item) {})
	return page, err
}

// item is the answer of GET /tracks/{id}, or of GET /episodes/{id}, which has a show and its own pictures, date and
// preview instead of album and artists.
// https://developer.spotify.com/documentation/web-api/reference/get-track
// https://developer.spotify.com/documentation/web-api/reference/get-an-episode
type item struct {
	Type         string     `json:"type"` // track or episode
	ID           key        `json:"id"`   // null for a local file
	Name         string     `json:"name"`
	External     external   `json:"external_urls"`
	DurationMS   wire.Float `json:"duration_ms"`
	Explicit     wire.Bool  `json:"explicit"` // also false when it is unknown
	IsLocal      wire.Bool  `json:"is_local"`
	Artists      []artist   `json:"artists"`
	Album        *album     `json:"album"`       // absent in an album's own tracks
	Preview      string     `json:"preview_url"` // null for most apps
	Show         *show      `json:"show"`        // absent in a podcast's own episodes
	Images       images     `json:"images"`
	ReleaseDate  string     `json:"release_date"`
	AudioPreview string     `json:"audio_preview_url"`
	LinkedFrom   struct {
		ID key `json:"id"`
	} `json:"linked_from"` // the requested id, if the market has the track under another
}

// tracks converts the rows of a list. complete adds to each what the list says about all of them. Local files, which
// only their owner has, do not belong.
func tracks(ctx context.Context, name string, list rows[item], complete func(*item)) ([]schema.Track, error) {
	return items(ctx, name, list, func(i item, raw json.RawMessage) (schema.Track, bool) {
		complete(&i)
		return i.track(raw), !i.IsLocal.Is()
	})
}

func (i item) track(raw json.RawMessage) schema.Track {
	t := schema.Track{
		Common:    schema.Common{ID: string(i.ID), Raw: raw},
		Title:     i.Name,
		DurationS: i.DurationMS.Seconds(),
		Explicit:  i.Explicit.V,
	}
	if i.Type == "episode" {
		t.URL = i.External.page("episode", i.ID)
		t.CoverURL, t.AudioURL, t.ReleasedAt = i.Images.widest(), text.URL(i.AudioPreview), dates.Release(i.ReleaseDate)
		if i.Show != nil && i.Show.Name != "" {
			t.Artists, t.Album = []string{i.Show.Name}, new(i.Show.Name)
		}
		return t
	}
	t.URL, t.AudioURL = i.External.page("track", i.ID), text.URL(i.Preview)
	for _, a := range i.Artists {
		if a.Name != "" {
			t.Artists = append(t.Artists, a.Name)
		}
	}
	if i.Album != nil {
		t.Album, t.CoverURL, t.ReleasedAt = text.NonEmpty(i.Album.Name), i.Album.Images.widest(), dates.Release(i.Album.ReleaseDate)
	}
	return t
}
