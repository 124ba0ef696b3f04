package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// deepest is how many results of a search GitHub shows.
const deepest = 1000

// find searches repositories, or users when the kind asks for profiles.
// https://docs.github.com/rest/search/search
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	var err error
	if q.Kind == schema.ProfileResult {
		var found results[user]
		page.Next, err = c.results(ctx, "users", "joined", q, cursor, &found)
		for _, u := range found.Items {
			p := u.V.profile(u.Raw)
			page.Items = append(page.Items, schema.Result(&p))
		}
	} else {
		var found results[repository]
		page.Next, err = c.results(ctx, "repositories", "updated", q, cursor, &found)
		for _, r := range found.Items {
			if p := r.V.post(r.Raw); !r.V.Private {
				page.Items = append(page.Items, schema.Result(&p))
			}
		}
	}
	if err != nil {
		return page, fmt.Errorf("github: search %q: %w", q.Query, err)
	}
	return page, nil
}

type results[T any] struct {
	Items []upstream.Object[T] `json:"items"`
}

func (c *client) results(ctx context.Context, what, recent string, q providers.SearchQuery, cursor string, dst any) (string, error) {
	r := upstream.Get("search", what).On(c.search).With("q", terms(q))
	if q.Sort == "recent" {
		r = r.With("sort", recent).With("order", "desc")
	}
	next, err := c.page(ctx, r, cursor, dst)
	switch {
	case errors.Is(err, errNoResults):
		return "", nil
	case err != nil:
		return "", err
	}
	if n, err := strconv.Atoi(next); err == nil {
		if size, _ := strconv.Atoi(pageSize); (n-1)*size >= deepest {
			next = ""
		}
	}
	return next, nil
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

// errNoResults is a 422, which only a search gives: it is past its 1,000th result, or names an account that does not
// exist.
var errNoResults = errors.New("github: no results")
