package threads

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// member is an account as the site's own code gets it; inside a post it has the first fields only. It is documented
// nowhere.
type member struct {
	PK         upstream.ID  `json:"pk"`
	Username   string       `json:"username"`
	FullName   string       `json:"full_name"`
	Picture    string       `json:"profile_pic_url"`
	Verified   bool         `json:"is_verified"`
	Private    bool         `json:"text_post_app_is_private"`
	Followers  upstream.Int `json:"follower_count"`
	Biography  *string      `json:"biography"`
	Formatted  formatted    `json:"text_app_biography"`
	HDPictures []struct {
		Width int    `json:"width"`
		URL   string `json:"url"`
	} `json:"hd_profile_pic_versions"`
	BioLinks []struct {
		URL string `json:"url"`
	} `json:"bio_links"`
}

func (m member) profile(raw []byte) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: m.id(), URL: "https://www.threads.com/@" + m.Username, Raw: raw},
		Handle:      m.Username,
		DisplayName: text.NonEmpty(m.FullName),
		Bio:         text.NonEmptyPtr(m.Biography),
		AvatarURL:   text.URL(m.Picture),
		Verified:    m.Verified,
		Followers:   m.Followers.V,
	}
	if p.Bio == nil {
		p.Bio = text.NonEmpty(m.Formatted.Fragments.plain())
	}
	widest := 0
	for _, v := range m.HDPictures {
		if u := text.URL(v.URL); u != nil && v.Width > widest {
			p.AvatarURL, widest = u, v.Width
		}
	}
	var urls []string
	for _, l := range m.BioLinks {
		urls = append(urls, unwrap(l.URL))
	}
	p.Links = text.URLs(urls...)
	return p
}

func (m member) id() string {
	if m.PK != "" {
		return string(m.PK)
	}
	return m.Username
}

// actor is how an account stands in a post; nil where the site withholds it.
func (m *member) actor() schema.Actor {
	if m == nil || m.Username == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: m.id(), Handle: m.Username, DisplayName: text.NonEmpty(m.FullName), AvatarURL: text.URL(m.Picture)}
}

// unwrap gives the address behind l.threads.com/?u= and l.instagram.com/?u=.
func unwrap(s string) string {
	u, err := url.Parse(s)
	if err == nil && (u.Host == "l.threads.com" || u.Host == "l.threads.net" || u.Host == "l.instagram.com") {
		if to := u.Query().Get("u"); to != "" {
			return to
		}
	}
	return s
}

// formatted is a text in pieces.
type formatted struct {
	Fragments fragments `json:"text_fragments"`
}

type fragments struct {
	Fragments []struct {
		Plaintext string `json:"plaintext"`
		Mention   *struct {
			User struct {
				Username string `json:"username"`
			} `json:"mentioned_user"`
		} `json:"mention_fragment"`
		Tag *struct {
			DisplayName string `json:"display_name"`
		} `json:"tag_fragment"`
	} `json:"fragments"`
}

func (f fragments) plain() string {
	var b strings.Builder
	for _, p := range f.Fragments {
		b.WriteString(p.Plaintext)
	}
	return b.String()
}

// node is a post or a reply as the site's own code gets it.
type node struct {
	Code    string       `json:"code"`
	User    *member      `json:"user"`
	TakenAt upstream.Int `json:"taken_at"` // seconds since 1970
	Caption *struct {
		Text string `json:"text"`
	} `json:"caption"` // null when the post has no text, or is gone
	Likes    upstream.Int `json:"like_count"`
	Views    upstream.Int `json:"view_counts"`
	NoCounts bool         `json:"like_and_view_counts_disabled"`
	IsAd     bool         `json:"is_paid_partnership"`
	shown
	Info struct {
		formatted
		Replies      upstream.Int `json:"direct_reply_count"`
		Reposts      upstream.Int `json:"repost_count"`
		IsReply      bool         `json:"is_reply"`
		Unavailable  bool         `json:"is_post_unavailable"`
		LinkedInline *shown       `json:"linked_inline_media"` // a post of Instagram
		TagHeader    *struct {
			DisplayName string `json:"display_name"`
		} `json:"tag_header"`
		Share struct {
			Reposted *node `json:"reposted_post"`
		} `json:"share_info"`
	} `json:"text_post_app_info"`
}

