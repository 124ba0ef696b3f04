package truthsocial

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const searchSize = 20

// find searches posts, or accounts when the kind asks for profiles.
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	page, err := c.results(ctx, q, cursor)
	if err != nil {
		return page, fmt.Errorf("truthsocial: search %q: %w", q.Query, err)
	}
	return page, nil
}

func (c *client) results(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	from, err := pages.Offset(cursor)
	if err != nil {
		return page, err
	}
	read := c.searchPosts
	if q.Kind == schema.ProfileResult {
		if !q.Since.IsZero() || !q.Until.IsZero() {
			return page, providers.Invalid("since and until narrow posts only, not profiles")
		}
		read = c.searchProfiles
	}
	items, n, err := read(ctx, q, from)
	if err != nil {
		return page, err
	}
	if n == 0 && from > 0 {
		// Now and then a page in the middle comes empty. Without the one behind it the list has ended.
		from += searchSize
		if more, m, err := read(ctx, q, from); err == nil {
			items, n = more, m
		}
	}
	page.Items = items
	if n > 0 {
		page.Next = strconv.Itoa(from + n)
	}
	return page, nil
}

// searchProfiles also returns how many accounts the upstream gave.
func (c *client) searchProfiles(ctx context.Context, q providers.SearchQuery, from int) ([]schema.SearchResult, int, error) {
	var answer struct {
		Accounts *[]upstream.Object[account] `json:"accounts"`
	}
	if err := c.search(ctx, q, "accounts", from, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Accounts == nil {
		return nil, 0, errNothing
	}
	var out []schema.SearchResult
	for _, a := range *answer.Accounts {
		if !a.V.Suspended {
			p := a.V.profile(a.Raw)
			out = append(out, schema.Result(&p))
		}
	}
	return out, len(*answer.Accounts), nil
}

// searchPosts also returns how many posts the upstream gave.
func (c *client) searchPosts(ctx context.Context, q providers.SearchQuery, from int) ([]schema.SearchResult, int, error) {
	var answer struct {
		Statuses *[]upstream.Object[status] `json:"statuses"`
	}
	if err := c.search(ctx, q, "statuses", from, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Statuses == nil {
		return nil, 0, errNothing
	}
	var out []schema.SearchResult
	for _, p := range posts(*answer.Statuses) {
		if within(q, p.CreatedAt) {
			out = append(out, schema.Result(&p))
		}
	}
	return out, len(*answer.Statuses), nil
}

// search reads a page of one type. Posts are narrowed by number, which holds the time.
// https://docs.joinmastodon.org/methods/search/#v2
func (c *client) search(ctx context.Context, q providers.SearchQuery, kind string, from int, dst any) error {
	r := upstream.Get("v2/search").With("q", q.Query).With("type", kind).With("limit", strconv.Itoa(searchSize)).With("resolve", "true")
	if from > 0 {
		r = r.With("offset", strconv.Itoa(from))
	}
	if !q.Since.IsZero() {
		r = r.With("min_id", strconv.FormatInt(max(0, first(q.Since)-1), 10)).On(c.pages)
	}
	if !q.Until.IsZero() {
		r = r.With("max_id", strconv.FormatInt(first(q.Until), 10)).On(c.pages)
	}
	_, err := c.http.JSON(ctx, r, dst)
	return err
}

// first is the lowest number of a post of time t.
func first(t time.Time) int64 { return max(0, t.UnixMilli()) << 16 }

// within keeps the promise of since and until for posts that were given an older number.
func within(q providers.SearchQuery, t *time.Time) bool {
	if t == nil {
		return q.Since.IsZero() && q.Until.IsZero()
	}
	return !t.Before(q.Since) && (q.Until.IsZero() || t.Before(q.Until))
}

// suggestions looks through the accounts that Truth Social recommends: it completes nothing by itself.
// https://docs.joinmastodon.org/methods/suggestions/#v2
func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	var found *[]upstream.Object[suggestion]
	_, err := c.http.JSON(ctx, upstream.Get("v2/suggestions").With("limit", "50"), &found)
	if err == nil && found == nil {
		err = errNothing
	}
	if err != nil {
		return page, fmt.Errorf("truthsocial: suggestions for %q: %w", q.Query, err)
	}
	for _, s := range *found {
		if a := s.V.Account; a.ID != "" && a.matches(q.Query) {
			page.Items = append(page.Items, schema.Suggestion{
				Common: a.profile(s.Raw).Common,
				Text:   a.Acct, Kind: schema.SuggestProfile, Profile: new(a.actor()), Position: new(int64(len(page.Items))),
			})
		}
	}
	return page, nil
}

// suggestion is one of GET /v2/suggestions.
type suggestion struct {
	Account account `json:"account"`
}

func (a account) matches(query string) bool {
	query = strings.ToLower(strings.TrimPrefix(query, "@"))
	return strings.Contains(strings.ToLower(a.Acct), query) || strings.Contains(strings.ToLower(a.DisplayName), query)
}
