package soundcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// mostEmpty is how many empty pages with a next one are passed over.
const mostEmpty = 5

// list is a page of objects: an object with a link to the next page or, of old, a bare array. Entries may be null.
// https://developers.soundcloud.com/docs/api/guide#pagination
type list[T any] struct {
	Collection []upstream.Object[T]
	NextHref   string
}

// UnmarshalJSON reads both forms.
func (l *list[T]) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &l.Collection)
	}
	var page struct {
		Collection []upstream.Object[T] `json:"collection"`
		NextHref   string               `json:"next_href"` // null or absent on the last page
	}
	err := json.Unmarshal(b, &page)
	l.Collection, l.NextHref = page.Collection, page.NextHref
	return err
}

// errNoList says that an answer, though JSON, holds no list: to pass it on as an empty one would be a lie.
var errNoList = errors.New("soundcloud: the answer holds no list")

// read reads the page at a cursor, and those behind it while they are empty. A cursor holds those parameters of a next
// link that are not ours.
func read[T any](ctx context.Context, c *upstream.Client, r upstream.Request, cursor string) ([]upstream.Object[T], string, error) {
	for range mostEmpty {
		at, err := url.ParseQuery(cursor)
		if err != nil {
			return nil, "", providers.ErrCursor
		}
		asked := r
		for name := range at {
			if r.Query.Has(name) || slices.Contains(secret, name) {
				return nil, "", providers.ErrCursor
			}
			asked = asked.With(name, at.Get(name))
		}
		var l list[T]
		if _, err := c.JSON(ctx, asked, &l); err != nil {
			return nil, "", err
		}
		if l.Collection == nil {
			return nil, "", providers.Unreadable(errNoList)
		}
		after := next(l.NextHref, r)
		if after == cursor { // it leads back
			after = ""
		}
		if len(l.Collection) > 0 || after == "" {
			return l.Collection, after, nil
		}
		cursor = after
	}
	return nil, cursor, nil // SoundCloud says that there is more: the caller may go on
}

// secret are parameters that a next link may carry and a cursor must not.
var secret = []string{"client_id", "client_secret", "oauth_token", "access_token", "secret_token", "app_version", "app_locale"}

// next returns the cursor of a next link: what its query has more than r's. A link to another list is none of ours.
func next(href string, r upstream.Request) string {
	u, err := url.Parse(href)
	if href == "" || err != nil || bare(strings.Split(strings.Trim(u.Path, "/"), "/")) != bare(r.Path) {
		return ""
	}
	more := u.Query()
	for name := range more {
		if r.Query.Has(name) || slices.Contains(secret, name) {
			more.Del(name)
		}
	}
	return more.Encode()
}

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
