package youtube

import (
	"context"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// The words of YouTube's interface for ours.
var (
	searchTypes = map[schema.ResultKind]string{
		schema.PostResult: "video", schema.ProfileResult: "channel", schema.CollectionResult: "playlist",
	}
	searchOrders = map[string]string{"relevance": "relevance", "recent": "date", "views": "viewCount", "rating": "rating"}
)

// find searches videos, channels and playlists, or one of them. A search answers little more than ids, which are then
// read whole.
// https://developers.google.com/youtube/v3/docs/search/list
func (c *client) find(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	r := upstream.Get("search").On(c.search).With("part", "snippet").With("q", q.Query).
		With("type", searchTypes[q.Kind]).With("order", searchOrders[q.Sort]).With("regionCode", q.Region).
		With("maxResults", pageSize).With("pageToken", cursor)
	if !q.Since.IsZero() {
		r = r.With("publishedAfter", q.Since.UTC().Format(time.RFC3339))
	}
	if !q.Until.IsZero() { // which YouTube includes
		r = r.With("publishedBefore", q.Until.UTC().Add(-time.Second).Format(time.RFC3339))
	}
	hits, err := get[hit](ctx, c, r)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("youtube: search %q: %w", q.Query, err)
	}
	found, err := c.whole(ctx, hits.Items)
	if err != nil {
		return providers.Page[schema.SearchResult]{}, fmt.Errorf("youtube: results of %q: %w", q.Query, err)
	}
	page := providers.Page[schema.SearchResult]{Next: hits.Next}
	for _, h := range hits.Items {
		if o := found[h.V.ID]; o != nil {
			page.Items = append(page.Items, schema.Result(o))
		}
	}
	return page, nil
}

// hit is an item of GET search. Its snippet is cut short and HTML-escaped, unlike any other, and is not used.
// https://developers.google.com/youtube/v3/docs/search#resource
type hit struct {
	ID hitID `json:"id"`
}

// hitID names a video, a channel or a playlist: one of the fields is set.
type hitID struct {
	Video    string `json:"videoId"`
	Channel  string `json:"channelId"`
	Playlist string `json:"playlistId"`
}

// whole reads what hits name, each kind at once.
func (c *client) whole(ctx context.Context, hits []upstream.Object[hit]) (map[hitID]schema.Object, error) {
	var videos, channels, playlists []string
	for _, h := range hits {
		switch id := h.V.ID; {
		case id.Video != "":
			videos = append(videos, id.Video)
		case id.Channel != "":
			channels = append(channels, id.Channel)
		case id.Playlist != "":
			playlists = append(playlists, id.Playlist)
		}
	}
	out := make(map[hitID]schema.Object, len(hits))
	vs, err := c.videos(ctx, videos)
	if err != nil {
		return nil, err
	}
	for _, v := range vs {
		out[hitID{Video: v.V.ID}] = new(v.V.post(v.Raw, nil))
	}
	chs, err := byID(ctx, c, upstream.Get("channels").With("part", channelParts), channels, func(ch channel) string { return ch.ID })
	if err != nil {
		return nil, err
	}
	for _, ch := range chs {
		out[hitID{Channel: ch.V.ID}] = new(ch.V.profile(ch.Raw))
	}
	ps, err := c.playlistsByID(ctx, playlists)
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		out[hitID{Playlist: p.V.ID}] = new(p.V.collection(p.Raw, nil))
	}
	return out, nil
}
