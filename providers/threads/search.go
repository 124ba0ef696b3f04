package threads

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// find searches posts.
// https://developers.facebook.com/docs/threads/keyword-search
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	kind, mode, words := "TOP", "KEYWORD", q.Query
	if q.Sort == "recent" {
		kind = "RECENT"
	}
	if tag, ok := strings.CutPrefix(q.Query, "#"); ok && tag != "" && !strings.ContainsAny(tag, " \t") {
		mode, words = "TAG", tag
	}
	r := upstream.Get(version, "keyword_search").Says("q", words).With("search_type", kind).With("search_mode", mode).
		With("author_username", q.Handle).With("fields", postFields).
		With("since", seconds(q.Since)).With("until", seconds(q.Until))
	return pageOf(ctx, c, r.On(c.searches), cursor, func(t thread, raw json.RawMessage) (schema.SearchResult, bool) {
		p := t.post(raw)
		if bounded := !q.Since.IsZero() || !q.Until.IsZero(); bounded && t.Timestamp.V == nil {
			p = schema.Post{} // it is unknown whether it belongs
		}
		return schema.Result(&p), dates.Within(t.Timestamp.V, q.Since, q.Until)
	})
}

func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}
