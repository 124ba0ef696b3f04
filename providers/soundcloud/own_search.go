package soundcloud

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// search searches all kinds at once, in SoundCloud's order, unless a kind is given.
func (o *own) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	path := []string{"search"}
	switch q.Kind { //nolint:exhaustive // the other kinds are not among the filters
	case schema.ProfileResult:
		path = append(path, "users")
	case schema.CollectionResult:
		path = append(path, "playlists")
	case schema.TrackResult, schema.PostResult:
		path = append(path, "tracks")
	}
	p, err := readOwn[hit](ctx, o, upstream.Get(path...).Says("q", q.Query).With("limit", ownPage), cursor, nil)
	return made(ctx, p, err, func(h hit, raw json.RawMessage) (schema.SearchResult, bool) {
		return h.result(ctx, q.Kind, raw)
	})
}

// hit is an account, a track, a playlist or something else.
type hit struct {
	Kind string `json:"kind"`
}

// result decodes raw as the kind that it states. A hit without a kind is malformed, and becomes a track without an id,
// which breaks the schema.
func (h hit) result(ctx context.Context, kind schema.ResultKind, raw json.RawMessage) (schema.SearchResult, bool) {
	switch {
	case h.Kind == "user":
		return as(ctx, raw, user.result)
	case h.Kind == "playlist":
		return as(ctx, raw, playlist.result)
	case h.Kind == "track" && kind == schema.PostResult:
		return as(ctx, raw, track.postResult)
	case h.Kind == "track":
		return as(ctx, raw, track.result)
	}
	return schema.Result(new(schema.Track)), h.Kind == ""
}

// as decodes raw as a T.
func as[T any](
	ctx context.Context, raw json.RawMessage, result func(v T, raw json.RawMessage) (schema.SearchResult, bool),
) (schema.SearchResult, bool) {
	var v T
	if err := wire.Decode(ctx, raw, &v); err != nil {
		return schema.Result(new(schema.Track)), true
	}
	return result(v, raw)
}

// suggestions completes a query.
func (o *own) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (page providers.Page[schema.Suggestion], err error) {
	r := upstream.Get("search", "queries").Says("q", q.Query).With("limit", suggestSize)
	found, err := readOwn[completion](ctx, o, r, "", nil)
	if err != nil {
		return page, err
	}
	for place, f := range found.rows.All() {
		page.Items = append(page.Items, f.V.suggestion(int64(place), f.Raw))
	}
	return page, nil
}

type completion struct {
	Output string `json:"output"`
}

func (c completion) suggestion(position int64, raw json.RawMessage) schema.Suggestion {
	return schema.Suggestion{
		Common: schema.Common{
			ID:  "query:" + c.Output,
			URL: "https://soundcloud.com/search?" + url.Values{"q": {c.Output}}.Encode(),
			Raw: raw,
		},
		Text: c.Output, Kind: schema.SuggestQuery, Position: &position,
	}
}
