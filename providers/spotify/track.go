package spotify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) track(ctx context.Context, id string) (schema.Track, error) {
	r := c.get("tracks", id)
	if episode, ok := strings.CutPrefix(id, "episode/"); ok {
		r = c.get("episodes", episode)
	}
	var i upstream.Object[item]
	if _, err := c.http.JSON(ctx, r, &i); err != nil {
		return schema.Track{}, fmt.Errorf("spotify: track %q: %w", id, err)
	}
	return i.V.track(i.Raw), nil
}

// topTracks reads an artist's most popular tracks, all on one page.
// https://developer.spotify.com/documentation/web-api/reference/get-an-artists-top-tracks
func (c *client) topTracks(ctx context.Context, handle, _ string) (providers.Page[schema.Track], error) {
	var top struct {
		Tracks []upstream.Object[item] `json:"tracks"`
	}
	artist, err := c.artistID(ctx, handle)
	if err == nil {
		_, err = c.http.JSON(ctx, c.get("artists", artist, "top-tracks"), &top)
	}
	switch {
	case errors.Is(err, errForbidden):
		err = providers.Unsupported("GET /v1/spotify/tracks needs an app with extended quota at Spotify")
	case err == nil && top.Tracks == nil:
		err = providers.Unreadable(errNoList)
	}
	if err != nil {
		return providers.Page[schema.Track]{}, fmt.Errorf("spotify: tracks of %q: %w", handle, err)
	}
	return providers.Page[schema.Track]{Items: tracks(top.Tracks)}, nil
}

// item is the answer of GET /tracks/{id}, or of GET /episodes/{id}, which has a show and its own pictures, date and
// preview in place of album and artists.
// https://developer.spotify.com/documentation/web-api/reference/get-track
// https://developer.spotify.com/documentation/web-api/reference/get-an-episode
type item struct {
	Type         string   `json:"type"` // track or episode
	ID           string   `json:"id"`   // null for a local file
	Name         string   `json:"name"`
	External     external `json:"external_urls"`
	DurationMS   *float64 `json:"duration_ms"`
	Explicit     *bool    `json:"explicit"` // false also when not known
	Artists      []artist `json:"artists"`
	Album        *album   `json:"album"`       // absent on an album's own tracks
	Preview      *string  `json:"preview_url"` // null for most apps
	Show         *show    `json:"show"`        // absent on a podcast's own episodes
	Images       images   `json:"images"`
	ReleaseDate  string   `json:"release_date"`
	AudioPreview *string  `json:"audio_preview_url"`
}

// tracks leaves out what is null.
func tracks(items []upstream.Object[item]) []schema.Track {
	var out []schema.Track
	for _, i := range items {
		if i.V.ID != "" {
			out = append(out, i.V.track(i.Raw))
		}
	}
	return out
}

func (i item) track(raw []byte) schema.Track {
	t := schema.Track{
		Common:   schema.Common{ID: i.ID, Raw: raw},
		Title:    i.Name,
		Explicit: i.Explicit,
	}
	if i.DurationMS != nil {
		t.DurationS = new(*i.DurationMS / 1000)
	}
	if i.Type == "episode" {
		t.URL = i.External.page("episode", i.ID)
		t.CoverURL, t.AudioURL, t.ReleasedAt = i.Images.widest(), text.URLPtr(i.AudioPreview), dates.Release(i.ReleaseDate)
		if i.Show != nil && i.Show.Name != "" {
			t.Artists, t.Album = []string{i.Show.Name}, new(i.Show.Name)
		}
		return t
	}
	t.URL, t.AudioURL = i.External.page("track", i.ID), text.URLPtr(i.Preview)
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
