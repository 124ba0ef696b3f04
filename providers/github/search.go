package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/providers/internal/wire"
	"github.com/socialdata/socialdata/schema"
)

// deepest is how many results of a search GitHub shows.
const deepest = 1000

// search reads repositories, or users when the kind asks for profiles.
// https://docs.github.com/rest/search/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	read := results[repository](c, "repositories", "updated", func(r repository, raw json.RawMessage) (schema.SearchResult, bool) {
		p, public := r.post(raw)
		return schema.Result(&p), public
	})
	if q.Kind == schema.ProfileResult {
		read = results[user](c, "users", "joined", func(u user, raw json.RawMessage) (schema.SearchResult, bool) {
			p, belongs := u.profile(raw)
			return schema.Result(&p), belongs
		})
	}
	page, err := read(ctx, q, cursor)
	if err != nil {
		return page, fmt.Errorf("github: search %q: %w", q.Query, err)
	}
	return page, nil
}

// found is the answer of a search.
type found[T any] struct {
	Items wire.Rows[T] `json:"items"`
}

// results returns the search for what, whose newest come first when sorted by recent.
func results[T any](
	c *client, what, recent string, convert func(T, json.RawMessage) (schema.SearchResult, bool),
) providers.ListBy[providers.SearchQuery, schema.SearchResult] {
	return func(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
		r := upstream.Get("search", what).On(c.searches).Says("q", terms(q))
		if q.Sort == "recent" {
			r = r.With("sort", recent).With("order", "desc")
		}
		var answer found[T]
		page.Next, err = c.page(ctx, r, cursor, &answer)
		switch {
		case errors.Is(err, errPastTheEnd):
			return page, nil
		case err != nil:
			return page, err
		}
		if n, err := strconv.Atoi(page.Next); err != nil || (n-1)*pageSize >= deepest {
			page.Next = ""
		}
		page.Items, err = wire.Items(ctx, "items", answer.Items, convert)
		return page, err
	}
}

// terms adds the time bounds to the words.
func terms(q providers.SearchQuery) string {
	var b strings.Builder
	b.WriteString(q.Query)
	if !q.Since.IsZero() {
		b.WriteString(" created:>=" + q.Since.UTC().Format(time.RFC3339))
	}
	if !q.Until.IsZero() {
		b.WriteString(" created:<" + q.Until.UTC().Format(time.RFC3339))
	}
	return b.String()
}
