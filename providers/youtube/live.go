package youtube

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// live looks for a running broadcast among a channel's newest uploads, and then, if there is none, uses one of the
// day's searches.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	ch, err := c.channel(ctx, handle, "snippet,contentDetails")
	if err != nil {
		return schema.LiveStream{}, err
	}
	host := ch.V.actor()
	running, err := c.running(ctx, ch.V)
	switch {
	case err != nil:
		return schema.LiveStream{}, err
	case running == nil:
		return schema.LiveStream{Common: schema.Common{ID: ch.V.ID, URL: ch.V.url(), Raw: ch.Raw}, Host: host}, nil
	}
	return running.V.live(running.Raw, &host), nil
}

// running returns the live video; nil if there is none. It returns an error if a video of unknown state may be it.
func (c *client) running(ctx context.Context, ch channel) (*wire.Object[video], error) {
	v, unclear, err := c.runningUpload(ctx, ch)
	if v != nil || err != nil {
		return v, err
	}
	if v, err = c.runningHit(ctx, ch); v != nil || err != nil {
		return v, err
	}
	return nil, wire.Need(ctx, "items[].snippet.liveBroadcastContent", unclear == 0)
}

// runningUpload searches the newest uploads. unclear is the number of those of unknown state.
func (c *client) runningUpload(ctx context.Context, ch channel) (v *wire.Object[video], unclear int, err error) {
	newest, err := get[playlistItem](ctx, c, upstream.Get("playlistItems").With("part", playlistItemParts).
		With("playlistId", ch.uploads()).With("maxResults", pageSize))
	if errors.Is(err, providers.ErrNotFound) { // the channel has no uploads
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	ids, lost := videoIDs(newest)
	found, err := c.videos(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	unclear = lost + found.lost
	for _, v := range found.rows {
		if v.V.onAir() {
			return &v, 0, nil
		}
		if v.V.unclear() {
			unclear++
		}
	}
	return nil, unclear, nil
}

// runningHit searches for the channel's live video. A result is live until it has ended.
func (c *client) runningHit(ctx context.Context, ch channel) (*wire.Object[video], error) {
	hits, err := get[hit](ctx, c, upstream.Get("search").On(c.search).With("part", "snippet").
		With("channelId", ch.ID).With("eventType", "live").With("type", "video"))
	if err != nil {
		return nil, err
	}
	var ids []string
	lost := hits.Items.Lost()
	for _, h := range hits.Items.All() {
		if h.V.ID.Video != "" {
			ids = append(ids, h.V.ID.Video)
		} else {
			lost++
		}
	}
	found, err := c.videos(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, v := range found.rows {
		if v.V.Live.Ended.V == nil {
			return &v, nil
		}
	}
	return nil, wire.Understood("items", 0, lost+found.lost)
}

func (v video) onAir() bool {
	return v.Snippet.Broadcast == "live" || v.Live.Started.V != nil && v.Live.Ended.V == nil
}

// unclear reports whether it is unknown if v is live.
func (v video) unclear() bool { return v.Snippet.Broadcast == "" && v.Live.Started.V == nil }

// live converts v, which is live.
func (v video) live(raw json.RawMessage, host *schema.Actor) schema.LiveStream {
	return schema.LiveStream{
		Common:       schema.Common{ID: v.ID, URL: watchURL(v.ID), Raw: raw},
		Host:         owner(v.Snippet.ChannelID, v.Snippet.ChannelTitle, host),
		IsLive:       true,
		Title:        text.NonEmpty(v.Snippet.Title),
		Viewers:      v.Live.Viewers.V,
		Likes:        v.Statistics.Likes.V,
		StartedAt:    v.Live.Started.V,
		ThumbnailURL: v.Snippet.Thumbnails.best(),
	}
}
