package github

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// deepest is how many results of a search GitHub shows at most.
const deepest = 1000

// search reads repositories, or users when the kind asks for profiles.
// https://docs.github.com/rest/search/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	read := searchIn[repository](c, "repositories", "updated", func(r repository, raw json.RawMessage) (schema.SearchResult, bool) {
		p, public := r.post(raw)
		return schema.Result(&p), public
	})
	if q.Kind == schema.ProfileResult {
		read = searchIn[user](c, "users", "joined", func(u user, raw json.RawMessage) (schema.SearchResult, bool) {
			p, belongs := u.profile(raw)
			return schema.Result(&p), belongs
		})
	}
	return read(ctx, q, cursor)
}

// found is the response to a search.
type found[T any] struct {
	Items wire.Rows[T] `json:"items"`
}

// searchIn searches what, newest first when sorted by recent.
func searchIn[T any](
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

// terms adds the time bounds to the search terms. GitHub's ranges include both ends.
// https://docs.github.com/en/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax#query-for-dates
func terms(q providers.SearchQuery) string {
	since, last := q.Since.UTC().Format(time.RFC3339), q.Until.Add(-time.Nanosecond).UTC().Format(time.RFC3339)
	switch {
	case q.Since.IsZero() && q.Until.IsZero():
		return q.Query
	case q.Until.IsZero():
		return q.Query + " created:>=" + since
	case q.Since.IsZero():
		return q.Query + " created:<=" + last
	}
	return q.Query + " created:" + since + ".." + last
}
