package zid

import (
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/schema"
)

// search searches products by name. Zid has no search, so a page holds the matches on one page of the list of products,
// and may be empty. The cursor is the page number.
func (m *merchant) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	n, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return page, err
	}
	s, err := m.shop(ctx)
	if err != nil {
		return page, err
	}
	all, err := m.listing(ctx, s, n, cmp.Or(q.Lang, m.lang))
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

// matches reports whether the name of p, in any of its languages, contains every word of query.
func matches(p schema.Product, query string) bool {
	name := strings.ToLower(p.Title + " " + namesOf(p.Raw))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(name, word) {
			return false
		}
	}
	return true
}
