package reddit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// searchOrders maps our orders to Reddit's.
var searchOrders = map[string]string{"": "new", "recent": "new", "relevance": "relevance", "top": "top", "comments": "comments"}

// find searches posts, or accounts when the kind asks for profiles.
// https://www.reddit.com/dev/api#GET_search
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	if err := searchable(q); err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	if q.Kind == schema.ProfileResult {
		return c.findAccounts(ctx, q, cursor)
	}
	posts, err := c.page(ctx, searchRequest(q, get), cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return pages.Results(posts), nil
}

// searchable returns why a query cannot be searched for.
func searchable(q providers.SearchQuery) error {
	if q.Kind == schema.ProfileResult && (q.Handle != "" || q.Sort != "") {
		return providers.Invalid("handle and sort require kind=post")
	}
	return nil
}

// searchRequest returns a request for posts, for the API or the feeds.
func searchRequest(q providers.SearchQuery, to func(...string) upstream.Request) upstream.Request {
	r, words := to("search"), q.Query
	if name, ok := strings.CutPrefix(q.Handle, "r/"); ok {
		r = to("r", name, "search").With("restrict_sr", "1")
	} else if q.Handle != "" {
		words += " author:" + q.Handle
	}
	return r.Says("q", words).With("type", "link").With("sort", searchOrders[q.Sort]).With("t", "all")
}

func (c *client) findAccounts(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	return list(ctx, c, get("users", "search").Says("q", q.Query), cursor, "t2",
		func(a account, raw json.RawMessage) (schema.SearchResult, bool) {
			return schema.Result(new(a.profile(raw))), !a.Suspended.Is()
		})
}

// longestSuggested is the maximum length of a prefix that Reddit completes.
const longestSuggested = 25

const suggestSize = "10"

// suggestions completes the names of communities and accounts.
// https://www.reddit.com/dev/api#GET_api_subreddit_autocomplete_v2
func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	if len([]rune(q.Query)) > longestSuggested {
		return providers.Page[schema.Suggestion]{}, providers.Invalid(
			"Reddit completes at most %d characters", longestSuggested)
	}
	r := get("api", "subreddit_autocomplete_v2").Says("query", q.Query).With("include_profiles", "true").
		With("limit", suggestSize)
	return c.completions(ctx, r)
}

// completions reads a listing of accounts and communities; the position of each is its place in the listing.
func (c *client) completions(ctx context.Context, r upstream.Request) (page providers.Page[schema.Suggestion], err error) {
	var l listing[json.RawMessage]
	if _, err = c.api.Read(ctx, r, &l); err != nil {
		return page, err
	}
	if err := wire.Marker(ctx, "kind", l.Kind, "Listing"); err != nil {
		return page, err
	}
	if err := l.Data.Children.Check(ctx, "data.children"); err != nil {
		return page, err
	}
	for place, t := range l.Data.Children.All() {
		if s, belongs := suggestion(ctx, t.V); belongs {
			s.Position = new(int64(place))
			page.Items = append(page.Items, s)
		}
	}
	return page, wire.Understood("data.children", len(page.Items), l.Data.Children.Lost())
}

// suggestion returns false for accounts and communities that are suspended or private.
func suggestion(ctx context.Context, t thing[json.RawMessage]) (out schema.Suggestion, belongs bool) {
	switch t.Kind {
	case "t2":
		var a wire.Object[account]
		if wire.Decode(ctx, t.Data.Raw, &a) != nil || a.V.ID == "" && !a.V.Suspended.Is() {
			return out, true
		}
		return schema.Suggestion{
			Common: schema.Common{ID: string(a.V.ID), URL: a.V.profile(nil).URL, Raw: a.Raw},
			Text:   "u/" + a.V.Name, Kind: schema.SuggestProfile, Profile: new(a.V.actor()),
		}, !a.V.Suspended.Is()
	case "t5":
		var s wire.Object[subreddit]
		if wire.Decode(ctx, t.Data.Raw, &s) != nil || s.V.Type == "" {
			return out, true
		}
		return schema.Suggestion{
			Common: schema.Common{ID: s.V.id(), URL: s.V.profile(nil).URL, Raw: s.Raw},
			Text:   "r/" + s.V.Name, Kind: schema.SuggestProfile, Profile: new(s.V.actor()),
		}, s.V.public()
	}
	return out, !kinds[t.Kind]
}