// shown is what a post shows. A post of text alone has an empty list of images.
type shown struct {
	Carousel []shown `json:"carousel_media"`
	Images   struct {
		Candidates []struct {
			URL string `json:"url"`
		} `json:"candidates"` // largest first
	} `json:"image_versions2"`
	Videos []struct {
		URL string `json:"url"`
	} `json:"video_versions"`
	Audio *struct {
		Src string `json:"audio_src"`
	} `json:"audio"`
	Giphy *struct {
		Images struct {
			FixedHeight struct {
				URL string `json:"url"`
			} `json:"fixed_height"`
		} `json:"images"`
	} `json:"giphy_media_info"`
}

// gone tells whether the post was deleted or hidden.
func (n node) gone() bool { return n.Info.Unavailable || n.Caption == nil && n.User == nil }

func (n node) post(raw []byte) schema.Post {
	p := schema.Post{
		Common:    n.common(raw),
		Author:    n.User.actor(),
		Text:      n.text(),
		CreatedAt: n.createdAt(),
		Media:     n.media(),
		Engagement: schema.Engagement{
			Likes: n.Likes.V, Comments: n.Info.Replies.V, Shares: n.Info.Reposts.V, Views: n.Views.V,
		},
		IsAd: n.IsAd,
	}
	if n.NoCounts {
		p.Engagement.Likes, p.Engagement.Views = nil, nil
	}
	of := n
	if r := n.Info.Share.Reposted; r != nil && p.Text == "" && len(p.Media) == 0 { // a repost shows another's post
		p.Text, p.Media, of = r.text(), r.media(), *r
	}
	p.Hashtags, p.Mentions = of.tags(), of.mentions(p.Text)
	return p
}

func (n node) comment(postID string, parent *string, raw []byte) schema.Comment {
	c := schema.Comment{
		Common:    n.common(raw),
		PostID:    postID,
		Author:    n.User.actor(),
		Text:      n.text(),
		CreatedAt: n.createdAt(),
		Likes:     n.Likes.V,
		ReplyToID: parent,
	}
	if n.NoCounts {
		c.Likes = nil
	}
	return c
}

func (n node) common(raw []byte) schema.Common {
	handle := ""
	if n.User != nil {
		handle = n.User.Username
	}
	return schema.Common{ID: n.Code, URL: postURL(handle, n.Code), Raw: raw}
}

func (n node) text() string {
	if n.Caption != nil {
		return n.Caption.Text
	}
	return n.Info.Fragments.plain()
}

func (n node) createdAt() *time.Time {
	if n.TakenAt.V == nil || *n.TakenAt.V <= 0 {
		return nil
	}
	return new(time.Unix(*n.TakenAt.V, 0).UTC())
}

func (n node) tags() []string {
	var out []string
	if h := n.Info.TagHeader; h != nil {
		out = appendNew(out, strings.TrimPrefix(h.DisplayName, "#"))
	}
	for _, f := range n.Info.Fragments.Fragments {
		if f.Tag != nil {
			out = appendNew(out, strings.TrimPrefix(f.Tag.DisplayName, "#"))
		}
	}
	return out
}

func (n node) mentions(body string) []string {
	var out []string
	for _, f := range n.Info.Fragments.Fragments {
		if f.Mention != nil {
			out = appendNew(out, f.Mention.User.Username)
		}
	}
	for _, m := range text.Mentions(body) {
		out = appendNew(out, m)
	}
	return out
}

func (n node) media() []schema.Media {
	out := n.shown.media()
	if n.Info.LinkedInline != nil {
		out = append(out, n.Info.LinkedInline.media()...)
	}
	return out
}

func (s shown) media() []schema.Media {
	var out []schema.Media
	for _, c := range s.Carousel {
		out = append(out, c.media()...)
	}
	if len(s.Carousel) > 0 {
		return out
	}
	var image, video *string
	if len(s.Images.Candidates) > 0 {
		image = text.URL(s.Images.Candidates[0].URL)
	}
	if len(s.Videos) > 0 {
		video = text.URL(s.Videos[0].URL)
	}
	switch {
	case video != nil:
		out = append(out, schema.Media{Type: schema.Video, URL: *video, ThumbnailURL: image})
	case image != nil:
		out = append(out, schema.Media{Type: schema.Image, URL: *image})
	}
	if s.Audio != nil {
		if u := text.URL(s.Audio.Src); u != nil {
			out = append(out, schema.Media{Type: schema.Audio, URL: *u})
		}
	}
	if s.Giphy != nil {
		if u := text.URL(s.Giphy.Images.FixedHeight.URL); u != nil {
			out = append(out, schema.Media{Type: schema.Image, URL: *u})
		}
	}
	return out
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
