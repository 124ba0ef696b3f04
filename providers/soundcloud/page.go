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
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// mostEmpty is how many empty pages with a next one are passed over.
const mostEmpty = 5

// list is a page of objects.
// https://developers.soundcloud.com/docs/api/guide#pagination
type list[T any] struct {
	Collection wire.Rows[T] `json:"collection"`
	NextHref   wire.Token   `json:"next_href"` // null or absent on the last page
}

// decode reads a page, which of old is a bare array; one without rows is no page of old, for those were asked for otherwise.
func decode[T any](ctx context.Context, body []byte) (l list[T], err error) {
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("[")) {
		if err = wire.Decode(ctx, body, &l.Collection); err == nil {
			err = wire.Need(ctx, "collection", l.Collection.Len()+l.Collection.Lost() > 0)
		}
	} else {
		err = wire.Decode(ctx, body, &l)
	}
	if err != nil {
		return l, err
	}
	return l, l.Collection.Check(ctx, "collection")
}

// read reads the page at a cursor, and those behind it while they are empty. A cursor holds those parameters of a next
// link that are not ours.
func read[T any](ctx context.Context, c *upstream.Client, r upstream.Request, cursor string) (wire.Rows[T], string, error) {
	var none wire.Rows[T]
	for range mostEmpty {
		asked, err := from(r, cursor)
		if err != nil {
			return none, "", err
		}
		res, err := c.Do(ctx, asked)
		if err != nil {
			return none, "", err
		}
		l, err := decode[T](ctx, res.Body)
		if err != nil {
			return none, "", err
		}
		after, err := next(ctx, l.NextHref, r)
		if err != nil {
			return none, "", err
		}
		if after == cursor { // it leads back
			after = ""
		}
		if l.Collection.Len() > 0 || after == "" {
			return l.Collection, after, nil
		}
		cursor = after
	}
	return none, cursor, nil // SoundCloud says that there is more: the caller may go on
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

// made makes a page of what read has read. When nothing more is there, an empty list is one: it has been checked.
func made[T, O any](
	ctx context.Context, rows wire.Rows[T], next string, err error, convert func(v T, raw json.RawMessage) (O, bool),
) (page providers.Page[O], _ error) {
	if err != nil || !rows.Here() {
		page.Next = next
		return page, err
	}
	items, err := wire.Items(ctx, "collection", rows, convert)
	return providers.Page[O]{Items: items, Next: next}, err
}

// secret are parameters that a next link may carry and a cursor must not.
var secret = append([]string{"app_version", "app_locale"}, credentials...)

// next returns the cursor of a next link: what its query has more than r's. A link to another list is none of ours.
func next(ctx context.Context, href wire.Token, r upstream.Request) (string, error) {
	link, err := href.Next(ctx, "next_href")
	if err != nil || link == "" {
		return "", err
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", providers.Unreadable(errNextHref) // the text of err holds the link, and with it a key
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

var errNextHref = providers.Cause("soundcloud: next_href is no link")

// bare writes a path with numbers in place of URNs, either of which may stand in it.
func bare(segments []string) string {
	out := make([]string, len(segments))
	for i, s := range segments {
		out[i] = tail(s)
	}
	return strings.Join(out, "/")
}

// tail returns the last part of a URN: the number, also of one that is misspelt. What is no URN stays.
func tail(urn string) string { return urn[strings.LastIndexByte(urn, ':')+1:] }

// date reads both forms of a time: the official interface's and the website's.
func date(s string) *time.Time { return dates.Parse(s, "2006/01/02 15:04:05 -0700", time.RFC3339) }
