package twitch

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// reels lists a channel's clips, whoever made them. Helix knows them most viewed first only.
func (c *client) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := c.clips(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("twitch: reels of %q: %w", handle, err)
	}
	return page, nil
}

func (c *client) clips(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	r := upstream.Get("clips").With("broadcaster_id", u.V.ID).With("first", pageSize)
	rows, next, err := list[clip](ctx, c, r, cursor)
	page := providers.Page[schema.Post]{Next: next}
	for _, o := range rows {
		page.Items = append(page.Items, o.V.post(u.V.actor(), o.Raw))
	}
	return page, err
}

// clip reads one clip, and its channel, for a clip does not tell the login.
func (c *client) clip(ctx context.Context, id string) (schema.Post, error) {
	rows, err := get[clip](ctx, c, upstream.Get("clips").With("id", id))
	if err != nil {
		return schema.Post{}, err
	}
	for _, o := range rows {
		if o.V.ID != id {
			continue
		}
		author, err := c.owner(ctx, o.V.BroadcasterID, o.V.BroadcasterName)
		if err != nil {
			return schema.Post{}, err
		}
		return o.V.post(author, o.Raw), nil
	}
	return schema.Post{}, providers.NotFound("Twitch has no such clip, or no longer")
}

// clip is one of GET /clips.
// https://dev.twitch.tv/docs/api/reference/#get-clips
type clip struct {
	ID              string   `json:"id"`
	BroadcasterID   string   `json:"broadcaster_id"`
	BroadcasterName string   `json:"broadcaster_name"`
	Language        string   `json:"language"`
	Title           string   `json:"title"`
	ViewCount       *int64   `json:"view_count"`
	CreatedAt       string   `json:"created_at"`
	ThumbnailURL    string   `json:"thumbnail_url"`
	Duration        *float64 `json:"duration"` // seconds
}

func (o clip) post(author schema.Actor, raw []byte) schema.Post {
	page := "https://clips.twitch.tv/" + o.ID
	return schema.Post{
		Common:    schema.Common{ID: o.ID, URL: page, Raw: raw},
		Author:    author,
		Text:      o.Title,
		Lang:      lang(o.Language),
		CreatedAt: timeOf(o.CreatedAt),
		Media: []schema.Media{{
			Type: schema.Video, URL: page, ThumbnailURL: thumbnail(o.ThumbnailURL), DurationS: o.Duration,
		}},
		Engagement: schema.Engagement{Views: o.ViewCount},
		Hashtags:   text.Hashtags(o.Title),
		Mentions:   text.Mentions(o.Title),
	}
}
