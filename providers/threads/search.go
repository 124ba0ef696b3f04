package threads

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// find searches posts.
// https://developers.facebook.com/docs/threads/keyword-search
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	kind, mode, words := "TOP", "KEYWORD", q.Query
	if q.Sort == "recent" {
		kind = "RECENT"
	}
	if tag, ok := strings.CutPrefix(q.Query, "#"); ok && tag != "" && !strings.ContainsAny(tag, " \t") {
		mode, words = "TAG", tag
	}
	r := upstream.Get(version, "keyword_search").With("q", words).With("search_type", kind).With("search_mode", mode).
		With("author_username", q.Handle).With("fields", postFields)
	if !q.Since.IsZero() {
		r = r.With("since", strconv.FormatInt(q.Since.Unix(), 10))
	}
	if !q.Until.IsZero() {
		r = r.With("until", strconv.FormatInt(q.Until.Unix(), 10))
	}
	a, err := c.page(ctx, r.On(c.searches), cursor)
	if err != nil {
		return page, fmt.Errorf("threads: search %q: %w", q.Query, err)
	}
	for _, t := range a.Data {
		// Threads does not say whether its bounds are inclusive.
		if at := t.V.Timestamp.Time; at != nil && (at.Before(q.Since) || !q.Until.IsZero() && !at.Before(q.Until)) {
			continue
		}
		p := t.V.post("", t.Raw)
		page.Items = append(page.Items, schema.Result(&p))
	}
	page.Next = a.next()
	return page, nil
}
