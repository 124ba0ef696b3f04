package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// searchable returns an error if a query cannot be searched for.
func (tiktokReads) searchable(q providers.SearchQuery) error {
	posts := q.Kind != schema.ProfileResult && q.Kind != schema.ProductResult
	if !posts && (q.Sort != "" || !q.Since.IsZero()) {
		return providers.Unsupported("sort and since only apply to posts")
	}
	return nil
}

func (r tiktokReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	if err := r.searchable(q); err != nil {
		return page, err
	}
	switch q.Kind {
	case schema.ProfileResult:
		return asResults(r.searchPeople(ctx, q.Query, cursor))
	case schema.ProductResult:
		return asResults(r.searchProducts(ctx, q.Query, "", cursor))
	default:
		return asResults(r.searchPosts(ctx, q, cursor))
	}
}

// searchPosts reads a hashtag, which can neither be sorted nor limited in time, or searches words.
// https://docs.scrapecreators.com/v1/tiktok/search/hashtag
// https://docs.scrapecreators.com/v1/tiktok/search/keyword
func (r tiktokReads) searchPosts(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	if tag, is := strings.CutPrefix(q.Query, "#"); is && q.Sort == "" && q.Since.IsZero() {
		ask := upstream.Get("v1/tiktok/search/hashtag").Says("hashtag", tag).With("cursor", cursor)
		return tiktokRead(ctx, r.client, ask, tiktokPositions, tiktokPost.post)
	}
	ask := upstream.Get("v1/tiktok/search/keyword").Says("query", q.Query).With("sort_by", tiktokSorts[q.Sort]).
		With("cursor", cursor)
	if !q.Since.IsZero() {
		ask = ask.With("date_posted", reaching(q.Since, tiktokWindows...))
	}
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "search_item_list", Next: "cursor"},
		func(f tiktokFound, _ json.RawMessage) (schema.Post, bool) {
			p, _ := f.Post.V.post(f.Post.Raw)
			return within(q.Since, q.Until, p)
		})
}

var (
	tiktokSorts   = map[string]string{"relevance": "relevance", "recent": "date-posted", "likes": "most-liked"}
	tiktokWindows = []window{
		{"yesterday", day},
		{"this-week", 7 * day},
		{"this-month", 30 * day},
		{"last-3-months", 90 * day},
		{"last-6-months", 180 * day},
	}
)

// tiktokFound is a row of a search for words.
type tiktokFound struct {
	Post wire.Object[tiktokPost] `json:"aweme_info"`
}
