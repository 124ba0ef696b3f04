package applemusic

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// search finds songs, or albums or artists when the kind asks for them: one answer holds one of the three.
func (c *client) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var page providers.Page[schema.SearchResult]
	country := strings.ToLower(cmp.Or(q.Region, c.country))
	entity, pass, result := "song", row.isSong, func(r row, raw []byte) schema.Object { t := r.track(country, raw); return &t }
	switch q.Kind { //nolint:exhaustive // the other kinds are not among the filters
	case schema.ProfileResult:
		entity, pass, result = "musicArtist", row.isArtist, func(r row, raw []byte) schema.Object { p := r.profile(country, raw); return &p }
	case schema.CollectionResult:
		entity, pass, result = "album", row.isAlbum, func(r row, raw []byte) schema.Object { a := r.collection(country, raw); return &a }
	}
	rows, err := c.rows(ctx, c.term(q.Query, entity, country).With("limit", longest))
	if err == nil {
		rows, page.Next, err = pages.Cut(keep(rows, pass), cursor, pageSize)
	}
	if err != nil {
		return page, fmt.Errorf("apple_music: search %q: %w", q.Query, err)
	}
	for _, r := range rows {
		page.Items = append(page.Items, schema.Result(result(r.V, r.Raw)))
	}
	return page, nil
}

// term asks for the objects of one entity that match a text.
// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/Searching.html
func (c *client) term(term, entity, country string) upstream.Request {
	return upstream.Get("search").With("term", term).With("media", "music").With("entity", entity).With("country", country)
}
