package salla

import (
	"context"
	"net/http"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search searches products by a part of their name or by their SKU.
func (m *merchant) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	ours, err := m.ours(ctx)
	var found providers.Page[schema.Product]
	if err == nil {
		found, err = m.list(ctx, in(q.Lang, upstream.Get("products").Says("keyword", q.Query)), ours, cursor)
	}
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return results(found), nil
}

// in sets the language of a request; "" means the default.
func in(lang string, r upstream.Request) upstream.Request {
	if lang != "" {
		r.Header = http.Header{"Accept-Language": {lang}}
	}
	return r
}

func results(found providers.Page[schema.Product]) providers.Page[schema.SearchResult] {
	page := providers.Page[schema.SearchResult]{Next: found.Next}
	for i := range found.Items {
		page.Items = append(page.Items, schema.Result(&found.Items[i]))
	}
	return page
}
