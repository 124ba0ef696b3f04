package kick

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// posts lists the recordings of a channel, newest first, in one page. It also reads the channel, which is their author.
func (w *website) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	if cursor != "" {
		return providers.Page[schema.Post]{}, providers.ErrCursor
	}
	c, err := w.channel(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	var rows wire.Rows[video]
	if _, err := w.http.Read(ctx, upstream.Get("api", "v2", "channels", handle, "videos"), &rows); err != nil {
		return providers.Page[schema.Post]{}, err
	}
	author := c.V.actor()
	items, err := wire.Items(ctx, "videos", rows, func(v video, raw json.RawMessage) (schema.Post, bool) {
		return v.row(ctx, author, raw)
	})
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	// Kick does not count recordings
	err = wire.Witness{Rows: rows.Len()}.Check(ctx, "videos")
	return providers.Page[schema.Post]{Items: items}, err
}

// post reads a recording, whose id is a UUID, or a clip.
func (w *website) post(ctx context.Context, id string) (schema.Post, error) {
	read := w.video
	if clip.MatchString(id) {
		read = w.clip
	}
	return read(ctx, id)
}

func (w *website) video(ctx context.Context, id string) (schema.Post, error) {
	var v wire.Object[video]
	if _, err := w.http.Read(ctx, upstream.Get("api", "v1", "video", id), &v); err != nil {
		return schema.Post{}, err
	}
	r, b, err := v.V.parts(ctx)
	if err != nil {
		return schema.Post{}, err
	}
	if err := wire.SameFold(ctx, "video", id, r.UUID); err != nil {
		return schema.Post{}, err
	}
	err = wire.Need(ctx, "is_private, is_pruned", r.hidden() || r.shown())
	switch {
	case err != nil:
		return schema.Post{}, err
	case r.hidden():
		return schema.Post{}, providers.NotFound("this video is private or has been deleted")
	}
	author := schema.UnknownActor()
	if b.Channel != nil {
		author = b.Channel.actor()
	}
	return post(r, b, author, v.Raw), nil
}

// video is a recording: a row of GET /api/v2/channels/{slug}/videos, which is a broadcast that contains its recording,
// or the answer of GET /api/v1/video/{uuid}, which is a recording that contains its broadcast.
type video struct {
	recording
	broadcast
	Video      json.RawMessage `json:"video"`      // a [recording]; null after it has been deleted
	Livestream json.RawMessage `json:"livestream"` // a [broadcast]
}

// parts returns the recording and the broadcast, whichever contains the other.
func (v video) parts(ctx context.Context) (r recording, b broadcast, err error) {
	r, b = v.recording, v.broadcast
	if v.Video != nil {
		views := r.Views
		r = recording{}
		if err := wire.Decode(ctx, v.Video, &r); err != nil {
			return r, b, err
		}
		if r.Views.V == nil {
			r.Views = views
		}
	}
	if v.Livestream != nil {
		created := b.CreatedAt
		b = broadcast{}
		if err := wire.Decode(ctx, v.Livestream, &b); err != nil {
			return r, b, err
		}
		if b.CreatedAt.V == nil {
			b.CreatedAt = created
		}
	}
	return r, b, nil
}

// row converts v, an element of a channel's list of recordings. belongs is false for the current broadcast and for a
// deleted recording.
func (v video) row(ctx context.Context, author schema.Actor, raw json.RawMessage) (p schema.Post, belongs bool) {
	if string(v.Video) == "null" {
		return p, false
	}
	r, b, err := v.parts(ctx)
	switch {
	case err != nil:
		return p, true
	case r.hidden() || b.IsLive.Is():
		return p, false
	case !r.shown() || b.IsLive.V == nil:
		return p, true
	}
	return post(r, b, author, raw), true
}

type recording struct {
	UUID      string     `json:"uuid"`
	Views     wire.Count `json:"views"`
	IsPrivate wire.Bool  `json:"is_private"` // absent when false, as is the next
	IsPruned  wire.Bool  `json:"is_pruned"`
}

func (r recording) hidden() bool { return r.IsPrivate.Is() || r.IsPruned.Is() }

// shown reports whether r is public. It is false if a flag cannot be read.
func (r recording) shown() bool { return r.IsPrivate.Not() && r.IsPruned.Not() }

// broadcast is one stream of a channel.
type broadcast struct {
	IsLive       wire.Bool  `json:"is_live"`
	SessionTitle string     `json:"session_title"`
	StartTime    wire.Time  `json:"start_time"` // in one of two forms, in UTC
	CreatedAt    wire.Time  `json:"created_at"`
	Duration     wire.Count `json:"duration"` // milliseconds
	Language     string     `json:"language"` // often the English name
	Thumbnail    picture    `json:"thumbnail"`
	ViewerCount  wire.Count `json:"viewer_count"`
	Viewers      wire.Count `json:"viewers"`
	Channel      *channel   `json:"channel"` // only within a recording
}

func (b broadcast) started() *time.Time { return cmp.Or(b.StartTime.V, b.CreatedAt.V) }

// picture is the address of a picture, written as a string or within an object.
type picture string

// UnmarshalJSON reads a string, or an object with src or url. It never fails: other values are no picture.
func (p *picture) UnmarshalJSON(b []byte) error {
	var o struct {
		Src string `json:"src"`
		URL string `json:"url"`
	}
	var s string
	if json.Unmarshal(b, &s) != nil && json.Unmarshal(b, &o) == nil {
		s = cmp.Or(o.Src, o.URL)
	}
	*p = picture(s)
	return nil
}

func post(r recording, b broadcast, author schema.Actor, raw json.RawMessage) schema.Post {
	id := strings.ToLower(r.UUID)
	if !uuid.MatchString(id) {
		id = ""
	}
	page := site + author.Handle + "/videos/" + id
	if author == schema.UnknownActor() {
		page = site + "video/" + id // the website redirects from there
	}
	media := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: text.URL(string(b.Thumbnail))}
	if ms := b.Duration.V; ms != nil {
		media.DurationS = new(float64(*ms) / 1000)
	}
	return schema.Post{
		Common:     schema.Common{ID: id, URL: page, Raw: raw},
		Author:     author,
		Text:       strings.TrimSpace(b.SessionTitle),
		Lang:       language(b.Language),
		CreatedAt:  b.started(),
		Media:      []schema.Media{media},
		Engagement: schema.Engagement{Views: r.Views.V},
		Hashtags:   text.Hashtags(b.SessionTitle),
		Mentions:   text.Mentions(b.SessionTitle),
	}
}
