package spotify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ByKind calls read with the kind that the caller gave or that the id contains. If neither is known, it calls it with
// each kind until one finds the id.
func ByKind[T any](q providers.CollectionQuery, read func(kind schema.CollectionKind, id string) (T, error)) (T, error) {
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
	return ByKind(q, func(kind schema.CollectionKind, id string) (schema.Collection, error) {
		switch kind {
		case schema.Playlist:
			return upstream.One(ctx, c.http, c.get("playlists", id), "", wire.As(playlist.collection),
				upstream.About[schema.Collection]("playlist", id))
		case schema.Podcast:
			s, err := c.show(ctx, id)
			if err != nil {
				return schema.Collection{}, err
			}
			return s.V.collection(s.Raw), nil
		default:
			a, err := c.album(ctx, id)
			if err != nil {
				return schema.Collection{}, err
			}
			return a.V.collection("", a.Raw), nil
		}
	})
}

func (c *client) collectionTracks(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	return ByKind(q, func(kind schema.CollectionKind, id string) (providers.Page[schema.Track], error) {
		switch kind {
		case schema.Playlist:
			return c.playlistTracks(ctx, id, cursor)
		case schema.Podcast:
			return c.episodes(ctx, id, cursor)
		default:
			return c.albumTracks(ctx, id, cursor)
		}
	})
}

// albumTracks reads the album too, since its tracks do not name it. The album comes with the first page.
// https://developer.spotify.com/documentation/web-api/reference/get-an-albums-tracks
func (c *client) albumTracks(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	a, err := c.album(ctx, id)
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	first := a.V.Tracks.V
	next, err := first.cursor(ctx)
	if cursor != "" || !first.Items.Here() {
		first, next, err = list[item](ctx, c, c.get("albums", id, "tracks"), cursor)
	}
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	songs, err := tracks(ctx, "items", first.Items, func(i *item) { i.Album = &a.V })
	return providers.Page[schema.Track]{Items: songs, Next: next}, err
}

// patience is the time limit for optional data of episodes.
const patience = 3 * time.Second

// episodes reads the podcast too, for its name. The episodes are useful without it.
// https://developer.spotify.com/documentation/web-api/reference/get-a-shows-episodes
func (c *client) episodes(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	p, next, err := list[item](ctx, c, c.get("shows", id, "episodes"), cursor)
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := c.show(brief, id)
	if err != nil && ctx.Err() != nil {
		return providers.Page[schema.Track]{}, err
	}
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("artists", "album")
		s.V = show{}
	}
	all, err := tracks(ctx, "items", p.Items, func(i *item) { i.Type, i.Show = "episode", &s.V })
	return providers.Page[schema.Track]{Items: all, Next: next}, err
}

func (c *client) show(ctx context.Context, id string) (wire.Object[show], error) {
	var s wire.Object[show]
	if _, err := c.http.Read(ctx, c.get("shows", id), &s); err != nil {
		return s, err
	}
	return s, wire.Same(ctx, "show", id, string(s.V.ID))
}

// playlistTracks reads the address for apps with extended quota and, if that is refused, the one for apps in
// development mode, which only serves their owner's playlists.
// https://developer.spotify.com/documentation/web-api/reference/get-playlists-items
func (c *client) playlistTracks(ctx context.Context, id, cursor string) (providers.Page[schema.Track], error) {
	read := func(last string) (page[entry], string, error) {
		return list[entry](ctx, c, c.get("playlists", id, last).With("additional_types", "track,episode"), cursor)
	}
	p, next, err := read("tracks")
	if errors.Is(err, errForbidden) {
		p, next, err = read("items")
	}
	if errors.Is(err, errForbidden) {
		err = providers.Unsupported("the tracks of this playlist need an app with extended quota at Spotify")
	}
	if err != nil {
		return providers.Page[schema.Track]{}, err
	}
	all, err := items(ctx, "items", p.Items, entry.track)
	return providers.Page[schema.Track]{Items: all, Next: next}, err
}

// entry is a row of a playlist.
type entry struct {
	IsLocal wire.Bool `json:"is_local"` // a file on its owner's disk
	Item    slot      `json:"item"`     // since 2026
	Track   slot      `json:"track"`    // before
}

// slot is the content of a row of a playlist. It is null when that was taken down.
type slot struct {
	wire.Object[item]
	gone bool
}

// UnmarshalJSON never fails.
func (s *slot) UnmarshalJSON(b []byte) error {
	s.gone = string(b) == "null"
	return s.Object.UnmarshalJSON(b)
}

// track reports whether e belongs: local files and what was taken down do not. An empty row is malformed, and becomes
// the zero track, which breaks the schema.
func (e entry) track(raw json.RawMessage) (schema.Track, bool) {
	in := e.Item
	if !in.Here() {
		in = e.Track
	}
	if !in.Here() {
		return schema.Track{}, !e.Item.gone && !e.Track.gone
	}
	return in.V.track(raw), !e.IsLocal.Is() && !in.V.IsLocal.Is()
}

// playlist is the answer of GET /playlists/{id}.
// https://developer.spotify.com/documentation/web-api/reference/get-playlist
type playlist struct {
	ID          key      `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"` // HTML, "" or null when there is none
	External    external `json:"external_urls"`
	Images      images   `json:"images"`
	Owner       struct {
		ID          string `json:"id"`
		DisplayName string `json:"display_name"` // may be null
	} `json:"owner"`
	Items  total `json:"items"`  // since 2026
	Tracks total `json:"tracks"` // before
}

type total struct {
	Total wire.Count `json:"total"`
}

func (p playlist) collection(raw json.RawMessage) schema.Collection {
	out := schema.Collection{
		Common:      schema.Common{ID: string(p.ID), URL: p.External.page("playlist", p.ID), Raw: raw},
		Kind:        schema.Playlist,
		Title:       p.Name,
		Description: text.NonEmpty(text.FromHTML(p.Description)),
		CoverURL:    p.Images.widest(),
		ItemsCount:  cmp.Or(p.Items.Total.V, p.Tracks.Total.V),
	}
	if o := p.Owner; o.ID != "" {
		out.Owner = &schema.Actor{ID: o.ID, Handle: o.ID, DisplayName: text.NonEmpty(o.DisplayName)}
	}
	return out
}

// show is the answer of GET /shows/{id}: a podcast.
// https://developer.spotify.com/documentation/web-api/reference/get-a-show
type show struct {
	ID            key        `json:"id"`
	Name          string     `json:"name"`
	Description   string     `json:"description"` // plain text
	External      external   `json:"external_urls"`
	Images        images     `json:"images"`
	TotalEpisodes wire.Count `json:"total_episodes"`
	Episodes      total      `json:"episodes"` // the first page; absent from lists
}

func (s show) collection(raw json.RawMessage) schema.Collection {
	return schema.Collection{
		Common:      schema.Common{ID: string(s.ID), URL: s.External.page("show", s.ID), Raw: raw},
		Kind:        schema.Podcast,
		Title:       s.Name,
		Description: text.NonEmpty(s.Description),
		ItemsCount:  cmp.Or(s.TotalEpisodes.V, s.Episodes.Total.V),
		CoverURL:    s.Images.widest(),
	}
}
