package appstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	searchLimit = 200 // the most that a search gives, and it has no second page
	searchPage  = 50  // of ours, cut out of that
)

// search finds apps. The cursor is the place in the one long answer.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	found, err := c.results(ctx, upstream.Get("search").With("term", q.Query).With("media", "software").
		With("country", c.storefront(q.Region)).With("limit", strconv.Itoa(searchLimit)))
	if err == nil {
		found, page.Next, err = pages.Cut(found, cursor, searchPage)
	}
	if err != nil {
		return page, fmt.Errorf("appstore: search %q: %w", q.Query, err)
	}
	for _, a := range found {
		if a.V.isApp() {
			p := a.V.profile(a.Raw)
			page.Items = append(page.Items, schema.Result(&p))
		}
	}
	return page, nil
}
