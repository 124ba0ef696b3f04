package twitch

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

// reels lists a channel's clips, by any author. Helix only lists them most viewed first.
func (c *client) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	r := upstream.Get("clips").With("broadcaster_id", string(u.V.ID))
	return listPage(ctx, c, r, cursor, func(o clip, raw json.RawMessage) (schema.Post, bool) {
		if o.BroadcasterID != "" && o.BroadcasterID != u.V.ID {
			return schema.Post{}, true
		}
		return o.post(u.V.actor(), raw), true
	})
}

// clip reads one clip, and its channel, because a clip does not have the channel's login.
func (c *client) clip(ctx context.Context, id string) (schema.Post, error) {
	o, err := one(ctx, c, upstream.Get("clips").Says("id", id), "clip", func(o clip) bool { return string(o.ID) == id })
	if errors.Is(err, providers.ErrNotFound) {
		err = noClip()
	}
	if err != nil {
		return schema.Post{}, err
	}
	return o.V.shown(ctx, o.Raw, c.owner)
}

func noClip() error { return providers.NotFound("Twitch has no such clip, or it has been deleted") }

// shown converts a clip that was read alone.
func (o clip) shown(ctx context.Context, raw json.RawMessage, owner lookUp) (schema.Post, error) {
	author, err := owner(ctx, o.BroadcasterID, o.BroadcasterName)
	if err != nil {
		return schema.Post{}, err
	}
	return o.post(author, raw), nil
}

// clip is an element of GET /clips.
// https://dev.twitch.tv/docs/api/reference/#get-clips
type clip struct {
	ID              wire.ID     `json:"id"`
	BroadcasterID   wire.Serial `json:"broadcaster_id"`
	BroadcasterName string      `json:"broadcaster_name"`
	Language        string      `json:"language"`
	Title           string      `json:"title"`
	ViewCount       wire.Count  `json:"view_count"`
	CreatedAt       wire.Time   `json:"created_at"`
	ThumbnailURL    string      `json:"thumbnail_url"`
	Duration        wire.Float  `json:"duration"` // seconds
}

func (o clip) post(author schema.Actor, raw json.RawMessage) schema.Post {
	page := "https://clips.twitch.tv/" + string(o.ID)
	film := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: thumbnail(o.ThumbnailURL)}
	if s := o.Duration.V; s != nil && *s >= 0 {
		film.DurationS = s
	}
	return schema.Post{
		Common:     schema.Common{ID: string(o.ID), URL: page, Raw: raw},
		Author:     author,
		Text:       o.Title,
		Lang:       &o.Language,
		CreatedAt:  o.CreatedAt.V,
		Media:      []schema.Media{film},
		Engagement: schema.Engagement{Views: o.ViewCount.V},
		Hashtags:   text.Hashtags(o.Title),
		Mentions:   text.Mentions(o.Title),
	}
}
