package soundcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// mostEmpty is how many empty pages with a next one are skipped.
const mostEmpty = 5

// list is a page of objects.
// https://developers.soundcloud.com/docs/api/guide#pagination
type list[T any] struct {
	Collection wire.Rows[T] `json:"collection"`
	NextHref   wire.Token   `json:"next_href"` // null or absent on the last page
	Total      wire.Count   `json:"total_results"`
}

// part is the result of read: rows, and the cursor after them.
type part[T any] struct {
	rows  wire.Rows[T]
	next  string
	total *int64 // nil except in searches of the website
}

// witnessed returns an error unless p may be empty: the website's API is not documented. cursor is the cursor of p, and
// count returns the number of all rows, nil when it is unknown.
func (p part[T]) witnessed(ctx context.Context, cursor string, count *int64) error {
	return wire.Witness{
		Rows: p.rows.Len(), Count: count, Cursor: cursor, Last: p.next == "", More: p.next != "", Gaps: true,
	}.Check(ctx, "collection")
}

// decode decodes a page, which older answers write as a bare array. An array without rows is refused, because requests
// ask for the newer form.
func decode[T any](ctx context.Context, body []byte) (l list[T], err error) {
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("[")) {
		if err := wire.Decode(ctx, body, &l.Collection); err != nil {
			return l, err
		}
		if err := wire.Need(ctx, "collection", l.Collection.Len()+l.Collection.Lost() > 0); err != nil {
			return l, err
		}
	} else if err := wire.Decode(ctx, body, &l); err != nil {
		return l, err
	}
	return l, l.Collection.Check(ctx, "collection")
}

// read reads the page at a cursor, and the following ones while they are empty. A cursor holds those parameters of a
// next link that are not ours.
func read[T any](ctx context.Context, c *upstream.Client, r upstream.Request, cursor string) (part[T], error) {
	var none part[T]
	for range mostEmpty {
		asked, err := from(r, cursor)
		if err != nil {
			return none, err
		}
		res, err := c.Do(ctx, asked)
		if err != nil {
			return none, err
		}
		l, err := decode[T](ctx, res.Body)
		if err != nil {
			return none, err
		}
		after, err := next(ctx, l.NextHref, r)
		if err != nil {
			return none, err
		}
		if after == cursor { // it leads back to the same page
			after = ""
		}
		if l.Collection.Len() > 0 || after == "" {
			return part[T]{l.Collection, after, l.Total.V}, nil
		}
		cursor = after
	}
	return part[T]{next: cursor}, nil // SoundCloud says that there is more, so the caller may continue
}

// from returns r at a cursor.
func from(r upstream.Request, cursor string) (upstream.Request, error) {
	at, err := url.ParseQuery(cursor)
	if err != nil {
		return r, providers.ErrCursor
	}
	asked := r
	for name := range at {
		if r.Query.Has(name) || slices.Contains(secret, name) {
			return r, providers.ErrCursor
		}
		asked = asked.With(name, at.Get(name))
	}
	return asked, nil
}

// made makes a page of the result of read. At the end, an empty list becomes an empty page, since it has been checked.
func made[T, O any](
	ctx context.Context, p part[T], err error, convert func(v T, raw json.RawMessage) (O, bool),
) (page providers.Page[O], _ error) {
	if err != nil || !p.rows.Here() {
		page.Next = p.next
		return page, err
	}
	items, err := wire.Items(ctx, "collection", p.rows, convert)
	return providers.Page[O]{Items: items, Next: p.next}, err
}

// secret are parameters that a next link may contain and a cursor must not.
var secret = append([]string{"app_version", "app_locale"}, credentials...)

// next returns the cursor of a next link: the parameters that its query has in addition to r's. A link to another list
// is refused.
func next(ctx context.Context, href wire.Token, r upstream.Request) (string, error) {
	link, err := href.Next(ctx, "next_href")
	if err != nil || link == "" {
		return "", err
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", providers.Unreadable(errNextHref) // the text of err contains the link, and with it a key
	}
	if bare(strings.Split(strings.Trim(u.Path, "/"), "/")) != bare(r.Path) {
		return "", nil
	}
	more := u.Query()
	for name := range more {
		if r.Query.Has(name) || slices.Contains(secret, name) {
			more.Del(name)
		}
	}
	return more.Encode(), nil
}

var errNextHref = providers.Cause("soundcloud: next_href is not a link")

// bare returns a path with numbers instead of URNs, either of which may be in it.
func bare(segments []string) string {
	out := make([]string, len(segments))
	for i, s := range segments {
		out[i] = tail(s)
	}
	return strings.Join(out, "/")
}

// tail returns the last part of a URN: the number, also when it is misspelt. Anything else is returned unchanged.
func tail(urn string) string { return urn[strings.LastIndexByte(urn, ':')+1:] }

// date parses both forms of a time: the official API's and the website's.
func date(s string) *time.Time { return dates.Parse(s, "2006/01/02 15:04:05 -0700", time.RFC3339) }
