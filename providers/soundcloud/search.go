package soundcloud

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search finds tracks, as tracks or as posts, or accounts or playlists: one answer holds one of the three.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	var err error
	switch q.Kind {
	case schema.ProfileResult:
		page.Items, page.Next, err = found(ctx, c, pages("users").With("q", q.Query), cursor, func(u user, raw []byte) schema.SearchResult {
			return schema.Result(new(u.profile(raw)))
		})
	case schema.CollectionResult:
		r := pages("playlists").With("q", q.Query).With("show_tracks", "false")
		page.Items, page.Next, err = found(ctx, c, r, cursor, func(p playlist, raw []byte) schema.SearchResult {
			return schema.Result(new(p.collection(raw)))
		})
	default:
		r := pages("tracks").With("q", q.Query).With("access", everything)
		page.Items, page.Next, err = found(ctx, c, r, cursor, func(t track, raw []byte) schema.SearchResult {
			return t.result(q.Kind, raw)
		})
	}
	if err != nil {
		return page, fmt.Errorf("soundcloud: search %q: %w", q.Query, err)
	}
	return page, nil
}

func found[T interface{ id() string }](
	ctx context.Context, c *client, r upstream.Request, cursor string, conv func(v T, raw []byte) schema.SearchResult,
) ([]schema.SearchResult, string, error) {
	list, next, err := read[T](ctx, c.http, r, cursor)
	return convert(list, conv), next, err
}

// result is t as a post when posts were asked for, else as a track.
func (t track) result(kind schema.ResultKind, raw []byte) schema.SearchResult {
	if kind == schema.PostResult {
		return schema.Result(new(t.post(raw)))
	}
	return schema.Result(new(t.track(raw)))
}
