package applemusic

import (
	"context"
	"fmt"
	"slices"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	albums, next, err := c.albums(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("apple_music: posts of %q: %w", handle, err)
	}
	page := providers.Page[schema.Post]{Next: next}
	for _, r := range albums {
		page.Items = append(page.Items, r.V.post(c.country, r.Raw))
	}
	return page, nil
}

func (c *client) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	albums, next, err := c.albums(ctx, q.Handle, cursor)
	if err != nil {
		return providers.Page[schema.Collection]{}, fmt.Errorf("apple_music: collections of %q: %w", q.Handle, err)
	}
	page := providers.Page[schema.Collection]{Next: next}
	for _, r := range albums {
		page.Items = append(page.Items, r.V.collection(c.country, r.Raw))
	}
	return page, nil
}

// albums reads all of an artist's albums and sorts them: sort=recent is no strict order. Some are of a group that the
// artist plays in.
func (c *client) albums(ctx context.Context, handle, cursor string) ([]upstream.Object[row], string, error) {
	id, err := c.artistID(ctx, handle)
	if err != nil {
		return nil, "", err
	}
	_, rows, err := c.lookup(ctx, id, "artist", "album")
	if err != nil {
		return nil, "", err
	}
	rows = keep(rows, row.isAlbum)
	slices.SortStableFunc(rows, func(a, b upstream.Object[row]) int {
		return dates.Newest(dates.Release(a.V.ReleaseDate), dates.Release(b.V.ReleaseDate))
	})
	return pages.Cut(rows, cursor, pageSize)
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	r, _, err := c.lookup(ctx, id, "collection", "")
	if err != nil {
		return schema.Post{}, fmt.Errorf("apple_music: post %q: %w", id, err)
	}
	return r.V.post(c.country, r.Raw), nil
}

func (c *client) collection(ctx context.Context, q providers.CollectionQuery) (schema.Collection, error) {
	err := albumsOnly(q)
	var r upstream.Object[row]
	if err == nil {
		r, _, err = c.lookup(ctx, q.ID, "collection", "")
	}
	if err != nil {
		return schema.Collection{}, fmt.Errorf("apple_music: collection %q: %w", q.ID, err)
	}
	return r.V.collection(c.country, r.Raw), nil
}

func (c *client) collectionTracks(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	page, err := c.songs(ctx, q, cursor)
	if err != nil {
		return page, fmt.Errorf("apple_music: tracks of %q: %w", q.ID, err)
	}
	return page, nil
}

func (c *client) songs(ctx context.Context, q providers.CollectionQuery, cursor string) (providers.Page[schema.Track], error) {
	var page providers.Page[schema.Track]
	if err := albumsOnly(q); err != nil {
		return page, err
	}
	_, rows, err := c.lookup(ctx, q.ID, "collection", "song")
	if err != nil {
		return page, err
	}
	songs, next, err := pages.Cut(keep(rows, row.isTrack), cursor, pageSize)
	if err != nil {
		return page, err
	}
	for _, r := range songs {
		page.Items = append(page.Items, r.V.track(c.country, r.Raw))
	}
	page.Next = next
	return page, nil
}

// albumsOnly leaves playlists to the Apple Music interface.
func albumsOnly(q providers.CollectionQuery) error {
	kind, err := kindOf(q)
	if err == nil && kind == schema.Playlist {
		return providers.Unsupported("Apple Music playlists need the setting developer_token")
	}
	return err
}

// kindOf tells albums from playlists, whose ids begin with pl.
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

func (r row) post(country string, raw []byte) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: string(r.CollectionID), URL: r.albumURL(country), Raw: raw},
		Author:    r.actor(),
		Text:      r.CollectionName,
		CreatedAt: dates.Release(r.ReleaseDate),
	}
	if cover := r.cover("600x600bb"); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: r.cover("100x100bb")}}
	}
	return p
}

func (r row) collection(country string, raw []byte) schema.Collection {
	owner := r.actor()
	return schema.Collection{
		Common:     schema.Common{ID: string(r.CollectionID), URL: r.albumURL(country), Raw: raw},
		Kind:       schema.Album,
		Title:      r.CollectionName,
		Owner:      &owner,
		ItemsCount: r.TrackCount,
		CoverURL:   r.cover("600x600bb"),
		CreatedAt:  dates.Release(r.ReleaseDate),
	}
}

func (r row) albumURL(country string) string {
	if u := link(r.CollectionURL); u != "" {
		return u
	}
	return "https://music.apple.com/" + country + "/album/" + string(r.CollectionID)
}
