package scrapecreators

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
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
	tag, isTag := strings.CutPrefix(q.Query, "#")
	switch err = r.searchable(q); {
	case err != nil:
	case q.Kind == schema.ProfileResult:
		var found providers.Page[schema.Profile]
		found, err = r.searchProfiles(ctx, q.Query, cursor)
		page = results(found)
	case isTag || q.Kind == schema.PostResult || !q.Since.IsZero():
		var found providers.Page[schema.Post]
		if isTag {
			found, err = r.searchHashtag(ctx, tag, q, cursor)
		} else {
			found, err = r.searchReels(ctx, q, cursor)
		}
		page = results(found)
	default:
		var found providers.Page[schema.Profile]
		found, err = r.searchNames(ctx, q.Query)
		page = results(found)
	}
	return page, err
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
func (r instagramReads) searchNames(
	ctx context.Context, query string,
) (page providers.Page[schema.Profile], err error) {
	var answer struct {
		Data struct {
			Users wire.Rows[instagramAccount] `json:"users"`
		} `json:"data"`
	}
	if _, err = r.http.Read(ctx, upstream.Get("v1/instagram/search").Says("query", query), &answer); err == nil {
		page.Items, err = wire.Items(ctx, "data.users", answer.Data.Users, instagramAccount.profile)
	}
	return page, err
}

// searchProfiles searches with a search engine. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/instagram/search/profiles
func (r instagramReads) searchProfiles(
	ctx context.Context, query, cursor string,
) (page providers.Page[schema.Profile], err error) {
	var answer struct {
		Profiles wire.Rows[instagramAccount] `json:"profiles"`
		Cursor   wire.Token                  `json:"cursor"`
	}
	ask := upstream.Get("v1/instagram/search/profiles").Says("query", query).With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		page.Items, err = wire.Items(ctx, "profiles", answer.Profiles, instagramAccount.profile)
	}
	if err == nil {
		page.Next, err = answer.Cursor.Next(ctx, "cursor")
	}
	page.Next = indexedNext(page.Next)
	return page, err
}

// searchHashtag searches with a search engine. There is no flag: the last page has no cursor.
// https://docs.scrapecreators.com/v1/instagram/search/hashtag
func (r instagramReads) searchHashtag(
	ctx context.Context, tag string, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Posts  wire.Rows[instagramPost] `json:"posts"`
		Cursor wire.Token               `json:"cursor"`
	}
	ask := upstream.Get("v1/instagram/search/hashtag").Says("hashtag", tag).With("date_posted", r.since(q)).
		With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		convert := func(p instagramPost, raw json.RawMessage) (schema.Post, bool) {
			out, _ := p.post(raw)
			return within(q.Since, q.Until, out)
		}
		page.Items, err = wire.Items(ctx, "posts", answer.Posts, convert)
	}
	if err == nil {
		page.Next, err = answer.Cursor.Next(ctx, "cursor")
	}
	page.Next = indexedNext(page.Next)
	return page, err
}

// searchReels continues until a page is empty, since the number of results is unknown.
// https://docs.scrapecreators.com/v2/instagram/reels/search
func (r instagramReads) searchReels(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Reels wire.Rows[instagramPost] `json:"reels"`
	}
	n, err := pages.Number(cursor, math.MaxInt)
	if err != nil {
		return page, err
	}
	ask := upstream.Get("v2/instagram/reels/search").Says("query", q.Query).With("date_posted", r.since(q)).
		With("page", strconv.Itoa(n))
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		convert := func(p instagramPost, raw json.RawMessage) (schema.Post, bool) {
			out, _ := p.post(raw)
			return within(q.Since, q.Until, out)
		}
		page.Items, err = wire.Items(ctx, "reels", answer.Reels, convert)
	}
	if err == nil && answer.Reels.Len() > 0 { // all of them may be too old
		page.Next = strconv.Itoa(n + 1)
	}
	return page, err
}
