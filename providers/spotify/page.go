package spotify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// page is one page of a list.
// https://developer.spotify.com/documentation/web-api/concepts/api-calls#pagination
type page[T any] struct {
	Items  rows[T]    `json:"items"`
	Offset wire.Count `json:"offset"`
	Limit  wire.Count `json:"limit"`
	Total  wire.Count `json:"total"`
	Next   wire.Token `json:"next"` // a URL; only its presence matters
}

// next returns the offset of the page after p, 0 when p is the last. It uses the size that Spotify gives for p, because
// pages may be smaller than requested.
func (p page[T]) next(ctx context.Context) (int64, error) {
	more, err := p.Next.Next(ctx, "next")
	if err != nil || more == "" {
		return 0, err
	}
	if err := wire.Need(ctx, "offset", p.Offset.V != nil); err != nil {
		return 0, err
	}
	size := int64(p.Items.Len() + p.Items.Lost())
	if p.Limit.V != nil && *p.Limit.V > 0 {
		size = *p.Limit.V
	}
	return *p.Offset.V + size, wire.Need(ctx, "limit", size > 0)
}

// cursor returns [page.next] as a cursor.
func (p page[T]) cursor(ctx context.Context) (string, error) {
	n, err := p.next(ctx)
	if err != nil || n == 0 {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

// rows are the rows of a page. A row may be null if Spotify withholds it.
type rows[T any] struct{ wire.Rows[T] }

// withheld replaces a null row: it keeps its position, and does not count as malformed. Spotify's own rows never look
// like this.
const withheld = `{"withheld":null}`

// UnmarshalJSON never fails.
func (r *rows[T]) UnmarshalJSON(b []byte) error {
	if bytes.Contains(b, []byte("null")) && bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		var parts [][]byte
		for row := range wire.Split(b) {
			if string(row) == "null" {
				row = []byte(withheld)
			}
			if parts = append(parts, row); len(parts) > wire.MaxRows {
				break // one is lost, as in any list
			}
		}
		b = bytes.Join([][]byte{[]byte("["), bytes.Join(parts, []byte(",")), []byte("]")}, nil)
	}
	return r.Rows.UnmarshalJSON(b)
}

// items converts rows, without those that Spotify withholds and those that do not belong.
func items[T, O any](
	ctx context.Context, name string, r rows[T], convert func(v T, raw json.RawMessage) (O, bool),
) ([]O, error) {
	return wire.Items(ctx, name, r.Rows, func(v T, raw json.RawMessage) (O, bool) {
		o, belongs := convert(v, raw)
		return o, belongs && string(raw) != withheld
	})
}

// list reads the page at a cursor, which is an offset.
func list[T any](ctx context.Context, c *client, r upstream.Request, cursor string) (page[T], string, error) {
	var p page[T]
	if cursor != "" && !isOffset(cursor) {
		return p, "", providers.ErrCursor
	}
	if _, err := c.http.Read(ctx, r.With("limit", strconv.Itoa(pageLimit)).With("offset", cursor), &p); err != nil {
		return p, "", err
	}
	if err := p.Items.Check(ctx, "items"); err != nil {
		return p, "", err
	}
	next, err := p.cursor(ctx)
	return p, next, err
}

func isOffset(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0
}

// limited reads a list whose page size depends on the app's mode. If the page size is refused, it retries once with the
// smaller one.
func (c *client) limited(ctx context.Context, r upstream.Request, dst any) error {
	_, err := c.http.Read(ctx, r.With("limit", strconv.Itoa(c.limit)), dst)
	if errors.Is(err, errLimit) && c.limit > devLimit {
		_, err = c.http.Read(ctx, r.With("limit", strconv.Itoa(devLimit)), dst)
	}
	return err
}

// key is the id of an artist, an album or anything else but a person: 22 letters and digits. It is "" when there is
// none.
type key string

// UnmarshalJSON never fails.
func (k *key) UnmarshalJSON(b []byte) error {
	var s string
	if *k = ""; json.Unmarshal(b, &s) == nil && id.MatchString(s) {
		*k = key(s)
	}
	return nil
}

// external holds the public address of an object.
type external struct {
	Spotify string `json:"spotify"`
}

// page returns the address of the public page of an object.
func (e external) page(kind string, id key) string {
	return text.URLOr(e.Spotify, "https://open.spotify.com/"+kind+"/"+string(id))
}

// images are one picture in several sizes, in any order; null when there is none.
type images []struct {
	URL   string     `json:"url"`
	Width wire.Float `json:"width"` // null on playlists
}

func (is images) widest() *string {
	var url string
	best := -1.0
	for _, i := range is {
		w := 0.0
		if i.Width.V != nil {
			w = *i.Width.V
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
		if i.Width.V != nil && (best.Width.V == nil || *i.Width.V < *best.Width.V) {
			best = i
		}
	}
	return text.URL(best.URL)
}
