package youtube

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// YouTube's names for our filters.
var (
	searchTypes = map[schema.ResultKind]string{
		schema.PostResult: "video", schema.ProfileResult: "channel", schema.CollectionResult: "playlist",
	}
	searchOrders = map[string]string{"relevance": "relevance", "recent": "date", "views": "viewCount", "rating": "rating"}
)

// find searches videos, channels and playlists, or one of them. Search results contain little besides ids, so each
// object is then read by its id.
// https://developers.google.com/youtube/v3/docs/search/list
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	r := upstream.Get("search").On(c.search).Says("q", q.Query).With("part", "snippet").
		With("type", searchTypes[q.Kind]).With("order", searchOrders[q.Sort]).With("regionCode", q.Region).
		With("maxResults", pageSize).With("pageToken", cursor)
	if !q.Since.IsZero() {
		r = r.With("publishedAfter", q.Since.UTC().Format(time.RFC3339))
	}
	if !q.Until.IsZero() { // YouTube includes the end
		r = r.With("publishedBefore", q.Until.UTC().Add(-time.Second).Format(time.RFC3339))
	}
	hits, err := get[hit](ctx, c, r)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	page := providers.Page[schema.SearchResult]{Next: hits.Next}
	page.Items, err = c.whole(ctx, hits)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, err
	}
	return page, nil
}

// hit is an item of GET search. Its snippet, unlike all others, is truncated and HTML-escaped, and is not used.
// https://developers.google.com/youtube/v3/docs/search#resource
type hit struct {
	ID hitID `json:"id"`
}

// hitID identifies a video, a channel or a playlist: one of the fields is set.
type hitID struct {
	Video    string `json:"videoId"`
	Channel  string `json:"channelId"`
	Playlist string `json:"playlistId"`
}

// known reports whether the hit is one of these.
func (h hitID) known() bool { return h != hitID{} }

// whole reads the objects of hits, one request for each kind, and puts them in the order of the hits. Those that no
// longer exist are omitted.
func (c *client) whole(ctx context.Context, hits list[hit]) ([]schema.SearchResult, error) {
	found := results{of: map[hitID]schema.Object{}, lost: hits.Items.Lost()}
	for _, h := range hits.Items.All() {
		if id := h.V.ID; id.known() {
			found.ids = append(found.ids, id)
		} else {
			found.lost++
		}
	}
	if err := c.hydrate(ctx, &found); err != nil {
		return nil, err
	}
	var out []schema.SearchResult
	for _, id := range found.ids {
		if o := found.of[id]; o != nil {
			out = append(out, schema.Result(o))
		}
	}
	return out, wire.Understood("items", len(out), found.lost)
}

// results are the hits of a search, and their objects.
type results struct {
	ids  []hitID
	of   map[hitID]schema.Object
	lost int
}

// each returns the values of one field of the hits that are not empty.
func (r *results) each(field func(hitID) string) []string {
	var out []string
	for _, id := range r.ids {
		if s := field(id); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (c *client) hydrate(ctx context.Context, r *results) error {
	videos, err := c.videos(ctx, r.each(func(id hitID) string { return id.Video }))
	if err != nil {
		return err
	}
	channels, err := c.channelsByID(ctx, r.each(func(id hitID) string { return id.Channel }))
	if err != nil {
		return err
	}
	playlists, err := c.playlistsByID(ctx, r.each(func(id hitID) string { return id.Playlist }))
	if err != nil {
		return err
	}
	for _, v := range videos.rows {
		r.of[hitID{Video: v.V.ID}] = new(v.V.post(v.Raw, nil))
	}
	for _, ch := range channels.rows {
		r.of[hitID{Channel: ch.V.ID}] = new(ch.V.profile(ch.Raw))
	}
	for _, p := range playlists.rows {
		r.of[hitID{Playlist: p.V.ID}] = new(p.V.collection(p.Raw, nil))
	}
	r.lost += videos.lost + channels.lost + playlists.lost
	return nil
}
