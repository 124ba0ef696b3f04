package x

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// find searches posts, or accounts when the kind asks for profiles.
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	if err := c.searchable(q); err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	read := c.findPosts
	if q.Kind == schema.ProfileResult {
		read = c.findUsers
	}
	return read(ctx, q, cursor)
}

// searchable returns why a query cannot be searched for.
func (c *client) searchable(q providers.SearchQuery) error {
	most, profiles := c.longest(), q.Kind == schema.ProfileResult
	switch {
	case profiles && c.user == nil:
		return providers.Invalid("searching profiles needs the setting user_token")
	case profiles && !latin.MatchString(q.Query):
		return providers.Invalid("a search for profiles on X has at most 50 Latin letters, digits, spaces, ' and _")
	case profiles && (q.Sort != "" || q.Lang != "" || q.Handle != "" || !q.Since.IsZero() || !q.Until.IsZero()):
		return providers.Invalid("X cannot sort or filter a search for profiles")
	case profiles:
		return nil
	case q.Handle != "" && !username.MatchString(strings.ToLower(q.Handle)) && !number(q.Handle):
		return providers.Invalid("an X handle has 1 to 15 letters, digits and underscores")
	case q.Lang != "" && !langCode.MatchString(q.Lang):
		return providers.Invalid("X filters by a language such as ar")
	case utf8.RuneCountInString(terms(q)) > most:
		return providers.Invalid("X accepts queries of at most %d characters, including our own operators", most)
	}
	return nil
}

func (c *client) findPosts(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	sort := "recency"
	if q.Sort == "relevance" {
		sort = "relevancy"
	}
	r := upstream.Request{}.Says("query", terms(q)).With("sort_order", sort).With("next_token", cursor)
	if !q.Since.IsZero() {
		r = r.With("start_time", q.Since.UTC().Format(time.RFC3339))
	}
	// X refuses an end less than ten seconds ago; without one, the results are the same.
	if !q.Until.IsZero() && time.Since(q.Until) > 15*time.Second {
		r = r.With("end_time", q.Until.UTC().Format(time.RFC3339))
	}
	a, err := c.searchTweets(ctx, r)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return page(ctx, a, func(t tweet, raw json.RawMessage) (schema.SearchResult, bool) {
		p := t.post(a.Includes, nil, raw)
		return schema.Result(&p), true
	})
}

func (c *client) longest() int {
	if c.fullArchive {
		return 1024
	}
	return 512
}

// either matches an OR in a query, which binds less tightly than the implicit AND.
var either = regexp.MustCompile(`(^|\s)OR(\s|$)`)

// langCode matches a language that X accepts.
var langCode = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{2})?$`)

// terms adds the filters to the query. The index of 2026 contains no retweets; the old one did.
// https://docs.x.com/x-api/posts/search/integrate/operators
func terms(q providers.SearchQuery) string {
	query := q.Query
	if either.MatchString(query) {
		query = "(" + query + ")"
	}
	if q.Handle != "" {
		query += " from:" + q.Handle
	}
	if q.Lang != "" {
		query += " lang:" + oldCode(q.Lang)
	}
	return query + " -is:retweet"
}

// oldCode is the inverse of [language].
func oldCode(lang string) string {
	lang = strings.ToLower(lang)
	switch lang {
	case "he":
		return "iw"
	case "id":
		return "in"
	}
	return lang
}

// searchTweets reads a page of posts that match r's query.
// https://docs.x.com/x-api/posts/search/introduction
func (c *client) searchTweets(ctx context.Context, r upstream.Request) (list[tweet], error) {
	r.Path = []string{"2", "tweets", "search", "recent"}
	if c.fullArchive {
		r.Path[3] = "all"
	}
	var a list[tweet]
	err := c.tweets(ctx, r.With("max_results", pageSize).On(c.finds), &a)
	return a, err
}

// latin matches a query for accounts that X accepts.
var latin = regexp.MustCompile(`^[A-Za-z0-9_' ]{1,50}$`)

// findUsers searches accounts, for which X requires a user's token.
// https://docs.x.com/x-api/users/search-users
func (c *client) findUsers(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	r := upstream.Get("2", "users", "search").Says("query", q.Query).With("max_results", pageSize).
		With("next_token", cursor).With("user.fields", userFields)
	var a list[user]
	if _, err := c.user.Read(ctx, r.On(c.people), &a); err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return page(ctx, a, func(u user, raw json.RawMessage) (schema.SearchResult, bool) {
		p := u.profile(raw)
		return schema.Result(&p), true
	})
}
