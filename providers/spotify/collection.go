package spotify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// byKind calls read with the kind that the caller gave or that the id carries; where neither tells, with each kind until
// one knows the id.
func byKind[T any](q providers.CollectionQuery, read func(kind schema.CollectionKind, id string) (T, error)) (T, error) {
	kinds := []schema.CollectionKind{schema.Album, schema.Playlist, schema.Podcast}
	if q.Kind != "" {
		kinds = []schema.CollectionKind{q.Kind}
	}
	word, id, carries := strings.Cut(q.ID, "/")
	if carries {
		kind := schema.CollectionKind(word)
		if word == "show" {
			kind = schema.Podcast
		}
		if q.Kind != "" && q.Kind != kind {
			var none T
			return none, providers.Invalid("kind is %s, but id names a %s", q.Kind, kind)
		}
		kinds = []schema.CollectionKind{kind}
	} else {
		id = q.ID
	}
	for _, kind := range kinds[:len(kinds)-1] {
		if v, err := read(kind, id); !errors.Is(err, providers.ErrNotFound) {
			return v, err
		}
	}
	return read(kinds[len(kinds)-1], id)
}

func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	out, err := byKind(q, func(kind schema.CollectionKind, id string) (schema.Collection, error) {
		switch kind {
		case schema.Playlist:
			var p upstream.Object[playlist]
			_, err := c.http.JSON(ctx, c.get("playlists", id), &p)
			return p.V.collection(p.Raw), err
		case schema.Podcast:
			var s upstream.Object[show]
			_, err := c.http.JSON(ctx, c.get("shows", id), &s)
			return s.V.collection(s.Raw), err
		default:
			a, err := c.album(ctx, id)
			return a.V.collection("", a.Raw), err
		}
	})
	if err != nil {
		return schema.Collection{}, fmt.Errorf("spotify: collection %q: %w", q.ID, err)
	}
	return out, nil
}

func (c *client) collectionTracks(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	page, err := byKind(q, func(kind schema.CollectionKind, id string) (providers.Page[schema.Track], error) {
		switch kind {
		case schema.Playlist:
			return c.playlistTracks(ctx, id, cursor)
		case schema.Podcast:
			return c.episodes(ctx, id, cursor)
		default:
			return c.albumTracks(ctx, id, cursor)
		}
	})
	if err != nil {
		return providers.Page[schema.Track]{}, fmt.Errorf("spotify: tracks of %q: %w", q.ID, err)
	}
	return page, nil
}

// albumTracks reads the album too, for its tracks do not say what they are on. The first page comes with it.
// https://developer.spotify.com/documentation/web-api/reference/get-an-albums-tracks
func (c *client) albumTracks(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	a, err := c.album(ctx, id)
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	first := a.V.Tracks
	if cursor != "" || first == nil || first.Items == nil {
		if first, _, err = list[item](ctx, c, c.get("albums", id, "tracks"), cursor); err != nil {
			return providers.Page[schema.Track]{}, err
		}
	}
	for i := range first.Items {
		first.Items[i].V.Album = &a.V
	}
	return providers.Page[schema.Track]{Items: tracks(first.Items), Next: first.cursor()}, nil
}

// patience is how long to wait for what episodes can do without.
const patience = 3 * time.Second

// episodes reads the podcast too, for its name. Without it they are still worth having.
// https://developer.spotify.com/documentation/web-api/reference/get-a-shows-episodes
func (c *client) episodes(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	p, next, err := list[item](ctx, c, c.get("shows", id, "episodes"), cursor)
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	var s show
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := c.http.JSON(brief, c.get("shows", id), &s); err != nil && ctx.Err() != nil {
		return providers.Page[schema.Track]{}, err
	}
	for i := range p.Items {
		p.Items[i].V.Type, p.Items[i].V.Show = "episode", &s
	}
	return providers.Page[schema.Track]{Items: tracks(p.Items), Next: next}, nil
}

// playlistTracks reads under the address of apps with extended quota, and where that is refused under the one of apps
// in development mode, which serves their owner's playlists only.
// https://developer.spotify.com/documentation/web-api/reference/get-playlists-items
func (c *client) playlistTracks(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	read := func(last string) (*page[entry], string, error) {
		return list[entry](ctx, c, c.get("playlists", id, last).With("additional_types", "track,episode"), cursor)
	}
	p, next, err := read("tracks")
	if errors.Is(err, errForbidden) {
		p, next, err = read("items")
	}
	if errors.Is(err, errForbidden) {
		err = providers.Unsupported("GET /v1/spotify/collection/tracks of this playlist needs an app with extended quota at Spotify")
	}
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	out := providers.Page[schema.Track]{Next: next}
	for _, e := range p.Items {
		i := e.V.Item
		if i == nil {
			i = e.V.Track
		}
		if i != nil && i.ID != "" && !e.V.IsLocal {
			out.Items = append(out.Items, i.track(e.Raw))
		}
	}
	return out, nil
}

// entry is a line of a playlist.
type entry struct {
	IsLocal bool  `json:"is_local"` // a file on its owner's disk
	Item    *item `json:"item"`     // since 2026
	Track   *item `json:"track"`    // before; either is null when it was taken down
}

// playlist is the answer of GET /playlists/{id}.
// https://developer.spotify.com/documentation/web-api/reference/get-playlist
type playlist struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"` // HTML, "" or null when there is none
	External    external `json:"external_urls"`
	Images      images   `json:"images"`
	Owner       *struct {
		ID          string  `json:"id"`
		DisplayName *string `json:"display_name"`
	} `json:"owner"`
	Items  *total `json:"items"`  // since 2026
	Tracks *total `json:"tracks"` // before
}

type total struct {
	Total upstream.Int `json:"total"`
}

func (p playlist) collection(raw []byte) schema.Collection {
	out := schema.Collection{
		Common:      schema.Common{ID: p.ID, URL: p.External.page("playlist", p.ID), Raw: raw},
		Kind:        schema.Playlist,
		Title:       p.Name,
		Description: text.NonEmpty(text.FromHTML(p.Description)),
		CoverURL:    p.Images.widest(),
	}
	if o := p.Owner; o != nil && o.ID != "" {
		out.Owner = &schema.Actor{ID: o.ID, Handle: o.ID, DisplayName: text.NonEmptyPtr(o.DisplayName)}
	}
	if p.Tracks != nil {
		out.ItemsCount = p.Tracks.Total.V
	}
	if p.Items != nil && p.Items.Total.V != nil {
		out.ItemsCount = p.Items.Total.V
	}
	return out
}

// show is the answer of GET /shows/{id}: a podcast.
// https://developer.spotify.com/documentation/web-api/reference/get-a-show
type show struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Description   string       `json:"description"` // plain text
	External      external     `json:"external_urls"`
	Images        images       `json:"images"`
	TotalEpisodes upstream.Int `json:"total_episodes"`
}

func (s show) collection(raw []byte) schema.Collection {
	return schema.Collection{
		Common:      schema.Common{ID: s.ID, URL: s.External.page("show", s.ID), Raw: raw},
		Kind:        schema.Podcast,
		Title:       s.Name,
		Description: text.NonEmpty(s.Description),
		ItemsCount:  s.TotalEpisodes.V,
		CoverURL:    s.Images.widest(),
	}
}
