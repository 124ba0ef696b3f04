package twitch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	r := upstream.Get("videos").With("user_id", string(u.V.ID)).With("sort", "time").With("type", "all").With("period", "all")
	return listPage(ctx, c, r, cursor, func(v video, raw json.RawMessage) (schema.Post, bool) {
		if !v.classified() || v.UserID != "" && v.UserID != u.V.ID {
			return schema.Post{}, true
		}
		return v.post(u.V.actor(), raw), !v.private()
	})
}

// post reads a video, whose id is a number, or a clip, whose id is a slug.
func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	read := c.clip
	if links.Digits(id) {
		read = c.video
	}
	return read(ctx, id)
}

// longestNumber is the maximum number of digits in a video's id that is requested together with others: Helix refuses
// the whole request if one is too large.
const longestNumber = 15

// postsByID reads videos and clips by their ids: one request for the videos, one for the clips, and one for channels
// that are not completely named in them.
func (c *client) postsByID(ctx context.Context, ids []string) (map[string]schema.Post, error) {
	numbers := providers.Together(ids, func(id string) bool { return links.Digits(id) && len(id) <= longestNumber })
	slugs := providers.Together(ids, func(id string) bool { return !links.Digits(id) })
	videos, err := several(ctx, c, upstream.Get("videos"), "id", numbers, func(v video) string { return string(v.ID) })
	if err != nil && !errors.Is(err, providers.ErrNotFound) { // which means that none of them exists
		return providers.PerKey[schema.Post](ids, err, nil)
	}
	r := upstream.Get("clips").With("first", pageSize)
	clips, err := several(ctx, c, r, "id", slugs, func(o clip) string { return string(o.ID) })
	var owners []string
	for _, id := range numbers {
		if v, err := videos.Of(id, noVideo()); err == nil && !v.V.named() && v.V.UserID != "" {
			owners = append(owners, string(v.V.UserID))
		}
	}
	for _, id := range slugs {
		if o, err := clips.Of(id, noClip()); err == nil && o.V.BroadcasterID != "" {
			owners = append(owners, string(o.V.BroadcasterID))
		}
	}
	owner := c.owners(ctx, owners)
	return providers.PerKey(ids, err, func(id string) (schema.Post, error) {
		switch {
		case !links.Digits(id):
			o, err := clips.Of(id, noClip())
			if err != nil {
				return schema.Post{}, err
			}
			return o.V.shown(ctx, o.Raw, owner)
		case len(id) > longestNumber:
			return schema.Post{}, providers.Alone()
		}
		v, err := videos.Of(id, noVideo())
		if err != nil {
			return schema.Post{}, err
		}
		return v.V.shown(ctx, v.Raw, owner)
	})
}

func noVideo() error { return providers.NotFound("Twitch has no such video, or it has been deleted") }

func (c *client) video(ctx context.Context, id string) (schema.Post, error) {
	v, err := one(ctx, c, upstream.Get("videos").Says("id", id), "video", func(v video) bool { return string(v.ID) == id })
	if errors.Is(err, providers.ErrNotFound) {
		err = noVideo()
	}
	if err != nil {
		return schema.Post{}, err
	}
	return v.V.shown(ctx, v.Raw, c.owner)
}

// lookUp returns the account with an id; see [client.owner].
type lookUp func(ctx context.Context, id wire.Serial, shown string) (schema.Actor, error)

// shown converts a video that was read alone. It returns an error if the video is not public, or if that is unknown.
func (v video) shown(ctx context.Context, raw json.RawMessage, owner lookUp) (schema.Post, error) {
	if err := wire.Need(ctx, "data[].viewable", v.classified()); err != nil {
		return schema.Post{}, err
	}
	if v.private() {
		return schema.Post{}, providers.NotFound("this video is private")
	}
	author := schema.Actor{ID: string(v.UserID), Handle: v.UserLogin, DisplayName: text.NonEmpty(v.UserName)}
	if !v.named() {
		var err error
		if author, err = owner(ctx, v.UserID, v.UserName); err != nil {
			return schema.Post{}, err
		}
	}
	return v.post(author, raw), nil
}

// named reports whether v has both the id and the login of its channel.
func (v video) named() bool { return v.UserID != "" && v.UserLogin != "" }

// video is an element of GET /videos.
// https://dev.twitch.tv/docs/api/reference/#get-videos
type video struct {
	ID           wire.Serial         `json:"id"`
	UserID       wire.Serial         `json:"user_id"`
	UserLogin    string              `json:"user_login"` // absent in old answers
	UserName     string              `json:"user_name"`
	Title        string              `json:"title"`
	Description  string              `json:"description"`
	CreatedAt    wire.Time           `json:"created_at"`
	PublishedAt  wire.Time           `json:"published_at"`
	URL          string              `json:"url"`
	ThumbnailURL string              `json:"thumbnail_url"` // a template; "" or a placeholder until there is a picture
	Viewable     wire.Object[string] `json:"viewable"`      // "public" or "private"; an app only gets public ones
	ViewCount    wire.Count          `json:"view_count"`
	Language     string              `json:"language"`
	Duration     string              `json:"duration"` // such as 3h8m33s
}

func (v video) private() bool { return v.Viewable.V == "private" }

// classified reports whether it is known who may see v. If the visibility is missing, v is public.
func (v video) classified() bool {
	return v.private() || v.Viewable.V == "public" || v.Viewable.V == "" && !v.Viewable.Odd()
}

func (v video) post(author schema.Actor, raw json.RawMessage) schema.Post {
	page := text.URLOr(v.URL, site+"videos/"+string(v.ID))
	words := text.Join(v.Title, v.Description)
	media := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: thumbnail(v.ThumbnailURL)}
	if d, err := time.ParseDuration(v.Duration); err == nil && d >= 0 {
		media.DurationS = new(d.Seconds())
	}
	return schema.Post{
		Common:     schema.Common{ID: string(v.ID), URL: page, Raw: raw},
		Author:     author,
		Text:       words,
		Lang:       &v.Language,
		CreatedAt:  cmp.Or(v.PublishedAt.V, v.CreatedAt.V),
		Media:      []schema.Media{media},
		Engagement: schema.Engagement{Views: v.ViewCount.V},
		Hashtags:   text.Hashtags(words),
		Mentions:   text.Mentions(words),
	}
}

// size fills in the templates of pictures: those of videos have a percent sign, those of streams do not.
var size = strings.NewReplacer("%{width}", "640", "%{height}", "360", "{width}", "640", "{height}", "360")

// thumbnail returns the picture of a template, nil for the placeholder of a missing picture.
func thumbnail(template string) *string {
	if strings.Contains(template, "/_404/") {
		return nil
	}
	return text.URL(size.Replace(template))
}
