package applemusic

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *catalog) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return discography(ctx, c, handle, cursor, resource.post, func(p schema.Post) *time.Time { return p.CreatedAt })
}

func (c *catalog) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	created := func(a schema.Collection) *time.Time { return a.CreatedAt }
	return discography(ctx, c, q.Handle, cursor, resource.album, created)
}

// mostAlbums is the maximum number of pages, of 100 albums each, that are read to sort an artist's albums.
const mostAlbums = 5

// discography reads all of an artist's albums and sorts them, because Apple does not sort them by date.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-artist's-relationship-directly-by-name
func discography[T any](
	ctx context.Context, c *catalog, handle, cursor string, convert func(r resource, in store, raw json.RawMessage) T,
	date func(T) *time.Time,
) (page providers.Page[T], err error) {
	in, id := storeOf(c.markets, handle)
	if !links.Digits(id) {
		r, err := c.named(ctx, in, id)
		if err != nil {
			return page, err
		}
		id = string(r.V.ID)
	}
	var all []T
	offset := ""
	for range mostAlbums {
		l, err := c.list(ctx, get(in.country, "artists", id, "albums").With("limit", listLimit), offset)
		if err != nil {
			return page, err
		}
		some, err := wire.Items(ctx, "data", l.Data, func(r resource, raw json.RawMessage) (T, bool) {
			return convert(r, in, raw), r.may("albums")
		})
		if err != nil {
			return page, err
		}
		all = append(all, some...)
		if offset, err = l.next(ctx); err != nil {
			return page, err
		}
		if offset == "" {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b T) int { return dates.Newest(date(a), date(b)) })
	page.Items, page.Next, err = pages.Cut(all, cursor, pageSize)
	return page, err
}

func (c *catalog) post(ctx context.Context, id string) (schema.Post, error) {
	in, id := storeOf(c.markets, id)
	r, err := c.one(ctx, "albums", in, id)
	if err != nil {
		return schema.Post{}, err
	}
	return r.V.post(in, r.Raw), nil
}

// collection reads an album or a playlist.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-playlist
func (c *catalog) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	in, id := storeOf(c.markets, q.ID)
	q.ID = id
	what, err := whatOf(q)
	if err != nil {
		return schema.Collection{}, err
	}
	found, err := c.one(ctx, what, in, id)
	if err != nil {
		return schema.Collection{}, err
	}
	if what == "playlists" {
		return found.V.playlist(in, found.Raw), nil
	}
	return found.V.album(in, found.Raw), nil
}

// whatOf returns Apple's name for the requested kind of object.
func whatOf(q providers.CollectionQuery) (string, error) {
	kind, err := kindOf(q)
	if kind == schema.Playlist {
		return "playlists", err
	}
	return "albums", err
}

func (c *catalog) collectionTracks(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Track], err error) {
	in, id := storeOf(c.markets, q.ID)
	q.ID = id
	what, err := whatOf(q)
	if err != nil {
		return page, err
	}
	l, err := c.list(ctx, get(in.country, what, id, "tracks").With("limit", listLimit), cursor)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "data", l.Data, func(r resource, raw json.RawMessage) (schema.Track, bool) {
		return r.track(in, raw), r.may("songs", "music-videos")
	})
	if err != nil {
		return page, err
	}
	page.Next, err = l.next(ctx)
	return page, err
}

// track reads a song.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-song
func (c *catalog) track(ctx context.Context, id string) (schema.Track, error) {
	in, id := storeOf(c.markets, id)
	r, err := c.one(ctx, "songs", in, id)
	if err != nil {
		return schema.Track{}, err
	}
	return r.V.track(in, r.Raw), nil
}
