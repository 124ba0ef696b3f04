package spotify

import (
	"context"
	"errors"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// page is one page of a list. Entries may be null.
// https://developer.spotify.com/documentation/web-api/concepts/api-calls#pagination
type page[T any] struct {
	Items  []upstream.Object[T] `json:"items"`
	Offset upstream.Int         `json:"offset"`
	Limit  upstream.Int         `json:"limit"`
	Total  upstream.Int         `json:"total"`
	Next   *string              `json:"next"` // a URL; only whether it is there counts
}

// next returns the offset of the page behind p, 0 when p is the last. It takes Spotify's word for what p itself holds,
// because pages may be smaller than what was asked for.
func (p *page[T]) next() int64 {
	if p.Next == nil || len(p.Items) == 0 || p.Offset.V == nil {
		return 0
	}
	size := int64(len(p.Items))
	if p.Limit.V != nil && *p.Limit.V > 0 {
		size = *p.Limit.V
	}
	return *p.Offset.V + size
}

// errNoList says that an answer, though JSON, holds no list: to pass it on as an empty one would be a lie.
var errNoList = errors.New("spotify: the answer holds no list")

// list reads the page at a cursor, which is an offset.
func list[T any](ctx context.Context, c *client, r upstream.Request, cursor string) (*page[T], string, error) {
	if cursor != "" && !isOffset(cursor) {
		return nil, "", providers.ErrCursor
	}
	var p page[T]
	if _, err := c.http.JSON(ctx, r.With("limit", strconv.Itoa(pageLimit)).With("offset", cursor), &p); err != nil {
		return nil, "", err
	}
	if p.Items == nil {
		return nil, "", providers.Unreadable(errNoList)
	}
	return &p, p.cursor(), nil
}

func (p *page[T]) cursor() string {
	if n := p.next(); n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

func isOffset(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0
}

// limited reads a list whose page size depends on the app's mode; a page size that is refused is asked for once more at
// the smaller one.
func (c *client) limited(ctx context.Context, r upstream.Request, dst any) error {
	_, err := c.http.JSON(ctx, r.With("limit", strconv.Itoa(c.limit)), dst)
	if errors.Is(err, errLimit) && c.limit > devLimit {
		_, err = c.http.JSON(ctx, r.With("limit", strconv.Itoa(devLimit)), dst)
	}
	return err
}

// external is where an object can be seen.
type external struct {
	Spotify string `json:"spotify"`
}

// page returns the public page of an object.
func (e external) page(kind, id string) string {
	if u := text.URL(e.Spotify); u != nil {
		return *u
	}
	return "https://open.spotify.com/" + kind + "/" + id
}

// images are one picture in several sizes, in any order; null where there is none.
type images []struct {
	URL   string   `json:"url"`
	Width *float64 `json:"width"` // null on playlists
}

func (is images) widest() *string {
	var url string
	best := -1.0
	for _, i := range is {
		w := 0.0
		if i.Width != nil {
			w = *i.Width
		}
		if w > best {
			url, best = i.URL, w
		}
	}
	return text.URL(url)
}

// narrowest returns the smallest picture whose size is known, else the first.
func (is images) narrowest() *string {
	if len(is) == 0 {
		return nil
	}
	best := is[0]
	for _, i := range is[1:] {
		if i.Width != nil && (best.Width == nil || *i.Width < *best.Width) {
			best = i
		}
	}
	return text.URL(best.URL)
}
