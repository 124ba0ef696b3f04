package bluesky

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	searchSize  = "25"
	suggestSize = "10"
)

// searchProfiles finds accounts.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors
func (c *client) searchProfiles(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var answer struct {
		Actors *[]upstream.Object[actor] `json:"actors"`
		Cursor string                    `json:"cursor"`
	}
	r := get("app.bsky.actor.searchActors").With("q", q.Query).With("limit", searchSize).With("cursor", cursor)
	_, err := c.http.JSON(ctx, r, &answer)
	if err == nil && answer.Actors == nil {
		err = providers.Unavailable(nil, "the upstream's answer has no actors")
	}
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("bluesky: search %q: %w", q.Query, err)
	}
	page := providers.Page[schema.SearchResult]{Next: answer.Cursor}
	for _, a := range *answer.Actors {
		p := a.V.profile(a.Raw)
		page.Items = append(page.Items, schema.Result(&p))
	}
	return page, nil
}

// suggestions completes handles and names.
// https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead
func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	var answer struct {
		Actors *[]upstream.Object[actor] `json:"actors"`
	}
	_, err := c.http.JSON(ctx, get("app.bsky.actor.searchActorsTypeahead").With("q", q.Query).With("limit", suggestSize), &answer)
	if err == nil && answer.Actors == nil {
		err = providers.Unavailable(nil, "the upstream's answer has no actors")
	}
	if err != nil {
		return page, fmt.Errorf("bluesky: suggestions for %q: %w", q.Query, err)
	}
	for i, a := range *answer.Actors {
		page.Items = append(page.Items, schema.Suggestion{
			Common: schema.Common{ID: a.V.DID, URL: a.V.url(), Raw: a.Raw},
			Text:   a.V.handle(), Kind: schema.SuggestProfile, Profile: new(a.V.actor()), Position: new(int64(i)),
		})
	}
	return page, nil
}

// searchPosts finds posts, the newest first unless the query asks for the best.
// https://docs.bsky.app/docs/api/app-bsky-feed-search-posts
func (s *session) searchPosts(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var answer struct {
		Posts  *[]upstream.Object[post] `json:"posts"`
		Cursor string                   `json:"cursor"`
	}
	sort := "latest"
	if q.Sort == "relevance" {
		sort = "top"
	}
	r := get("app.bsky.feed.searchPosts").With("q", q.Query).With("sort", sort).With("limit", searchSize).With("cursor", cursor).
		With("since", stamp(q.Since)).With("until", stamp(q.Until)).With("lang", q.Lang).With("author", q.Handle)
	_, err := s.http.JSON(ctx, r, &answer)
	if errors.Is(err, errExpired) {
		s.renew(ctx)
		_, err = s.http.JSON(ctx, r, &answer)
	}
	if err == nil && answer.Posts == nil {
		err = providers.Unavailable(nil, "the upstream's answer has no posts")
	}
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("bluesky: search %q: %w", q.Query, err)
	}
	page := providers.Page[schema.SearchResult]{Next: answer.Cursor}
	seen := map[string]bool{}
	for _, o := range *answer.Posts {
		if seen[o.V.URI] {
			continue
		}
		seen[o.V.URI] = true
		p := o.V.post(o.Raw)
		page.Items = append(page.Items, schema.Result(&p))
	}
	return page, nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
