package soundcloud

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search searches tracks (returned as tracks or as posts), accounts or playlists, one kind at a time.
// https://developers.soundcloud.com/docs/api/explorer/open-api#/search
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
	switch q.Kind {
	case schema.ProfileResult:
		page, err = found(ctx, c, pages("users").Says("q", q.Query), cursor, user.result)
	case schema.CollectionResult:
		page, err = found(ctx, c, pages("playlists").Says("q", q.Query).With("show_tracks", "false"), cursor, playlist.result)
	case schema.PostResult:
		page, err = found(ctx, c, pages("tracks").Says("q", q.Query).With("access", everything), cursor, track.postResult)
	default:
		page, err = found(ctx, c, pages("tracks").Says("q", q.Query).With("access", everything), cursor, track.result)
	}
	if err != nil {
		return page, err
	}
	return page, nil
}

func found[T any](
	ctx context.Context, c *client, r upstream.Request, cursor string, convert func(v T, raw json.RawMessage) (schema.SearchResult, bool),
) (providers.Page[schema.SearchResult], error) {
	p, err := read[T](ctx, c.http, r, cursor)
	return made(ctx, p, err, convert)
}

func (u user) result(raw json.RawMessage) (schema.SearchResult, bool) {
	return schema.Result(new(u.profile(raw))), true
}

func (p playlist) result(raw json.RawMessage) (schema.SearchResult, bool) {
	c, belongs := p.collection(raw)
	return schema.Result(&c), belongs
}

func (t track) result(raw json.RawMessage) (schema.SearchResult, bool) {
	out, belongs := t.track(raw)
	return schema.Result(&out), belongs
}

func (t track) postResult(raw json.RawMessage) (schema.SearchResult, bool) {
	out, belongs := t.post(raw)
	return schema.Result(&out), belongs
}
