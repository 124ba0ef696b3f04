package appstore

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	searchLimit = 200 // Apple's maximum; there is no second page
	searchPage  = 50  // of our pages, which are parts of one answer
)

// search finds apps. The cursor is the position in the only answer.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func (c *client) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	in := cmp.Or(q.Region, c.markets.Home)
	r := upstream.Get("search").Says("term", q.Query).With("media", "software").
		With("country", strings.ToLower(in)).With("limit", strconv.Itoa(searchLimit))
	found, err := c.results(ctx, r)
	if err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "results", found, func(a app, raw json.RawMessage) (schema.SearchResult, bool) {
		p := a.profile(c.markets, in, raw)
		return schema.Result(&p), a.isApp()
	})
	if err != nil {
		return page, err
	}
	page.Items, page.Next, err = pages.Cut(page.Items, cursor, searchPage)
	if err != nil {
		return page, err
	}
	return page, nil
}
