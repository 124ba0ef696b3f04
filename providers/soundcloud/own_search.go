package soundcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search finds everything at once, in SoundCloud's order, unless a kind is given.
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
	r := upstream.Get(path...).With("q", q.Query).With("limit", "20")
	hits, next, err := readOwn[hit](ctx, o, r, cursor)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("soundcloud_own: search %q: %w", q.Query, err)
	}
	page := providers.Page[schema.SearchResult]{Next: next}
	for _, h := range hits {
		if result, ok := h.V.result(q.Kind, h.Raw); ok {
			page.Items = append(page.Items, result)
		}
	}
	return page, nil
}

// hit is an account, a track or a playlist.
type hit struct {
	user     *user
	track    *track
	playlist *playlist
}

// UnmarshalJSON decodes what kind names and leaves out anything else.
func (h *hit) UnmarshalJSON(b []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "user":
		return json.Unmarshal(b, &h.user)
	case "track":
		return json.Unmarshal(b, &h.track)
	case "playlist":
		return json.Unmarshal(b, &h.playlist)
	}
	return nil
}

func (h hit) result(kind schema.ResultKind, raw []byte) (schema.SearchResult, bool) {
	switch {
	case h.user != nil && h.user.id() != "":
		return schema.Result(new(h.user.profile(raw))), true
	case h.track != nil && h.track.id() != "":
		return h.track.result(kind, raw), true
	case h.playlist != nil && h.playlist.id() != "":
		return schema.Result(new(h.playlist.collection(raw))), true
	}
	return schema.SearchResult{}, false
}

// suggestions completes a query.
func (o *own) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	found, _, err := readOwn[completion](ctx, o, upstream.Get("search", "queries").With("q", q.Query).With("limit", "10"), "")
	if err != nil {
		return providers.Page[schema.Suggestion]{}, fmt.Errorf("soundcloud_own: suggestions for %q: %w", q.Query, err)
	}
	var page providers.Page[schema.Suggestion]
	for i, f := range found {
		if f.V.Output != "" {
			page.Items = append(page.Items, f.V.suggestion(int64(i), f.Raw))
		}
	}
	return page, nil
}

type completion struct {
	Output string `json:"output"`
}

func (c completion) suggestion(position int64, raw []byte) schema.Suggestion {
	return schema.Suggestion{
		Common: schema.Common{
			ID:  "query:" + c.Output,
			URL: "https://soundcloud.com/search?" + url.Values{"q": {c.Output}}.Encode(),
			Raw: raw,
		},
		Text: c.Output, Kind: schema.SuggestQuery, Position: &position,
	}
}
