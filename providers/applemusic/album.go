package applemusic

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return albums(ctx, c, handle, cursor, row.post, func(p schema.Post) *time.Time { return p.CreatedAt })
}

func (c *client) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	return albums(ctx, c, q.Handle, cursor, row.collection, func(a schema.Collection) *time.Time { return a.CreatedAt })
}

// albums reads all of an artist's albums and sorts them, because Apple's sort=recent is not strictly by date. Some
// belong to a group that the artist is a member of.
func albums[T any](
	ctx context.Context, c *client, handle, cursor string, convert func(r row, in store, raw json.RawMessage) T, date func(T) *time.Time,
) (page providers.Page[T], err error) {
	in, id := storeOf(c.markets, handle)
	if id, err = c.artistID(ctx, in, id); err != nil {
		return page, err
	}
	_, rows, err := c.lookup(ctx, in, id, "artist", "album")
	if err != nil {
		return page, err
	}
	return cut(ctx, rows, cursor, row.isAlbum, func(r row, raw json.RawMessage) T { return convert(r, in, raw) }, date)
}

// cut makes a page of the rows that belong. A row of unknown type becomes an object without an id, which violates the
// schema. The newest come first if the objects have dates.
func cut[T any](
	ctx context.Context, rows wire.Rows[row], cursor string, belongs func(row) bool, convert func(r row, raw json.RawMessage) T,
	date func(T) *time.Time,
) (page providers.Page[T], err error) {
	items, err := wire.Items(ctx, "results", rows, func(r row, raw json.RawMessage) (T, bool) {
		if r.odd() {
			return convert(row{}, raw), true
		}
		return convert(r, raw), belongs(r)
	})
	if err != nil {
		return page, err
	}
	if date != nil {
		slices.SortStableFunc(items, func(a, b T) int { return dates.Newest(date(a), date(b)) })
	}
	page.Items, page.Next, err = pages.Cut(items, cursor, pageSize)
	return page, err
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	in, id := storeOf(c.markets, id)
	r, _, err := c.lookup(ctx, in, id, "collection", "")
	if err != nil {
		return schema.Post{}, err
	}
	return r.V.post(in, r.Raw), nil
}

// postsByID reads albums by their ids.
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	found, err := c.lookups(ctx, ids)
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		in, r, err := found.of(ctx, id, "collection")
		if err != nil {
			return schema.Post{}, err
		}
		return r.V.post(in, r.Raw), nil
	})
}

// collectionsByID reads albums by their ids; playlists are read by collection.
func (c *client) collectionsByID(ctx context.Context, ids []string, q providers.CollectionQuery) (map[string]schema.Collection, error) {
	found, err := c.lookups(ctx, ids)
	return providers.PerKey(ids, err, func(id string) (schema.Collection, error) {
		_, q.ID = storeOf(c.markets, id)
		if err := albumsOnly(q); err != nil {
			return schema.Collection{}, err
		}
		in, r, err := found.of(ctx, id, "collection")
		if err != nil {
			return schema.Collection{}, err
		}
		return r.V.collection(in, r.Raw), nil
	})
}

func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	in, id := storeOf(c.markets, q.ID)
	q.ID = id
	if err := albumsOnly(q); err != nil {
		return schema.Collection{}, err
	}
	r, _, err := c.lookup(ctx, in, id, "collection", "")
	if err != nil {
		return schema.Collection{}, err
	}
	return r.V.collection(in, r.Raw), nil
}

func (c *client) collectionTracks(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Track], err error) {
	in, id := storeOf(c.markets, q.ID)
	q.ID = id
	if err := albumsOnly(q); err != nil {
		return page, err
	}
	_, rows, err := c.lookup(ctx, in, id, "collection", "song")
	if err != nil {
		return page, err
	}
	return cut(ctx, rows, cursor, row.isTrack, func(r row, raw json.RawMessage) schema.Track { return r.track(in, raw) }, nil)
}

// albumsOnly refuses playlists, which only the Apple Music API has.
func albumsOnly(q providers.CollectionQuery) error {
	kind, err := kindOf(q)
	if err != nil {
		return err
	}
	if kind == schema.Playlist {
		return providers.Unsupported("Apple Music playlists need the setting developer_token")
	}
	return nil
}

// kindOf distinguishes albums from playlists, whose ids begin with pl.
func kindOf(q providers.CollectionQuery) (schema.CollectionKind, error) {
	kind := schema.Album
	if playlistID.MatchString(q.ID) {
		kind = schema.Playlist
	}
	if q.Kind != "" && q.Kind != kind {
		return kind, providers.Invalid("kind is %s, but the id is that of an Apple Music %s", q.Kind, kind)
	}
	return kind, nil
}

func (r row) post(in store, raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: in.id(string(r.CollectionID)), URL: r.albumURL(in), Raw: raw},
		Author:    r.actor(in),
		Text:      r.CollectionName,
		CreatedAt: dates.Release(r.ReleaseDate),
	}
	if cover := r.cover("600x600bb"); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: r.cover("100x100bb")}}
	}
	return p
}

func (r row) collection(in store, raw json.RawMessage) schema.Collection {
	owner := r.actor(in)
	return schema.Collection{
		Common:     schema.Common{ID: in.id(string(r.CollectionID)), URL: r.albumURL(in), Raw: raw},
		Kind:       schema.Album,
		Title:      r.CollectionName,
		Owner:      &owner,
		ItemsCount: r.TrackCount.V,
		CoverURL:   r.cover("600x600bb"),
		CreatedAt:  dates.Release(r.ReleaseDate),
	}
}

func (r row) albumURL(in store) string {
	if u := link(r.CollectionURL); u != "" {
		return u
	}
	return in.page("album/" + string(r.CollectionID))
}
