package facebook

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const videoFields = "id,description,length,created_time,permalink_url,picture,views"

// reels reads the short videos of a Page, newest first.
func (c *client) reels(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	owner, err := c.owner(ctx, handle)
	if err != nil {
		return out, err
	}
	r := upstream.Get(owner.ID, "video_reels").With("fields", videoFields)
	return pageOf(ctx, c.pages, r, cursor, func(v video, raw json.RawMessage) (schema.Post, bool) {
		return v.post(owner, raw), true
	})
}

// video reads a video by its number.
func (c *client) video(ctx context.Context, id string) (schema.Post, error) {
	r := upstream.Get(id).With("fields", videoFields+",from")
	convert := func(v video, raw json.RawMessage) schema.Post { return v.post(schema.UnknownActor(), raw) }
	return upstream.One(ctx, c.pages, r, "", wire.As(convert), upstream.About[schema.Post]("video", id))
}

// video is a video.
type video struct {
	ID          wire.Serial `json:"id"`
	Description string      `json:"description"`
	Length      wire.Float  `json:"length"` // seconds
	Created     wire.Time   `json:"created_time"`
	Permalink   string      `json:"permalink_url"` // without the host
	Picture     string      `json:"picture"`
	Views       wire.Count  `json:"views"`
	From        maker       `json:"from"`
}

func (v video) post(owner schema.Actor, raw json.RawMessage) schema.Post {
	page := siteAddress(v.Permalink, siteURL+"watch/?v="+string(v.ID))
	return schema.Post{
		Common:     schema.Common{ID: string(v.ID), URL: page, Raw: raw},
		Author:     v.From.actor(owner),
		Text:       v.Description,
		CreatedAt:  v.Created.V,
		Media:      []schema.Media{v.media(page)},
		Engagement: schema.Engagement{Views: v.Views.V},
		Hashtags:   text.Hashtags(v.Description),
		Mentions:   text.Mentions(v.Description),
	}
}

func (v video) media(page string) schema.Media {
	return schema.Media{Type: schema.Video, URL: page, ThumbnailURL: text.URL(v.Picture), DurationS: v.duration()}
}

func (v video) duration() *float64 {
	if v.Length.V == nil || *v.Length.V < 0 {
		return nil
	}
	return v.Length.V
}

const liveFields = "id,title,description,status,live_views,creation_time,broadcast_start_time,permalink_url,from," +
	"embed_html"

// live reports whether a Page is broadcasting now.
func (c *client) live(ctx context.Context, handle string) (schema.LiveStream, error) {
	p, err := c.page(ctx, handle)
	if err != nil {
		return schema.LiveStream{}, err
	}
	var a list[broadcast]
	r := upstream.Get(string(p.V.ID), "live_videos").With("broadcast_status", `["LIVE"]`).
		With("fields", liveFields)
	if _, err := c.pages.Read(ctx, r, &a); err != nil {
		return schema.LiveStream{}, err
	}
	off := schema.LiveStream{Common: p.V.profile(p.Raw).Common, Host: p.V.actor()}
	rows, err := wire.Items(ctx, "data", a.Data, func(b broadcast, raw json.RawMessage) (wire.Object[broadcast], bool) {
		return wire.Object[broadcast]{V: b, Raw: raw}, true
	})
	if err != nil {
		return off, err
	}
	for _, b := range rows {
		if err := wire.Need(ctx, "data[].status", b.V.Status != ""); err != nil {
			return off, err
		}
		if b.V.Status == "LIVE" {
			return b.V.stream(off.Host, b.Raw), wire.Need(ctx, "data[].id", b.V.ID != "")
		}
	}
	return off, wire.Need(ctx, "data[].status", a.Data.Lost() == 0) // a row that was lost may be the current broadcast
}

// broadcast is a live video.
type broadcast struct {
	ID          wire.Serial `json:"id"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Status      string      `json:"status"` // LIVE, VOD, LIVE_STOPPED, PROCESSING …
	Viewers     wire.Count  `json:"live_views"`
	Created     wire.Time   `json:"creation_time"`
	Started     wire.Time   `json:"broadcast_start_time"`
	Permalink   string      `json:"permalink_url"`
}

func (b broadcast) stream(host schema.Actor, raw json.RawMessage) schema.LiveStream {
	l := schema.LiveStream{
		Common:    schema.Common{ID: string(b.ID), URL: siteAddress(b.Permalink, siteURL+"watch/?v="+string(b.ID)), Raw: raw},
		Host:      host,
		IsLive:    true,
		Title:     text.NonEmpty(b.Title),
		Viewers:   b.Viewers.V,
		StartedAt: b.Started.V,
	}
	if l.Title == nil {
		l.Title = text.NonEmpty(b.Description)
	}
	if l.StartedAt == nil {
		l.StartedAt = b.Created.V
	}
	return l
}
