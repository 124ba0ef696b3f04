package reddit

import (
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// The words of Reddit's interface for ours.
var searchOrders = map[string]string{"": "new", "recent": "new", "relevance": "relevance", "top": "top", "comments": "comments"}

// find searches posts, or accounts when the kind asks for profiles.
// https://www.reddit.com/dev/api#GET_search
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	if q.Kind == schema.ProfileResult {
		return c.findAccounts(ctx, q, cursor)
	}
	posts, err := c.page(ctx, searchRequest(q, get), cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("reddit: search %q: %w", q.Query, err)
	}
	return results(posts), nil
}

// searchRequest asks for posts; the feeds are asked in the same way.
func searchRequest(q providers.SearchQuery, to func(...string) upstream.Request) upstream.Request {
	r, words := to("search"), q.Query
	if name, ok := strings.CutPrefix(q.Handle, "r/"); ok {
		r = to("r", name, "search").With("restrict_sr", "1")
	} else if q.Handle != "" {
		words += " author:" + q.Handle
	}
	return r.With("q", words).With("type", "link").With("sort", searchOrders[q.Sort]).With("t", "all")
}

func results(posts providers.Page[schema.Post]) providers.Page[schema.SearchResult] {
	page := providers.Page[schema.SearchResult]{Next: posts.Next}
	for i := range posts.Items {
		page.Items = append(page.Items, schema.Result(&posts.Items[i]))
	}
	return page
}

func (c *client) findAccounts(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	if q.Handle != "" || q.Sort != "" {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("reddit: search %q: %w", q.Query,
			providers.Invalid("handle and sort are for kind=post: Reddit cannot search accounts so"))
	}
	found, next, err := list[account](ctx, c, get("users", "search").With("q", q.Query), cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("reddit: search %q: %w", q.Query, err)
	}
	page := providers.Page[schema.SearchResult]{Next: next}
	for _, t := range found {
		if a := t.Data.V; t.Kind == "t2" && a.ID != "" && !a.Suspended {
			page.Items = append(page.Items, schema.Result(new(a.profile(t.Data.Raw))))
		}
	}
	return page, nil
}

// longestSuggested is how much of a name Reddit completes.
const longestSuggested = 25

// suggestions completes the names of communities and accounts.
// https://www.reddit.com/dev/api#GET_api_subreddit_autocomplete_v2
func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	if len([]rune(q.Query)) > longestSuggested {
		return providers.Page[schema.Suggestion]{}, fmt.Errorf("reddit: suggestions for %q: %w", q.Query,
			providers.Invalid("Reddit completes at most %d characters", longestSuggested))
	}
	var l listing[named]
	r := get("api", "subreddit_autocomplete_v2").With("query", q.Query).With("include_profiles", "true").With("limit", "10")
	if _, err := c.api.JSON(ctx, r, &l); err != nil {
		return providers.Page[schema.Suggestion]{}, fmt.Errorf("reddit: suggestions for %q: %w", q.Query, err)
	}
	if l.Data == nil {
		return providers.Page[schema.Suggestion]{}, fmt.Errorf("reddit: suggestions for %q: %w", q.Query,
			providers.Unreadable(nil))
	}
	var page providers.Page[schema.Suggestion]
	for _, t := range l.Data.Children {
		if s, ok := t.Data.V.suggestion(t); ok {
			s.Position = new(int64(len(page.Items)))
			page.Items = append(page.Items, s)
		}
	}
	return page, nil
}

// named is an account or a community: the kind of the thing around it tells. Both have a name, which is not the same
// in both, so both are read.
type named struct {
	account
	community subreddit
}

// UnmarshalJSON reads b twice.
func (n *named) UnmarshalJSON(b []byte) error {
	var a upstream.Object[account]
	if err := a.UnmarshalJSON(b); err != nil {
		return err
	}
	var s upstream.Object[subreddit]
	if err := s.UnmarshalJSON(b); err != nil {
		return err
	}
	n.account, n.community = a.V, s.V
	return nil
}

// suggestion leaves out what is suspended or private.
func (n named) suggestion(t thing[named]) (schema.Suggestion, bool) {
	out := schema.Suggestion{Common: schema.Common{Raw: t.Data.Raw}, Kind: schema.SuggestProfile}
	switch {
	case t.Kind == "t2" && n.ID != "" && !n.Suspended:
		out.ID, out.URL, out.Text, out.Profile = n.ID, n.profile(nil).URL, "u/"+n.Name, new(n.actor())
	case t.Kind == "t5" && n.community.id() != "" && n.community.public():
		s := n.community
		out.ID, out.URL, out.Text, out.Profile = s.id(), s.profile(nil).URL, "r/"+s.Name, new(s.actor())
	default:
		return schema.Suggestion{}, false
	}
	return out, true
}
