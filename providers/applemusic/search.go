package applemusic

import (
	"cmp"
	"context"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search finds songs, albums or artists, depending on the kind: one answer has only one of the three. Songs are the
// default.
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (page providers.Page[schema.SearchResult], err error) {
	country := strings.ToLower(cmp.Or(q.Region, c.country))
	entity, belongs, object := "song", row.isSong, func(r row, raw []byte) schema.Object { t := r.track(country, raw); return &t }
	switch q.Kind { //nolint:exhaustive // the other kinds are not accepted
	case schema.ProfileResult:
		entity, belongs, object = "musicArtist", row.isArtist, func(r row, raw []byte) schema.Object { p := r.profile(country, raw); return &p }
	case schema.CollectionResult:
		entity, belongs, object = "album", row.isAlbum, func(r row, raw []byte) schema.Object { a := r.collection(country, raw); return &a }
	}
	rows, err := c.rows(ctx, c.term(q.Query, entity, country).With("limit", longest))
	if err == nil {
		page, err = cut(ctx, rows, cursor, belongs, func(r row, raw []byte) schema.SearchResult {
			return schema.Result(object(r, raw))
		}, nil)
	}
	if err != nil {
		return page, err
	}
	return page, nil
}

// term returns a request for the objects of one entity that match a text.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func (c *client) term(term, entity, country string) upstream.Request {
	return upstream.Get("search").Says("term", term).With("media", "music").With("entity", entity).With("country", country)
}
