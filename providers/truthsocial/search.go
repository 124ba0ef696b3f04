package truthsocial

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	searchSize  = 20
	suggestSize = "50" // recommended accounts, which are then filtered
)

// searchable returns an error if a query cannot be searched for.
func searchable(q providers.SearchQuery) error {
	if q.Kind == schema.ProfileResult && dated(q) {
		return providers.Invalid("since and until only apply to posts, not to profiles")
	}
	return nil
}

// find searches posts, or accounts when the kind asks for profiles.
func (c *client) find(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	from, err := pages.Offset(cursor)
	if err != nil {
		return page, err
	}
	if err := searchable(q); err != nil {
		return page, err
	}
	read := c.searchPosts
	if q.Kind == schema.ProfileResult {
		read = c.searchProfiles
	}
	items, n, err := read(ctx, q, from)
	if err != nil {
		return page, err
	}
	if n == 0 && from > 0 && from%searchSize == 0 {
		// Sometimes a page in the middle is empty. After full pages, the next page is read too.
		from += searchSize
		if items, n, err = read(ctx, q, from); err != nil {
			return page, err
		}
	}
	// a page that was not full was the last
	err = wire.Witness{Rows: n, Cursor: cursor, Last: from%searchSize != 0}.Check(ctx, "search")
	if err != nil {
		return page, err
	}
	page.Items = items
	if n > 0 {
		page.Next = strconv.Itoa(from + n)
	}
	return page, nil
}

// searchProfiles also returns how many accounts the upstream returned.
func (c *client) searchProfiles(
	ctx context.Context, q providers.SearchQuery, from int,
) ([]schema.SearchResult, int, error) {
	var answer struct {
		Accounts wire.Rows[account] `json:"accounts"`
	}
	if err := c.search(ctx, q, "accounts", from, &answer); err != nil {
		return nil, 0, err
	}
	items, err := wire.Items(ctx, "accounts", answer.Accounts, func(a account, raw json.RawMessage) (schema.SearchResult, bool) {
		p := a.profile(raw)
		if !a.Suspended.Is() && !a.Suspended.Not() {
			p = schema.Profile{} // it may belong or not
		}
		return schema.Result(&p), !a.Suspended.Is()
	})
	return items, rows(answer.Accounts), err
}

// searchPosts also returns how many posts the upstream returned.
func (c *client) searchPosts(
	ctx context.Context, q providers.SearchQuery, from int,
) ([]schema.SearchResult, int, error) {
	var answer struct {
		Statuses wire.Rows[status] `json:"statuses"`
	}
	if err := c.search(ctx, q, "statuses", from, &answer); err != nil {
		return nil, 0, err
	}
	items, err := wire.Items(ctx, "statuses", answer.Statuses, func(s status, raw json.RawMessage) (schema.SearchResult, bool) {
		if s.CreatedAt.V == nil && dated(q) {
			return schema.Result(&schema.Post{}), true // it may belong or not
		}
		p, public := shown(s, raw)
		return schema.Result(&p), public && dates.Within(s.CreatedAt.V, q.Since, q.Until)
	})
	return items, rows(answer.Statuses), err
}

// search reads a page of one type. Posts are filtered by number, which contains the time.
// https://docs.joinmastodon.org/methods/search/#v2
func (c *client) search(ctx context.Context, q providers.SearchQuery, kind string, from int, dst any) error {
	r := upstream.Get("v2/search").Says("q", q.Query).With("type", kind).With("limit", strconv.Itoa(searchSize)).With("resolve", "true")
	if from > 0 {
		r = r.With("offset", strconv.Itoa(from))
	}
	if !q.Since.IsZero() {
		r = r.With("min_id", strconv.FormatInt(max(0, first(q.Since)-1), 10)).On(c.pages)
	}
	if !q.Until.IsZero() {
		r = r.With("max_id", strconv.FormatInt(first(q.Until), 10)).On(c.pages)
	}
	_, err := c.http.Read(ctx, r, dst)
	return err
}

// first returns the lowest number of a post at time t.
func first(t time.Time) int64 { return max(0, t.UnixMilli()) << 16 }

func dated(q providers.SearchQuery) bool { return !q.Since.IsZero() || !q.Until.IsZero() }

// suggestions filters the accounts that Truth Social recommends: it has no completion of its own.
// https://docs.joinmastodon.org/methods/suggestions/#v2
func (c *client) suggestions(
	ctx context.Context, q providers.SuggestionsQuery, _ string,
) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	var found wire.Rows[suggestion]
	_, err := c.http.Read(ctx, upstream.Get("v2/suggestions").With("limit", suggestSize), &found)
	if err != nil {
		return page, err
	}
	if err := found.Check(ctx, "suggestions"); err != nil {
		return page, err
	}
	err = wire.Witness{Rows: found.Len()}.Check(ctx, "suggestions")
	if err != nil {
		return page, err
	}
	for place, s := range found.All() {
		if a := s.V.Account; a.Suspended.Not() && a.matches(q.Query) {
			page.Items = append(page.Items, schema.Suggestion{
				Common: a.profile(s.Raw).Common,
				Text:   a.Acct, Kind: schema.SuggestProfile, Profile: new(a.actor()), Position: new(int64(place)),
			})
		}
	}
	return page, nil
}

// suggestion is an element of GET /v2/suggestions.
type suggestion struct {
	Account account `json:"account"`
}

func (a account) matches(query string) bool {
	query = strings.ToLower(strings.TrimPrefix(query, "@"))
	return strings.Contains(strings.ToLower(a.Acct), query) || strings.Contains(strings.ToLower(a.DisplayName), query)
}
