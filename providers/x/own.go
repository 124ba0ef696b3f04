package x

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// newEmbed returns the provider for the JSON behind embedded posts.
func newEmbed(cfg Config) providers.Provider {
	e := embed{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.EmbedBaseURL, "https://cdn.syndication.twimg.com"),
	})}
	return providers.Provider{
		Name: "x_own", Platform: platform.X, Source: schema.Own,
		Post:      e.post,
		Normalize: normalize,
		Notes: map[providers.Op]string{
			providers.OpPost: "without shares, views and saves; a long post comes cut short",
		},
	}
}

type embed struct{ http *upstream.Client }

func (e embed) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := e.read(ctx, id)
	if err != nil {
		return p, fmt.Errorf("x: embedded post %q: %w", id, err)
	}
	return p, nil
}

func (e embed) read(ctx context.Context, id string) (schema.Post, error) {
	var raw json.RawMessage
	r := upstream.Get("tweet-result").With("id", id).With("lang", "en").With("token", embedToken(id))
	if _, err := e.http.JSON(ctx, r, &raw); err != nil {
		return schema.Post{}, err
	}
	var t embedded
	if err := (&upstream.Response{Body: raw}).JSON(&t); err != nil {
		return schema.Post{}, err
	}
	switch {
	case t.Type == "TweetTombstone":
		return schema.Post{}, providers.NotFound("the post is deleted, withheld or shown to adults only")
	case string(raw) == "{}":
		return schema.Post{}, providers.NotFound("X knows no such post")
	case t.ID == "" || t.User.ID == "" || t.User.ScreenName == "":
		return schema.Post{}, providers.Unreadable(nil)
	}
	return t.post(raw), nil
}

// embedded is a post as https://platform.twitter.com/embed asks for it; it is documented nowhere.
type embedded struct {
	Type      string     `json:"__typename"` // "Tweet" or "TweetTombstone"
	ID        string     `json:"id_str"`
	Text      string     `json:"text"` // with &, < and > as entities
	Lang      string     `json:"lang"`
	CreatedAt *time.Time `json:"created_at"`
	Likes     *int64     `json:"favorite_count"`
	Replies   *int64     `json:"conversation_count"`
	User      struct {
		ID         string `json:"id_str"`
		Name       string `json:"name"`
		ScreenName string `json:"screen_name"`
		Image      string `json:"profile_image_url_https"`
	} `json:"user"`
	Entities struct {
		Hashtags []struct {
			Text string `json:"text"`
		} `json:"hashtags"`
		Mentions []struct {
			ScreenName string `json:"screen_name"`
		} `json:"user_mentions"`
	} `json:"entities"`
	Media []struct {
		Type        string `json:"type"` // "photo", "video" or "animated_gif"
		ImageURL    string `json:"media_url_https"`
		ExpandedURL string `json:"expanded_url"`
		Video       struct {
			DurationMS *float64 `json:"duration_millis"`
			Variants   []struct {
				BitRate     int64  `json:"bitrate"`
				ContentType string `json:"content_type"`
				URL         string `json:"url"`
			} `json:"variants"`
		} `json:"video_info"`
	} `json:"mediaDetails"`
}

func (t embedded) post(raw []byte) schema.Post {
	p := schema.Post{
		Common: schema.Common{ID: t.ID, URL: statusURL(t.User.ScreenName, t.ID), Raw: raw},
		Author: schema.Actor{
			ID: t.User.ID, Handle: t.User.ScreenName,
			DisplayName: text.NonEmpty(t.User.Name), AvatarURL: text.URL(t.User.Image),
		},
		Text:       unescape(t.Text),
		Lang:       language(t.Lang),
		CreatedAt:  t.CreatedAt,
		Engagement: schema.Engagement{Likes: t.Likes, Comments: t.Replies},
	}
	for _, h := range t.Entities.Hashtags {
		p.Hashtags = appendNew(p.Hashtags, h.Text)
	}
	for _, m := range t.Entities.Mentions {
		p.Mentions = appendNew(p.Mentions, m.ScreenName)
	}
	for _, m := range t.Media {
		item := schema.Media{Type: schema.Video, ThumbnailURL: text.URL(m.ImageURL)}
		from, rate := m.ExpandedURL, int64(-1)
		for _, v := range m.Video.Variants {
			if v.ContentType == "video/mp4" && v.BitRate > rate {
				from, rate = v.URL, v.BitRate
			}
		}
		if m.Type == "photo" {
			item.Type, item.ThumbnailURL, from = schema.Image, nil, m.ImageURL
		}
		if d := m.Video.DurationMS; d != nil && *d > 0 {
			item.DurationS = new(*d / 1000)
		}
		if u := text.URL(from); u != nil {
			item.URL = *u
			p.Media = append(p.Media, item)
		}
	}
	return p
}

// embedToken makes the parameter that X's own embed code sends with an id: in its words,
// ((Number(id)/1e15)*Math.PI).toString(36) without zeros and the point.
func embedToken(id string) string {
	n, err := strconv.ParseFloat(id, 64)
	if err != nil {
		return "0"
	}
	return strings.NewReplacer("0", "", ".", "").Replace(base36(n / 1e15 * math.Pi))
}

// base36 writes v as JavaScript does: the fewest digits that tell it from its neighbours.
func base36(v float64) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	units, rest := math.Modf(v)
	near := max(0.5*(math.Nextafter(v, math.Inf(1))-v), math.SmallestNonzeroFloat64)
	var b []byte
	for rest >= near {
		rest, near = rest*36, near*36
		d := int(rest)
		b = append(b, digits[d])
		rest -= float64(d)
		if (rest > 0.5 || rest == 0.5 && d&1 == 1) && rest+near > 1 { // rounds up, and carries
			i := len(b) - 1
			for ; i >= 0 && b[i] == 'z'; i-- {
			}
			if b = b[:i+1]; i < 0 {
				units++
				break
			}
			b[i] = digits[strings.IndexByte(digits, b[i])+1]
			break
		}
	}
	return strconv.FormatInt(int64(units), 36) + "." + string(b)
}
