package enginetest

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Find is a search.
type Find = providers.ListBy[providers.SearchQuery, schema.SearchResult]

// Searcher is a platform with find as its search.
func Searcher(id platform.ID, find Find) providers.Provider {
	return providers.Provider{
		Name: "fake", Platform: id, Source: schema.Own, Search: find,
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: {"sort": {"relevance", "recent"}, "kind": nil}},
	}
}

// Lists is a search that always returns the same results, in pages of the given size.
func Lists(size int, results ...schema.SearchResult) Find {
	return func(_ context.Context, _ providers.SearchQuery, token string) (providers.Page[schema.SearchResult], error) {
		from, _ := strconv.Atoi(token)
		to := min(from+size, len(results))
		page := providers.Page[schema.SearchResult]{}
		for _, r := range results[from:to] { // a copy: the engine modifies what it gets
			page.Items = append(page.Items, schema.Result(new(*r.Object.(*schema.Post))))
		}
		if to < len(results) {
			page.Next = strconv.Itoa(to)
		}
		return page, nil
	}
}

// By is a post of an author, hours before the start of the clock; with less than 0 hours it has no time.
func By(author, id string, hours int) schema.SearchResult {
	p := Post(id)
	p.Author.ID, p.Author.Handle = author, author
	if hours >= 0 {
		p.CreatedAt = new(Start.Add(-time.Duration(hours) * time.Hour))
	}
	return schema.Result(&p)
}

// Some returns n posts of as many authors.
func Some(prefix string, n int) []schema.SearchResult {
	out := make([]schema.SearchResult, 0, n)
	for i := range n {
		out = append(out, By(fmt.Sprint(prefix, "-author-", i), fmt.Sprint(prefix, i), i))
	}
	return out
}

// Late makes a search wait until release is closed.
func Late(p providers.Provider, release <-chan struct{}) providers.Provider {
	find := p.Search
	p.Search = func(
		ctx context.Context, q providers.SearchQuery, token string,
	) (page providers.Page[schema.SearchResult], err error) {
		select {
		case <-release:
			return find(ctx, q, token)
		case <-ctx.Done():
			return page, fmt.Errorf("late: %w", providers.ErrTimeout)
		}
	}
	return p
}

// IDs returns the ids of results.
func IDs(results []schema.SearchResult) []string {
	out := []string{}
	for _, r := range results {
		out = append(out, r.Shared().ID)
	}
	return out
}

// Call returns a call with parameters, given as name and value.
func Call(params ...string) operation.Call {
	c := operation.Call{Params: url.Values{}}
	for i := 0; i < len(params); i += 2 {
		c.Params.Set(params[i], params[i+1])
	}
	return c
}

// Keyed returns the call with an idempotency key.
func Keyed(c operation.Call, key string) operation.Call {
	c.IdempotencyKey = key
	return c
}
