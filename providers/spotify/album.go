package spotify

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	albums, artist, next, err := c.discography(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("spotify: posts of %q: %w", handle, err)
	}
	page := providers.Page[schema.Post]{Next: next}
	for _, a := range albums {
		page.Items = append(page.Items, a.V.post(artist, a.Raw))
	}
	return page, nil
}

func (c *client) collections(ctx context.Context, q providers.CollectionsQuery, cursor string) (providers.Page[schema.Collection], error) {
	albums, artist, next, err := c.discography(ctx, q.Handle, cursor)
	if err != nil {
		return providers.Page[schema.Collection]{}, fmt.Errorf("spotify: collections of %q: %w", q.Handle, err)
	}
	page := providers.Page[schema.Collection]{Next: next}
	for _, a := range albums {
		page.Items = append(page.Items, a.V.collection(artist, a.Raw))
	}
	return page, nil
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	a, err := c.album(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("spotify: post %q: %w", id, err)
	}
	return a.V.post("", a.Raw), nil
}

func (c *client) album(ctx context.Context, id string) (upstream.Object[album], error) {
	var a upstream.Object[album]
	_, err := c.http.JSON(ctx, c.get("albums", id), &a)
	return a, err
}

// groups are the lists that an artist's albums come in. Each is newest first; asked for together they would come one
// behind the other.
var groups = [...]string{"album", "single", "compilation"}

// largestPage is how many albums one page may hold; the shortest is what Spotify's own pages hold.
const largestPage = 50

// shelf is one group's page, taken from the front.
type shelf struct {
	rows   []upstream.Object[album]
	offset int64 // of the first row
	next   int64 // of the page behind, 0 when there is none
}

// head returns the front row's date and whether there is a front row. A row that is null or has no date goes at once, so
// that it holds up nothing behind it.
func (s *shelf) head() (time.Time, bool) {
	if len(s.rows) == 0 {
		return time.Time{}, false
	}
	if t := dates.Release(s.rows[0].V.ReleaseDate); t != nil {
		return *t, true
	}
	return farFuture, true
}

var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// discography reads an artist's albums, newest first over all groups. The cursor holds one offset a group, "-" for one
// that has ended.
func (c *client) discography(ctx context.Context, handle, cursor string) (albums []upstream.Object[album], artist, next string, err error) {
	if cursor == "" {
		cursor = "0.0.0"
	}
	at := strings.Split(cursor, ".")
	if len(at) != len(groups) {
		return nil, "", "", providers.ErrCursor
	}
	if artist, err = c.artistID(ctx, handle); err != nil {
		return nil, "", "", err
	}
	var shelves [len(groups)]shelf
	g, gctx := errgroup.WithContext(ctx)
	for i, group := range groups {
		if at[i] != "-" {
			g.Go(func() error { return c.fill(gctx, &shelves[i], artist, group, at[i]) })
		}
	}
	if err := g.Wait(); err != nil {
		return nil, "", "", err
	}
	albums = merge(shelves[:])
	ends := make([]string, len(shelves))
	for i, s := range shelves {
		switch {
		case len(s.rows) > 0:
			ends[i] = strconv.FormatInt(s.offset, 10)
		case s.next > 0:
			ends[i] = strconv.FormatInt(s.next, 10)
		default:
			ends[i] = "-"
		}
	}
	if next = strings.Join(ends, "."); next == "-.-.-" {
		next = ""
	}
	return albums, artist, next, nil
}

// fill reads one group's page.
// https://developer.spotify.com/documentation/web-api/reference/get-an-artists-albums
func (c *client) fill(ctx context.Context, s *shelf, artist, group, offset string) error {
	if !isOffset(offset) {
		return providers.ErrCursor
	}
	var p page[album]
	r := c.get("artists", artist, "albums").With("include_groups", group).With("offset", offset)
	if err := c.limited(ctx, r, &p); err != nil {
		return err
	}
	if p.Items == nil {
		return providers.Unreadable(errNoList)
	}
	s.rows, s.next = p.Items, p.next()
	s.offset, _ = strconv.ParseInt(offset, 10, 64)
	return nil
}

// merge takes the newest front row until a shelf runs out of rows that has more to come, for what comes then is not
// known yet.
func merge(shelves []shelf) []upstream.Object[album] {
	var out []upstream.Object[album]
	for len(out) < largestPage {
		var newest *shelf
		var date time.Time
		for i := range shelves {
			if t, ok := shelves[i].head(); ok && (newest == nil || t.After(date)) {
				newest, date = &shelves[i], t
			}
		}
		if newest == nil {
			break
		}
		if row := newest.rows[0]; row.V.ID != "" {
			out = append(out, row)
		}
		newest.rows, newest.offset = newest.rows[1:], newest.offset+1
		if len(newest.rows) == 0 && newest.next > 0 {
			break
		}
	}
	// A group is not always in order itself.
	slices.SortStableFunc(out, func(a, b upstream.Object[album]) int {
		return dates.Newest(dates.Release(a.V.ReleaseDate), dates.Release(b.V.ReleaseDate))
	})
	return out
}

// album is the answer of GET /albums/{id}; in lists tracks is absent.
// https://developer.spotify.com/documentation/web-api/reference/get-an-album
type album struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"` // "" after a takedown
	External    external     `json:"external_urls"`
	Images      images       `json:"images"`
	Artists     []artist     `json:"artists"`
	ReleaseDate string       `json:"release_date"` // as precise as it is known: 1983, 1983-10 or 1983-10-14
	TotalTracks upstream.Int `json:"total_tracks"`
	Tracks      *page[item]  `json:"tracks"` // the first page
}

func (a album) post(artist string, raw []byte) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: a.ID, URL: a.External.page("album", a.ID), Raw: raw},
		Author:    actor(a.Artists, artist),
		Text:      a.Name,
		CreatedAt: dates.Release(a.ReleaseDate),
	}
	if cover := a.Images.widest(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: a.Images.narrowest()}}
	}
	return p
}

func (a album) collection(artist string, raw []byte) schema.Collection {
	owner := actor(a.Artists, artist)
	out := schema.Collection{
		Common:     schema.Common{ID: a.ID, URL: a.External.page("album", a.ID), Raw: raw},
		Kind:       schema.Album,
		Title:      a.Name,
		Owner:      &owner,
		ItemsCount: a.TotalTracks.V,
		CoverURL:   a.Images.widest(),
		CreatedAt:  dates.Release(a.ReleaseDate),
	}
	if out.ItemsCount == nil && a.Tracks != nil {
		out.ItemsCount = a.Tracks.Total.V
	}
	return out
}
