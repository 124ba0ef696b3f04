package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/providers"
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
) (page providers.Page[schema.SearchResult], err error) {
	var answer struct {
		Actors wire.Rows[actor] `json:"actors"`
		Cursor wire.Token       `json:"cursor"` // absent on the last page
	}
	r := get("app.bsky.actor.searchActors").Says("q", q.Query).With("limit", searchSize).With("cursor", cursor)
	_, err = c.http.Read(ctx, r, &answer)
	if err == nil {
		page.Items, err = wire.Items(ctx, "actors", answer.Actors, func(a actor, raw json.RawMessage) (schema.SearchResult, bool) {
			p := a.profile(raw)
			return schema.Result(&p), true
		})
	}
	if err == nil {
		page.Next, err = answer.Cursor.Next(ctx, "cursor")
	}
	if err != nil {
		return page, err
	}
	return page, nil
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
	_, err := c.http.Read(ctx, get("app.bsky.actor.searchActorsTypeahead").Says("q", q.Query).With("limit", suggestSize), &answer)
	if err == nil {
		err = answer.Actors.Check(ctx, "actors")
	}
	if err != nil {
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
	var answer struct {
		Posts  wire.Rows[post] `json:"posts"`
		Cursor wire.Token      `json:"cursor"` // absent on the last page
	}
	sort := "latest"
	if q.Sort == "relevance" {
		sort = "top"
	}
	r := get("app.bsky.feed.searchPosts").Says("q", q.Query).With("sort", sort).With("limit", searchSize).With("cursor", cursor).
		With("since", stamp(q.Since)).With("until", stamp(q.Until)).With("lang", q.Lang).With("author", q.Handle)
	_, err = s.http.Read(ctx, r, &answer)
	if errors.Is(err, errExpired) {
		s.renew(ctx)
		_, err = s.http.Read(ctx, r, &answer)
	}
	once := unique() // the same post may come twice
	if err == nil {
		page.Items, err = wire.Items(ctx, "posts", answer.Posts, func(p post, raw json.RawMessage) (schema.SearchResult, bool) {
			found := p.post(raw)
			return schema.Result(&found), once(found.ID)
		})
	}
	if err == nil {
		page.Next, err = answer.Cursor.Next(ctx, "cursor")
	}
	if err != nil {
		return page, err
	}
	return page, nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
