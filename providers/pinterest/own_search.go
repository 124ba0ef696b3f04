package pinterest

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func (o *own) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	switch q.Kind {
	case schema.ProfileResult:
		page, err = find(ctx, o, "people", q.Query, cursor, func(u user, raw json.RawMessage) (schema.SearchResult, bool) {
			p := u.profile(raw)
			return schema.Result(&p), u.Type == "" || u.Type == "user"
		})
	case schema.CollectionResult:
		page, err = find(ctx, o, "boards", q.Query, cursor, func(b board, raw json.RawMessage) (schema.SearchResult, bool) {
			c, belongs := b.collection(raw)
			return schema.Result(&c), belongs
		})
	default:
		page, err = find(ctx, o, "pins", q.Query, cursor, func(p pin, raw json.RawMessage) (schema.SearchResult, bool) {
			post, belongs := p.post(raw)
			return schema.Result(&post), belongs
		})
	}
	if err != nil {
		return page, err
	}
	return page, nil
}

// find reads one page of a search, whose list is one level deeper than those of feeds.
func find[T interface{ id() string }](
	ctx context.Context, o *own, scope, query, cursor string, convert func(T, json.RawMessage) (schema.SearchResult, bool),
) (page providers.Page[schema.SearchResult], err error) {
	at, err := placeOf(cursor)
	if err != nil {
		return page, err
	}
	r, err := ask("BaseSearch", at.of(options{"query": query, "rs": "typed", "scope": scope}))
	if err != nil {
		return page, err
	}
	r.Input = cursor == "" // else the bookmark is what is refused
	var answer resource[struct {
		Results sparse[T] `json:"results"`
	}]
	if _, err := o.http.Read(ctx, r, &answer); err != nil {
		return page, blameCursor(err, cursor)
	}
	return turn(ctx, answer, at, "resource_response.data.results", answer.Response.Data.Results, nil, convert)
}
