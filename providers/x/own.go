package x

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// newOwn returns the provider for the JSON of embedded posts.
func newOwn(cfg Config) providers.Provider {
	e := embed{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.EmbedBaseURL, "https://cdn.syndication.twimg.com"), Absent: absentEmbed,
	})}
	return providers.Provider{
		Name: "x_own", Platform: platform.X, Source: schema.Own, Prompt: true,
		Post:      e.post,
		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Notes: map[providers.Op]string{
			providers.OpPost: "without shares, views and saves; long posts are truncated",
		},
	}
}

type embed struct{ http *upstream.Client }

func (e embed) post(ctx context.Context, id string) (schema.Post, error) {
	var t wire.Object[embedded]
	r := upstream.Get("tweet-result").With("id", id).With("lang", "en").With("token", embedToken(id))
	if _, err := e.http.Read(ctx, r, &t); err != nil {
		return schema.Post{}, err
	}
	switch {
	case t.V.Type == "TweetTombstone":
		return schema.Post{}, providers.NotFound("the post is deleted, withheld or restricted to adults")
	case string(bytes.TrimSpace(t.Raw)) == "{}":
		return schema.Post{}, providers.NotFound("X has no such post")
	}
	if err := wire.Need(ctx, "user", t.V.User.ID != "" && t.V.User.ScreenName != ""); err != nil {
		return schema.Post{}, err
	}
	return t.V.post(t.Raw), wire.Same(ctx, "post", id, string(t.V.ID))
}

// embedded is a post in the answer to https://platform.twitter.com/embed. It is undocumented.
type embedded struct {
	Type      string      `json:"__typename"` // "Tweet" or "TweetTombstone"
	ID        wire.Serial `json:"id_str"`
	Text      string      `json:"text"` // with &, < and > as entities
	Lang      string      `json:"lang"`
	CreatedAt wire.Time   `json:"created_at"`
	Likes     wire.Count  `json:"favorite_count"`
	Replies   wire.Count  `json:"conversation_count"`
	User      struct {
		ID         wire.Serial `json:"id_str"`
		Name       string      `json:"name"`
		ScreenName string      `json:"screen_name"`
		Image      string      `json:"profile_image_url_https"`
	} `json:"user"`
	Entities struct {
		Hashtags []struct {
			Text string `json:"text"`
		} `json:"hashtags"`
		Mentions []struct {
			ScreenName string `json:"screen_name"`
		} `json:"user_mentions"`
	} `json:"entities"`
	Media []attachment `json:"mediaDetails"`
}

// attachment is a picture or a video in the format of the site's own code.
type attachment struct {
	Type        string `json:"type"` // "photo", "video" or "animated_gif"
	ImageURL    string `json:"media_url_https"`
	ExpandedURL string `json:"expanded_url"`
	Video       struct {
		DurationMS wire.Float `json:"duration_millis"`
		Variants   []file     `json:"variants"`
	} `json:"video_info"`
}

func attached(list []attachment) []schema.Media {
	var out []schema.Media
	for _, m := range list {
		from := cmp.Or(best(m.Video.Variants), m.ExpandedURL)
		if m.Type == "photo" {
			from = m.ImageURL
		}
		if item, ok := show(m.Type, from, m.ImageURL, m.Video.DurationMS); ok {
			out = append(out, item)
		}
	}
	return out
}

func (t embedded) post(raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common: schema.Common{ID: string(t.ID), URL: statusURL(t.User.ScreenName, string(t.ID)), Raw: raw},
		Author: schema.Actor{
			ID: string(t.User.ID), Handle: t.User.ScreenName,
			DisplayName: text.NonEmpty(t.User.Name), AvatarURL: text.URL(t.User.Image),
		},
		Text:       unescape(t.Text),
		Lang:       language(t.Lang),
		CreatedAt:  t.CreatedAt.V,
		Engagement: schema.Engagement{Likes: t.Likes.V, Comments: t.Replies.V},
	}
	for _, h := range t.Entities.Hashtags {
		p.Hashtags = append(p.Hashtags, h.Text)
	}
	for _, m := range t.Entities.Mentions {
		p.Mentions = append(p.Mentions, m.ScreenName)
	}
	p.Hashtags, p.Mentions = text.Each(p.Hashtags), text.Each(p.Mentions)
	p.Media = attached(t.Media)
	return p
}

// embedToken returns the parameter that X's own embed code sends with an id: ((Number(id)/1e15)*Math.PI).toString(36)
// without zeros and the point.
func embedToken(id string) string {
	n, err := strconv.ParseFloat(id, 64)
	if err != nil {
		return "0"
	}
	return strings.NewReplacer("0", "", ".", "").Replace(base36(n / 1e15 * math.Pi))
}

// base36 formats v as JavaScript does: with the fewest digits that distinguish it from its neighbors.
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
