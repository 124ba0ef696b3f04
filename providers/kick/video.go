package kick

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// posts lists the recordings of a channel, newest first, in one page. The channel is read too, for whose they are.
func (w *website) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := w.videos(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("kick: posts of %q: %w", handle, err)
	}
	return page, nil
}

func (w *website) videos(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if cursor != "" {
		return providers.Page[schema.Post]{}, providers.ErrCursor
	}
	c, err := w.channel(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	var rows []upstream.Object[video]
	if _, err := w.http.JSON(ctx, upstream.Get("api", "v2", "channels", handle, "videos"), &rows); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if rows == nil {
		return providers.Page[schema.Post]{}, providers.Unreadable(errNoList)
	}
	var page providers.Page[schema.Post]
	for _, v := range rows {
		r, b := v.V.parts()
		if r.UUID != "" && !r.hidden() && !bool(b.IsLive) {
			page.Items = append(page.Items, post(r, b, c.V.actor(), v.Raw))
		}
	}
	return page, nil
}

// post reads a recording, whose id is a UUID, or a clip.
func (w *website) post(ctx context.Context, id string) (schema.Post, error) {
	read := w.video
	if clip.MatchString(id) {
		read = w.clip
	}
	p, err := read(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("kick: post %q: %w", id, err)
	}
	return p, nil
}

func (w *website) video(ctx context.Context, id string) (schema.Post, error) {
	var v upstream.Object[video]
	if _, err := w.http.JSON(ctx, upstream.Get("api", "v1", "video", id), &v); err != nil {
		return schema.Post{}, err
	}
	r, b := v.V.parts()
	switch {
	case !strings.EqualFold(r.UUID, id):
		return schema.Post{}, providers.Unreadable(nil)
	case r.hidden():
		return schema.Post{}, providers.NotFound("this video is private or no longer kept")
	}
	author := schema.UnknownActor()
	if b.Channel != nil {
		author = b.Channel.actor()
	}
	return post(r, b, author, v.Raw), nil
}

// video is a recording: a row of GET /api/v2/channels/{slug}/videos, which is a broadcast with its recording inside, or
// the answer of GET /api/v1/video/{uuid}, which is a recording with its broadcast inside.
type video struct {
	recording
	broadcast
	Video      *recording `json:"video"`
	Livestream *broadcast `json:"livestream"`
}

func (v video) parts() (recording, broadcast) {
	r, b := v.recording, v.broadcast
	if v.Video != nil {
		views := r.Views
		if r = *v.Video; r.Views.V == nil {
			r.Views = views
		}
	}
	if v.Livestream != nil {
		created := b.CreatedAt
		b = *v.Livestream
		b.CreatedAt = cmp.Or(b.CreatedAt, created)
	}
	return r, b
}

type recording struct {
	UUID      string       `json:"uuid"`
	Views     upstream.Int `json:"views"`
	IsPrivate truthy       `json:"is_private"`
	IsPruned  truthy       `json:"is_pruned"`
}

func (r recording) hidden() bool { return bool(r.IsPrivate) || bool(r.IsPruned) }

// broadcast is one stream of a channel.
type broadcast struct {
	IsLive       truthy       `json:"is_live"`
	SessionTitle string       `json:"session_title"`
	StartTime    string       `json:"start_time"` // in either of two forms, UTC
	CreatedAt    string       `json:"created_at"`
	Duration     upstream.Int `json:"duration"` // milliseconds
	Language     string       `json:"language"` // often in English words
	Thumbnail    picture      `json:"thumbnail"`
	ViewerCount  upstream.Int `json:"viewer_count"`
	Viewers      upstream.Int `json:"viewers"`
	Channel      *channel     `json:"channel"` // around a recording only
}

// picture is the address of one, written as it is or inside an object.
type picture string

// UnmarshalJSON reads a string, an object with src or url, or null.
func (p *picture) UnmarshalJSON(b []byte) error {
	*p = ""
	if len(b) > 0 && b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*p = picture(s)
		return err
	}
	var o struct {
		Src string `json:"src"`
		URL string `json:"url"`
	}
	err := json.Unmarshal(b, &o)
	*p = picture(cmp.Or(o.Src, o.URL))
	return err
}

func post(r recording, b broadcast, author schema.Actor, raw []byte) schema.Post {
	page := site + author.Handle + "/videos/" + r.UUID
	if author == schema.UnknownActor() {
		page = site + "video/" + r.UUID // the website leads on from there
	}
	media := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: text.URL(string(b.Thumbnail))}
	if ms := b.Duration.V; ms != nil {
		media.DurationS = new(float64(*ms) / 1000)
	}
	return schema.Post{
		Common:     schema.Common{ID: r.UUID, URL: page, Raw: raw},
		Author:     author,
		Text:       strings.TrimSpace(b.SessionTitle),
		Lang:       language(b.Language),
		CreatedAt:  timeOf(cmp.Or(b.StartTime, b.CreatedAt)),
		Media:      []schema.Media{media},
		Engagement: schema.Engagement{Views: r.Views.V},
		Hashtags:   text.Hashtags(b.SessionTitle),
		Mentions:   text.Mentions(b.SessionTitle),
	}
}
