package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	searchSize  = "25"
	suggestSize = "10"
)

// searchProfiles finds accounts.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors
func (c *client) searchProfiles(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	r := get("app.bsky.actor.searchActors").Says("q", q.Query).With("limit", searchSize).With("cursor", cursor)
	at := upstream.List{Rows: "actors", Next: "cursor"} // the last page has no cursor
	return upstream.Page(ctx, c.http, r, at, func(a actor, raw json.RawMessage) (schema.SearchResult, bool) {
		return schema.Result(new(a.profile(raw))), true
	})
}

// suggestions completes handles and names.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead
func (c *client) suggestions(
	ctx context.Context, q providers.SuggestionsQuery, _ string,
) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	var answer struct {
		Actors wire.Rows[actor] `json:"actors"`
	}
	r := get("app.bsky.actor.searchActorsTypeahead").Says("q", q.Query).With("limit", suggestSize)
	if _, err := c.http.Read(ctx, r, &answer); err != nil {
		return page, err
	}
	if err := answer.Actors.Check(ctx, "actors"); err != nil {
		return page, err
	}
	for place, a := range answer.Actors.All() {
		page.Items = append(page.Items, schema.Suggestion{
			Common: schema.Common{ID: a.V.id(), URL: a.V.url(), Raw: a.Raw},
			Text:   a.V.handle(), Kind: schema.SuggestProfile, Profile: new(a.V.actor()), Position: new(int64(place)),
		})
	}
	return page, nil
}

// searchPosts finds posts, newest first unless the query asks for the best.
// https://docs.bsky.app/docs/api/app-bsky-feed-search-posts
func (s *session) searchPosts(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	sort := "latest"
	if q.Sort == "relevance" {
		sort = "top"
	}
	r := get("app.bsky.feed.searchPosts").Says("q", q.Query).With("sort", sort).With("limit", searchSize).With("cursor", cursor).
		With("since", stamp(q.Since)).With("until", stamp(q.Until)).With("lang", q.Lang).With("author", q.Handle)
	read := func() (providers.Page[schema.SearchResult], error) {
		once := unique()                                   // the same post may come twice
		at := upstream.List{Rows: "posts", Next: "cursor"} // the last page has no cursor
		return upstream.Page(ctx, s.http, r, at, func(p post, raw json.RawMessage) (schema.SearchResult, bool) {
			found := p.post(raw)
			return schema.Result(&found), once(found.ID)
		})
	}
	if page, err = read(); errors.Is(err, errExpired) {
		s.renew(ctx)
		return read()
	}
	return page, err
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
