package github

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// page reads one page of a list into dst, such as [wire.Rows], and returns the number of the next one, "" when there is
// none.
// https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
func (c *client) page(ctx context.Context, r upstream.Request, cursor string, dst any) (next string, err error) {
	if cursor == "" {
		cursor = "1"
	}
	if n, err := strconv.Atoi(cursor); err != nil || n < 1 {
		return "", providers.ErrCursor
	}
	res, err := c.http.Read(ctx, r.With("per_page", strconv.Itoa(pageSize)).With("page", cursor), dst)
	if err != nil {
		return "", err
	}
	return nextPage(res.Header), nil
}

// list reads one page of a list, and converts its rows; what is the name of the list.
func list[T, O any](
	ctx context.Context, c *client, r upstream.Request, cursor, what string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	var rows wire.Rows[T]
	if page.Next, err = c.page(ctx, r, cursor, &rows); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, what, rows, convert)
	return page, err
}

var relNext = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="next"`)

// nextPage takes only the page number out of the Link header: the URL itself switches to a numeric form of the path,
// and a URL returned by a caller could lead anywhere.
func nextPage(h http.Header) string {
	for _, link := range h.Values("Link") {
		m := relNext.FindStringSubmatch(link)
		if m == nil {
			continue
		}
		if u, err := url.Parse(m[1]); err == nil {
			return u.Query().Get("page")
		}
	}
	return ""
}
