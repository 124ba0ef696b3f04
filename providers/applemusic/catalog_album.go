package applemusic

import (
	"context"
	"fmt"
	"slices"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *catalog) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	albums, next, err := c.albums(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("apple_music_catalog: posts of %q: %w", handle, err)
	}
	page := providers.Page[schema.Post]{Next: next}
	for _, r := range albums {
		page.Items = append(page.Items, r.V.post(c.storefront, r.Raw))
	}
	return page, nil
}

func (c *catalog) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	albums, next, err := c.albums(ctx, q.Handle, cursor)
	if err != nil {
		return providers.Page[schema.Collection]{}, fmt.Errorf("apple_music_catalog: collections of %q: %w", q.Handle, err)
	}
	page := providers.Page[schema.Collection]{Next: next}
	for _, r := range albums {
		page.Items = append(page.Items, r.V.collection(c.storefront, r.Raw))
	}
	return page, nil
}

// mostAlbums is how many pages of 100 of an artist's albums are read in order to sort them.
const mostAlbums = 5

// albums reads all of an artist's albums and sorts them, for Apple lists them in an order of its own.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-artist's-relationship-directly-by-name
func (c *catalog) albums(ctx context.Context, handle, cursor string) ([]upstream.Object[resource], string, error) {
	id := handle
	if !links.Digits(handle) {
		r, err := c.named(ctx, handle)
		if err != nil {
			return nil, "", err
		}
		id = r.V.ID
	}
	var all []upstream.Object[resource]
	offset := ""
	for range mostAlbums {
		l, err := c.list(ctx, c.get("artists", id, "albums").With("limit", "100"), offset)
		if err != nil {
			return nil, "", err
		}
		all = append(all, l.Data...)
		if offset = l.next(); offset == "" {
			break
		}
	}
	slices.SortStableFunc(all, byRelease)
	return pages.Cut(all, cursor, pageSize)
}

// byRelease orders albums, the newest first.
func byRelease(a, b upstream.Object[resource]) int {
	return dates.Newest(dates.Release(a.V.Attributes.ReleaseDate), dates.Release(b.V.Attributes.ReleaseDate))
}

func (c *catalog) post(ctx context.Context, id string) (schema.Post, error) {
	r, err := c.one(ctx, c.get("albums", id))
	if err != nil {
		return schema.Post{}, fmt.Errorf("apple_music_catalog: post %q: %w", id, err)
	}
	return r.V.post(c.storefront, r.Raw), nil
}

// collection reads an album or a playlist.
// https://developer.apple.com/documentation/applemusicapi/get-a-catalog-playlist
func (c *catalog) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	r, err := c.request(q)
	var found upstream.Object[resource]
	if err == nil {
		found, err = c.one(ctx, r)
	}
	if err != nil {
		return schema.Collection{}, fmt.Errorf("apple_music_catalog: collection %q: %w", q.ID, err)
	}
	return found.V.collection(c.storefront, found.Raw), nil
}

func (c *catalog) request(q providers.CollectionQuery, last ...string) (upstream.Request, error) {
	kind, err := kindOf(q)
	what := "albums"
	if kind == schema.Playlist {
		what = "playlists"
	}
	return c.get(append([]string{what, q.ID}, last...)...), err
}

func (c *catalog) collectionTracks(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	var page providers.Page[schema.Track]
	r, err := c.request(q, "tracks")
	var l *list
	if err == nil {
		l, err = c.list(ctx, r.With("limit", "100"), cursor)
	}
	if err != nil {
		return page, fmt.Errorf("apple_music_catalog: tracks of %q: %w", q.ID, err)
	}
	page.Next = l.next()
	for _, o := range l.Data {
		if o.V.Type == "songs" || o.V.Type == "music-videos" {
			page.Items = append(page.Items, o.V.track(c.storefront, o.Raw))
		}
	}
	return page, nil
}
