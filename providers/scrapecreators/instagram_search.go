package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// searchable returns an error if a query cannot be searched for.
func (instagramReads) searchable(q providers.SearchQuery) error {
	if q.Kind == schema.ProfileResult && !q.Since.IsZero() {
		return providers.Unsupported("since and until only apply to posts")
	}
	return nil
}

func (r instagramReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	if err := r.searchable(q); err != nil {
		return page, err
	}
	tag, isTag := strings.CutPrefix(q.Query, "#")
	switch {
	case q.Kind == schema.ProfileResult:
		return asResults(r.searchProfiles(ctx, q.Query, cursor))
	case isTag:
		return asResults(r.searchHashtag(ctx, tag, q, cursor))
	case q.Kind == schema.PostResult || !q.Since.IsZero():
		return asResults(r.searchReels(ctx, q, cursor))
	}
	return asResults(r.searchNames(ctx, q.Query))
}

// since returns the narrowest window of a search that reaches back far enough.
func (r instagramReads) since(q providers.SearchQuery) string {
	if q.Since.IsZero() {
		return ""
	}
	return reaching(q.Since,
		window{"last-hour", day / 24}, window{"last-day", day}, window{"last-week", 7 * day}, window{"last-month", 30 * day},
		window{"last-year", 365 * day})
}

// searchNames finds accounts that begin with the query. Hashtags and places in the answer are ignored. There is only
// one page.
// https://docs.scrapecreators.com/v1/instagram/search
func (r instagramReads) searchNames(ctx context.Context, query string) (providers.Page[schema.Profile], error) {
	ask := upstream.Get("v1/instagram/search").Says("query", query)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "data.users"}, instagramAccount.profile)
}

// searchProfiles searches with a search engine. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/instagram/search/profiles
func (r instagramReads) searchProfiles(ctx context.Context, query, cursor string) (providers.Page[schema.Profile], error) {
	ask := upstream.Get("v1/instagram/search/profiles").Says("query", query).With("cursor", cursor)
	page, err := upstream.Page(ctx, r.http, ask, upstream.List{Rows: "profiles", Next: "cursor"}, instagramAccount.profile)
	page.Next = indexedNext(page.Next)
	return page, err
}

// searchHashtag searches with a search engine. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/instagram/search/hashtag
func (r instagramReads) searchHashtag(
	ctx context.Context, tag string, q providers.SearchQuery, cursor string,
) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/instagram/search/hashtag").Says("hashtag", tag).With("date_posted", r.since(q)).
		With("cursor", cursor)
	page, err := upstream.Page(ctx, r.http, ask, upstream.List{Rows: "posts", Next: "cursor"}, instagramWithin(q))
	page.Next = indexedNext(page.Next)
	return page, err
}

// instagramWithin converts the rows of a search with bounds.
func instagramWithin(q providers.SearchQuery) func(instagramPost, json.RawMessage) (schema.Post, bool) {
	return func(p instagramPost, raw json.RawMessage) (schema.Post, bool) {
		out, _ := p.post(raw)
		return within(q.Since, q.Until, out)
	}
}

// searchReels continues until a page is empty, since the number of results is unknown.
// https://docs.scrapecreators.com/v2/instagram/reels/search
func (r instagramReads) searchReels(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v2/instagram/reels/search").Says("query", q.Query).With("date_posted", r.since(q))
	return readNumbered(ctx, r.client, ask, cursor, endless, "reels", instagramWithin(q))
}
