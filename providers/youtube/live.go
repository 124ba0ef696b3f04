package youtube

import (
	"context"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// live looks for a running broadcast among a channel's newest uploads, and only then spends one of the day's searches.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	ch, err := c.channel(ctx, handle, "snippet,contentDetails")
	if err != nil {
		return schema.LiveStream{}, fmt.Errorf("youtube: live %q: %w", handle, err)
	}
	host := ch.V.actor()
	running, err := c.running(ctx, ch.V)
	switch {
	case err != nil:
		return schema.LiveStream{}, fmt.Errorf("youtube: live %q: %w", handle, err)
	case running == nil:
		return schema.LiveStream{Common: schema.Common{ID: ch.V.ID, URL: ch.V.url(), Raw: ch.Raw}, Host: host}, nil
	}
	return running.V.live(running.Raw, &host), nil
}

// running returns the video that is on air; nil when there is none.
func (c *client) running(ctx context.Context, ch channel) (*upstream.Object[video], error) {
	var newest list[playlistItem]
	if uploads := ch.ContentDetails.Related.Uploads; uploads != "" {
		var err error
		newest, err = get[playlistItem](ctx, c, upstream.Get("playlistItems").With("part", playlistItemParts).
			With("playlistId", uploads).With("maxResults", pageSize))
		if err != nil && !errors.Is(err, providers.ErrNotFound) {
			return nil, err
		}
	}
	if v, err := c.onAir(ctx, videoIDs(newest)); v != nil || err != nil {
		return v, err
	}
	hits, err := get[hit](ctx, c, upstream.Get("search").On(c.search).With("part", "snippet").
		With("channelId", ch.ID).With("eventType", "live").With("type", "video"))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, h := range hits.Items {
		if h.V.ID.Video != "" {
			ids = append(ids, h.V.ID.Video)
		}
	}
	return c.onAir(ctx, ids)
}

// onAir returns the first of ids that is on air.
func (c *client) onAir(ctx context.Context, ids []string) (*upstream.Object[video], error) {
	found, err := c.videos(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, v := range found {
		if v.V.onAir() {
			return &v, nil
		}
	}
	return nil, nil
}

func (v video) onAir() bool {
	return v.Snippet.Broadcast == "live" || v.Live.Started != nil && v.Live.Ended == nil
}

func (v video) live(raw []byte, host *schema.Actor) schema.LiveStream {
	return schema.LiveStream{
		Common:       schema.Common{ID: v.ID, URL: watchURL(v.ID), Raw: raw},
		Host:         owner(v.Snippet.ChannelID, v.Snippet.ChannelTitle, host),
		IsLive:       v.onAir(),
		Title:        text.NonEmpty(v.Snippet.Title),
		Viewers:      v.Live.Viewers.V,
		Likes:        v.Statistics.Likes.V,
		StartedAt:    v.Live.Started,
		ThumbnailURL: v.Snippet.Thumbnails.best(),
	}
}
