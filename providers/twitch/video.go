package twitch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/dates"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	page, err := c.videos(ctx, handle, cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("twitch: posts of %q: %w", handle, err)
	}
	return page, nil
}

func (c *client) videos(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	u, err := c.named(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	r := upstream.Get("videos").With("user_id", u.V.ID).With("sort", "time").With("type", "all").With("period", "all")
	rows, next, err := list[video](ctx, c, r.With("first", pageSize), cursor)
	page := providers.Page[schema.Post]{Next: next}
	for _, v := range rows {
		if v.V.public() {
			page.Items = append(page.Items, v.V.post(u.V.actor(), v.Raw))
		}
	}
	return page, err
}

// post reads a video, whose id is a number, or a clip, whose id is a slug.
func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	read := c.clip
	if links.Digits(id) {
		read = c.video
	}
	p, err := read(ctx, id)
	if err != nil {
		return schema.Post{}, fmt.Errorf("twitch: post %q: %w", id, err)
	}
	return p, nil
}

func (c *client) video(ctx context.Context, id string) (schema.Post, error) {
	rows, err := get[video](ctx, c, upstream.Get("videos").With("id", id))
	if err != nil {
		return schema.Post{}, err
	}
	for _, v := range rows {
		if v.V.ID != id {
			continue
		}
		if !v.V.public() {
			return schema.Post{}, providers.NotFound("this video is private")
		}
		author := schema.Actor{ID: v.V.UserID, Handle: v.V.UserLogin, DisplayName: text.NonEmpty(v.V.UserName)}
		if author.ID == "" || author.Handle == "" {
			if author, err = c.owner(ctx, v.V.UserID, v.V.UserName); err != nil {
				return schema.Post{}, err
			}
		}
		return v.V.post(author, v.Raw), nil
	}
	return schema.Post{}, providers.NotFound("Twitch has no such video, or no longer")
}

// video is one of GET /videos.
// https://dev.twitch.tv/docs/api/reference/#get-videos
type video struct {
	ID           string `json:"id"`
	UserID       string `json:"user_id"`
	UserLogin    string `json:"user_login"` // absent in old answers
	UserName     string `json:"user_name"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	CreatedAt    string `json:"created_at"`
	PublishedAt  string `json:"published_at"`
	URL          string `json:"url"`
	ThumbnailURL string `json:"thumbnail_url"` // a template; "" or a placeholder while there is none
	Viewable     string `json:"viewable"`      // "public" or "private"
	ViewCount    *int64 `json:"view_count"`
	Language     string `json:"language"`
	Duration     string `json:"duration"` // such as 3h8m33s
}

func (v video) public() bool { return v.Viewable != "private" }

func (v video) post(author schema.Actor, raw []byte) schema.Post {
	page := site + "videos/" + v.ID
	if u := text.URL(v.URL); u != nil {
		page = *u
	}
	words := text.Join(v.Title, v.Description)
	media := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: thumbnail(v.ThumbnailURL)}
	if d, err := time.ParseDuration(v.Duration); err == nil {
		media.DurationS = new(d.Seconds())
	}
	return schema.Post{
		Common:     schema.Common{ID: v.ID, URL: page, Raw: raw},
		Author:     author,
		Text:       words,
		Lang:       lang(v.Language),
		CreatedAt:  timeOf(cmp.Or(v.PublishedAt, v.CreatedAt)),
		Media:      []schema.Media{media},
		Engagement: schema.Engagement{Views: v.ViewCount},
		Hashtags:   text.Hashtags(words),
		Mentions:   text.Mentions(words),
	}
}

// size fills the templates of pictures: those of videos are written with a percent sign, those of streams without.
var size = strings.NewReplacer("%{width}", "640", "%{height}", "360", "{width}", "640", "{height}", "360")

// thumbnail returns the picture of a template, nil for the placeholder of a picture that is not made yet.
func thumbnail(template string) *string {
	if strings.Contains(template, "/_404/") {
		return nil
	}
	return text.URL(size.Replace(template))
}

// timeOf reads a time; Twitch's own stand-in for Helix writes some without T and zone, in UTC.
func timeOf(s string) *time.Time { return dates.Parse(s, time.RFC3339, time.DateTime) }
