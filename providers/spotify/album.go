package spotify

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	albums, artist, next, err := c.discography(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, err
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
		return providers.Page[schema.Collection]{}, err
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
		return schema.Post{}, err
	}
	return a.V.post("", a.Raw), nil
}

func (c *client) album(ctx context.Context, id string) (wire.Object[album], error) {
	var a wire.Object[album]
	if _, err := c.http.Read(ctx, c.get("albums", id), &a); err != nil {
		return a, err
	}
	return a, wire.Same(ctx, "album", id, string(a.V.ID))
}

// groups are the lists of an artist's albums. Each is newest first; requested together they would come one after the
// other.
var groups = [...]string{"album", "single", "compilation"}

// largestPage is the most albums that one page may hold; the smallest is the size of Spotify's own pages.
const largestPage = 50

// shelf is one page of one group, consumed from the front.
type shelf struct {
	rows []placed
	next int64 // the offset of the next page, 0 when there is none
}

// placed is an album with its position in the whole list of its group.
type placed struct {
	wire.Object[album]
	offset int64
}

// head returns the date of the front row, and whether there is a front row. A null row, or one without a date, is
// output at once, so that it does not hold up the rows after it.
func (s *shelf) head() (time.Time, bool) {
	if len(s.rows) == 0 {
		return time.Time{}, false
	}
	if t := dates.Release(s.rows[0].V.ReleaseDate); t != nil {
		return *t, true
	}
	return farFuture, true
}

// place returns where the group continues: the offset of its remaining rows, "-" when there are none.
func (s *shelf) place() string {
	switch {
	case len(s.rows) > 0:
		return strconv.FormatInt(s.rows[0].offset, 10)
	case s.next > 0:
		return strconv.FormatInt(s.next, 10)
	}
	return "-"
}

var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// discography reads an artist's albums, newest first over all groups. The cursor holds one offset for each group, "-"
// for a finished one.
func (c *client) discography(ctx context.Context, handle, cursor string) (albums []wire.Object[album], artist, next string, err error) {
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
	for i := range shelves {
		ends[i] = shelves[i].place()
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
	err := c.limited(ctx, r, &p)
	if err != nil {
		return err
	}
	if err := p.Items.Check(ctx, "items"); err != nil {
		return err
	}
	first, _ := strconv.ParseInt(offset, 10, 64)
	for place, row := range p.Items.All() {
		s.rows = append(s.rows, placed{row, first + int64(place)})
	}
	s.next, err = p.next(ctx)
	return err
}

// merge takes the newest front row until a shelf with further pages runs out, because its next row is not known yet.
func merge(shelves []shelf) []wire.Object[album] {
	var out []wire.Object[album]
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
		if row := newest.rows[0]; string(row.Raw) != withheld {
			out = append(out, row.Object)
		}
		newest.rows = newest.rows[1:]
		if len(newest.rows) == 0 && newest.next > 0 {
			break
		}
	}
	// A group itself is not always sorted.
	slices.SortStableFunc(out, func(a, b wire.Object[album]) int {
		return dates.Newest(dates.Release(a.V.ReleaseDate), dates.Release(b.V.ReleaseDate))
	})
	return out
}

// album is the answer of GET /albums/{id}; in lists tracks is absent.
// https://developer.spotify.com/documentation/web-api/reference/get-an-album
type album struct {
	ID          key                     `json:"id"`
	Name        string                  `json:"name"` // "" after a takedown
	External    external                `json:"external_urls"`
	Images      images                  `json:"images"`
	Artists     []artist                `json:"artists"`
	ReleaseDate string                  `json:"release_date"` // to the known precision: 1983, 1983-10 or 1983-10-14
	TotalTracks wire.Count              `json:"total_tracks"`
	Tracks      wire.Object[page[item]] `json:"tracks"` // the first page
}

func (a album) post(artist string, raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: string(a.ID), URL: a.External.page("album", a.ID), Raw: raw},
		Author:    actor(a.Artists, artist),
		Text:      a.Name,
		CreatedAt: dates.Release(a.ReleaseDate),
	}
	if cover := a.Images.widest(); cover != nil {
		p.Media = []schema.Media{{Type: schema.Image, URL: *cover, ThumbnailURL: a.Images.narrowest()}}
	}
	return p
}

func (a album) collection(artist string, raw json.RawMessage) schema.Collection {
	owner := actor(a.Artists, artist)
	return schema.Collection{
		Common:     schema.Common{ID: string(a.ID), URL: a.External.page("album", a.ID), Raw: raw},
		Kind:       schema.Album,
		Title:      a.Name,
		Owner:      &owner,
		ItemsCount: cmp.Or(a.TotalTracks.V, a.Tracks.V.Total.V), // the first is absent from older answers
		CoverURL:   a.Images.widest(),
		CreatedAt:  dates.Release(a.ReleaseDate),
	}
}
