package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// node is a post as the site's apps and the newer of its queries get it. It is not documented.
type node struct {
	PK      wire.Serial `json:"pk"` // in some answers only part of the id
	ID      string      `json:"id"` // the same and, after an underscore, the author's
	Code    string      `json:"code"`
	User    *member     `json:"user"`
	Owner   *member     `json:"owner"`
	TakenAt wire.Time   `json:"taken_at"`
	Caption struct {
		Text string `json:"text"`
	} `json:"caption"` // null when there is no caption
	Likes         wire.Count      `json:"like_count"`
	Comments      wire.Count      `json:"comment_count"`
	Plays         wire.Count      `json:"play_count"`
	Views         wire.Count      `json:"view_count"` // of at least three seconds, in older answers
	Reshares      wire.Count      `json:"reshare_count"`
	NoCounts      wire.Bool       `json:"like_and_view_counts_disabled"`
	NoComments    wire.Bool       `json:"comments_disabled"`
	PaidPromotion bool            `json:"is_paid_partnership"`
	Product       string          `json:"product_type"` // clips means a reel
	Clips         json.RawMessage `json:"clips_metadata"`
	frame
	Carousel []frame `json:"carousel_media"`
}

// frame is one picture or video of a post.
type frame struct {
	Type       wire.Count `json:"media_type"` // 1 a picture, 2 a video, 8 several of them
	DisplayURI string     `json:"display_uri"`
	Images     struct {
		Candidates []address `json:"candidates"` // largest first
	} `json:"image_versions2"`
	Videos   []address  `json:"video_versions"` // the same video in several qualities
	Duration wire.Float `json:"video_duration"` // seconds
}

type address struct {
	URL string `json:"url"`
}

func first(list []address) string {
	for _, a := range list {
		return a.URL
	}
	return ""
}

const (
	clips = "clips" // the product that is a reel
	video = 2       // the type of a video
)

// isReel reports whether n is a reel. Some answers do not say so, but have fields that only reels have.
func (n node) isReel() bool {
	return n.Product == clips || n.Product == "" && len(n.Clips) > 0 && n.Clips[0] == '{'
}

// post converts n, with the given author if the answer names none.
func (n node) post(author schema.Actor, raw json.RawMessage) schema.Post {
	p := schema.Post{
		Common:    schema.Common{ID: n.number(), URL: n.url(), Raw: raw},
		Author:    author,
		Text:      n.Caption.Text,
		CreatedAt: n.TakenAt.V,
		Media:     n.media(),
		Hashtags:  text.GluedHashtags(n.Caption.Text),
		Mentions:  mentionsOf(n.Caption.Text),
		IsAd:      n.PaidPromotion,
	}
	for _, m := range []*member{n.Owner, n.User} {
		switch {
		case m == nil:
		case m.Username != "", p.Author == schema.UnknownActor():
			p.Author = m.actor()
		}
	}
	p.Engagement = schema.Engagement{Comments: n.Comments.V, Shares: n.Reshares.V}
	if n.NoCounts.Not() {
		p.Engagement.Likes, p.Engagement.Views = n.Likes.V, either(n.Plays, n.Views)
	}
	return p
}

// either returns the first of two counts that is known.
func either(a, b wire.Count) *int64 {
	if a.V != nil {
		return a.V
	}
	return b.V
}

// number returns the number of the post.
func (n node) number() string {
	id, _, _ := strings.Cut(n.ID, "_")
	switch {
	case n.PK == "" && links.Digits(id):
		return id
	case n.PK == "" && n.ID == "":
		return numberOf(n.Code)
	}
	return string(n.PK)
}

func (n node) url() string { return postPageOf(n.Code, n.number(), n.isReel()) }

// author returns the number of the author, "" when the answer has none.
func (n node) author() string {
	_, id, _ := strings.Cut(n.ID, "_")
	return id
}

func (n node) media() []schema.Media {
	if len(n.Carousel) == 0 {
		return n.frame.media(n.url())
	}
	var out []schema.Media
	for _, f := range n.Carousel {
		out = append(out, f.media(n.url())...)
	}
	return out
}

func (f frame) media(page string) []schema.Media {
	seen := sight{image: cmp.Or(first(f.Images.Candidates), f.DisplayURI), video: first(f.Videos), duration: f.Duration.V}
	seen.moves = seen.video != "" || f.Type.V != nil && *f.Type.V == video
	return seen.media(page)
}

// sight is the data of a picture or a video.
type sight struct {
	image, video string
	moves        bool
	duration     *float64 // seconds
}

// media converts s. A video without an address gets that of its first picture, or of the post's page.
func (s sight) media(page string) []schema.Media {
	image := text.URL(s.image)
	if !s.moves {
		if image == nil {
			return nil
		}
		return []schema.Media{{Type: schema.Image, URL: *image}}
	}
	at := text.URL(cmp.Or(s.video, s.image, page))
	if at == nil {
		return nil
	}
	m := schema.Media{Type: schema.Video, URL: *at, ThumbnailURL: image}
	if s.duration != nil && *s.duration >= 0 {
		m.DurationS = s.duration
	}
	return []schema.Media{m}
}

// ParsePost converts a post as the site's apps get it, with pk and code, from any source. The error wraps
// [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var n node
	err := wire.Decode(ctx, raw, &n)
	return n.post(schema.UnknownActor(), raw), err
}

// Named returns the hashtags in a caption, without #, and the handles, without @.
func Named(caption string) (hashtags, mentions []string) {
	return text.GluedHashtags(caption), mentionsOf(caption)
}
