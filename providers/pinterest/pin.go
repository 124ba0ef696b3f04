package pinterest

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const pageSize = "100" // of every list of the official API; at most 250 upstream

// ownedPin is the answer of GET /pins/{pin_id}. A pin that was promoted once is not necessarily an advertisement now.
// https://developers.pinterest.com/docs/api/v5/pins-get
type ownedPin struct {
	ID          wire.Serial `json:"id"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	CreatedAt   wire.Time   `json:"created_at"` // in UTC, without a zone
	Owner       owner       `json:"board_owner"`
	Media       ownedMedia  `json:"media"`
	Metrics     struct {
		Lifetime struct {
			Likes    wire.Count `json:"reaction"`
			Comments wire.Count `json:"comment"`
			Saves    wire.Count `json:"save"`
			Views    wire.Count `json:"impression"`
		} `json:"lifetime_metrics"`
	} `json:"pin_metrics"` // null in lists
}

// owner is an account in the official API, which has no number for it.
type owner struct {
	Username string `json:"username"`
}

func (o owner) actor() schema.Actor {
	if o.Username == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: o.Username, Handle: o.Username}
}

// ownedMedia is a picture, a film, or several of them: image, video, multiple_images, multiple_videos and
// multiple_mixed.
type ownedMedia struct {
	Kind string `json:"media_type"`
	ownedItem
	Items []ownedItem `json:"items"`
}

type ownedItem struct {
	Images   pictures   `json:"images"`
	Cover    string     `json:"cover_image_url"`
	Video    string     `json:"video_url"` // null for most apps
	Duration wire.Float `json:"duration"`  // milliseconds
}

func (m ownedMedia) media() []schema.Media {
	if len(m.Items) == 0 {
		return m.ownedItem.media()
	}
	var out []schema.Media
	for _, i := range m.Items {
		out = append(out, i.media()...)
	}
	return out
}

// media returns the film, or its picture if the app may not see the film.
func (i ownedItem) media() []schema.Media {
	picture := text.URL(i.Images.best())
	if cover := text.URL(i.Cover); cover != nil {
		picture = cover
	}
	if film := text.URL(i.Video); film != nil {
		return []schema.Media{{Type: schema.Video, URL: *film, ThumbnailURL: picture, DurationS: i.Duration.Seconds()}}
	}
	if picture == nil {
		return nil
	}
	return []schema.Media{{Type: schema.Image, URL: *picture}}
}

// post converts p. It always reports true.
func (p ownedPin) post(raw json.RawMessage) (schema.Post, bool) {
	words := joined(p.Title, "", p.Description)
	n := p.Metrics.Lifetime
	return schema.Post{
		Common:     schema.Common{ID: string(p.ID), URL: pinURL(string(p.ID)), Raw: raw},
		Author:     p.Owner.actor(),
		Text:       words,
		CreatedAt:  p.CreatedAt.V,
		Media:      p.Media.media(),
		Engagement: schema.Engagement{Likes: n.Likes.V, Comments: n.Comments.V, Saves: n.Saves.V, Views: n.Views.V},
		Hashtags:   text.Hashtags(words),
		Mentions:   text.Mentions(words),
	}, true
}

func (c *official) post(ctx context.Context, id string) (schema.Post, error) {
	pin, err := c.short.resolve(ctx, providers.PostID, id)
	if err != nil {
		return schema.Post{}, err
	}
	p, err := upstream.Object[ownedPin](ctx, c.http, upstream.Get("v5", "pins", pin).With("pin_metrics", "true"), "")
	if err != nil {
		return schema.Post{}, err
	}
	if err := wire.Same(ctx, "pin", pin, string(p.V.ID)); err != nil {
		return schema.Post{}, err
	}
	post, _ := p.V.post(p.Raw)
	return post, nil
}

// https://developers.pinterest.com/docs/api/v5/pins-list
func (c *official) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	if err := c.owns(ctx, handle); err != nil {
		return page, err
	}
	return list(ctx, c, upstream.Get("v5", "pins"), cursor, ownedPin.post)
}

// list reads one page of a list of the official API.
// https://developers.pinterest.com/docs/reference/pagination/
func list[T, O any](
	ctx context.Context, c *official, r upstream.Request, cursor string, convert func(T, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	r = r.With("page_size", pageSize).With("bookmark", cursor)
	page, err = upstream.Page(ctx, c.http, r, upstream.List{Rows: "items", Next: "bookmark"}, convert)
	return page, blameCursor(err, cursor)
}
