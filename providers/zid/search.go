package zid

import (
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/schema"
)

// search finds products by their name. Zid has no search, so a page is what one page of the list of products holds of them,
// which may be nothing; the cursor is the number of a page.
func (m *merchant) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	n, err := pages.Number(cursor, math.MaxInt)
	s := shop{}
	if err == nil {
		s, err = m.shop(ctx)
	}
	var all providers.Page[schema.Product]
	if err == nil {
		all, err = m.listing(ctx, s, n, cmp.Or(q.Lang, m.lang))
	}
	if err != nil {
		return page, err
	}
	for _, p := range all.Items {
		if matches(p, q.Query) {
			page.Items = append(page.Items, schema.Result(&p))
		}
	}
	page.Next = all.Next
	return page, nil
}

// matches tells whether the name of p, in any of its languages, holds every word of query.
func matches(p schema.Product, query string) bool {
	name := strings.ToLower(p.Title + " " + namesOf(p.Raw))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(name, word) {
			return false
		}
	}
	return true
}
