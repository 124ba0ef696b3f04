package threads

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// member is an account as the site's own code gets it; within a post it has only the first fields. It is not
// documented.
type member struct {
	PK         wire.Serial `json:"pk"`
	Username   string      `json:"username"`
	FullName   string      `json:"full_name"`
	Picture    string      `json:"profile_pic_url"`
	Verified   bool        `json:"is_verified"`
	Private    wire.Bool   `json:"text_post_app_is_private"`
	Followers  wire.Count  `json:"follower_count"`
	Biography  string      `json:"biography"`
	Formatted  formatted   `json:"text_app_biography"`
	HDPictures []struct {
		Width wire.Count `json:"width"`
		URL   string     `json:"url"`
	} `json:"hd_profile_pic_versions"`
	BioLinks []struct {
		URL string `json:"url"`
	} `json:"bio_links"`
}

func (m member) profile(raw json.RawMessage) schema.Profile {
	p := schema.Profile{
		Common:      schema.Common{ID: string(m.PK), URL: siteURL + "@" + m.Username, Raw: raw},
		Handle:      m.Username,
		DisplayName: text.NonEmpty(m.FullName),
		Bio:         text.NonEmpty(cmp.Or(m.Biography, m.Formatted.Fragments.plain())),
		AvatarURL:   text.URL(m.Picture),
		Verified:    m.Verified,
		Followers:   m.Followers.V,
	}
	widest := int64(0)
	for _, v := range m.HDPictures {
		if u := text.URL(v.URL); u != nil && v.Width.V != nil && *v.Width.V > widest {
			p.AvatarURL, widest = u, *v.Width.V
		}
	}
	var urls []string
	for _, l := range m.BioLinks {
		urls = append(urls, meta.Unwrap(l.URL))
	}
	p.Links = text.URLs(urls...)
	return p
}

// actor converts the account of a post; nil when the site withholds it.
func (m *member) actor() schema.Actor {
	if m.handle() == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(m.PK), Handle: m.Username, DisplayName: text.NonEmpty(m.FullName), AvatarURL: text.URL(m.Picture),
	}
}

func (m *member) handle() string {
	if m == nil {
		return ""
	}
	return m.Username
}

// formatted is a text in fragments.
type formatted struct {
	Fragments fragments `json:"text_fragments"`
}

type fragments struct {
	Fragments []struct {
		Plaintext string `json:"plaintext"`
		Mention   struct {
			User struct {
				Username string `json:"username"`
			} `json:"mentioned_user"`
		} `json:"mention_fragment"` // null if the fragment is not one; so is the next
		Tag struct {
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
	Code    string    `json:"code"`
	User    *member   `json:"user"`
	TakenAt wire.Time `json:"taken_at"`
	Caption struct {
		Text string `json:"text"`
	} `json:"caption"` // null when the post has no text, or is deleted
	Likes    wire.Count `json:"like_count"`
	Views    wire.Count `json:"view_counts"`
	NoCounts wire.Bool  `json:"like_and_view_counts_disabled"`
	IsAd     bool       `json:"is_paid_partnership"`
	shown
	Info struct {
		formatted
		Replies      wire.Count `json:"direct_reply_count"`
		Reposts      wire.Count `json:"repost_count"`
		IsReply      wire.Bool  `json:"is_reply"`
		Unavailable  wire.Bool  `json:"is_post_unavailable"`
		LinkedInline shown      `json:"linked_inline_media"` // an Instagram post, or null
		TagHeader    struct {
			DisplayName string `json:"display_name"`
		} `json:"tag_header"`
		Share struct {
			Reposted *node `json:"reposted_post"`
		} `json:"share_info"`
	} `json:"text_post_app_info"`
}

// shown is the media of a post. A post with only text has an empty list of images.
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
	Audio struct {
		Src string `json:"audio_src"`
	} `json:"audio"`
	Giphy struct {
		Images struct {
			FixedHeight struct {
				URL string `json:"url"`
			} `json:"fixed_height"`
		} `json:"images"`
	} `json:"giphy_media_info"`
}

// gone reports whether a post was deleted or hidden: then the site says so, or the author and the text are null. A row
// that lacks both fields is not a deleted post, but one that cannot be read.
func gone(n wire.Object[node]) bool {
	if n.V.Info.Unavailable.Is() {
		return true
	}
	if n.V.User != nil || n.V.Caption.Text != "" {
		return false
	}
	var parts struct {
		User, Caption json.RawMessage
	}
	return json.Unmarshal(n.Raw, &parts) == nil && isNull(parts.User) && isNull(parts.Caption)
}

func isNull(b json.RawMessage) bool { return bytes.Equal(b, []byte("null")) }

// readable reports whether enough of a post is present: its author or its text.
func (n node) readable() bool { return n.User.handle() != "" || n.text() != "" }

// post converts n. A repost shows the original, with the original's counts.
func (n node) post(raw json.RawMessage) schema.Post {
	of, body := n, n.text()
	if r := n.Info.Share.Reposted; r != nil {
		of, body = *r, repostOf(r.User.handle(), r.text())
	}
	return schema.Post{
		Common:     n.common(raw),
		Author:     n.User.actor(),
		Text:       body,
		CreatedAt:  n.TakenAt.V,
		Media:      of.media(),
		Engagement: of.engagement(),
		Hashtags:   of.tags(),
		Mentions:   of.mentions(),
		IsAd:       n.IsAd,
	}
}

// engagement returns the counts of n. If n shows nothing, its counts are unknown, because it may be a repost whose
// original is gone.
func (n node) engagement() schema.Engagement {
	if n.text() == "" && len(n.media()) == 0 {
		return schema.Engagement{}
	}
	e := schema.Engagement{Comments: n.Info.Replies.V, Shares: n.Info.Reposts.V}
	if n.NoCounts.Not() {
		e.Likes, e.Views = n.Likes.V, n.Views.V
	}
	return e
}

func (n node) comment(postID string, parent *string, raw json.RawMessage) schema.Comment {
	c := schema.Comment{
		Common:    n.common(raw),
		PostID:    postID,
		Author:    n.User.actor(),
		Text:      n.text(),
		CreatedAt: n.TakenAt.V,
		ReplyToID: parent,
	}
	if n.NoCounts.Not() {
		c.Likes = n.Likes.V
	}
	return c
}

func (n node) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: n.Code, URL: postURL(n.User.handle(), n.Code), Raw: raw}
}

func (n node) text() string { return cmp.Or(n.Caption.Text, n.Info.Fragments.plain()) }

func (n node) tags() []string {
	tags := []string{n.Info.TagHeader.DisplayName}
	for _, f := range n.Info.Fragments.Fragments {
		tags = append(tags, f.Tag.DisplayName)
	}
	for i, tag := range tags {
		tags[i] = strings.TrimPrefix(tag, "#")
	}
	return text.Each(tags)
}

func (n node) mentions() []string {
	var handles []string
	for _, f := range n.Info.Fragments.Fragments {
		handles = append(handles, f.Mention.User.Username)
	}
	return text.Each(append(handles, mentions(n.text())...))
}

func (n node) media() []schema.Media { return append(n.shown.media(), n.Info.LinkedInline.media()...) }

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
	if u := text.URL(s.Audio.Src); u != nil {
		out = append(out, schema.Media{Type: schema.Audio, URL: *u})
	}
	if u := text.URL(s.Giphy.Images.FixedHeight.URL); u != nil {
		out = append(out, schema.Media{Type: schema.Image, URL: *u})
	}
	return out
}

// ParseProfile converts an account as the site's own code gets it, from any source. The error wraps
// [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var m member
	err := wire.Decode(ctx, raw, &m)
	return m.profile(raw), err
}

// ParsePost converts a post as the site's own code gets it, from any source. The error wraps [providers.ErrNotFound]
// for one that is deleted or hidden, else [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	n, err := parse(ctx, raw)
	return n.post(raw), err
}

// ParseComment is [ParsePost] for a reply to the post postID, or to the comment parent if that is not nil.
func ParseComment(ctx context.Context, postID string, parent *string, raw json.RawMessage) (schema.Comment, error) {
	n, err := parse(ctx, raw)
	return n.comment(postID, parent, raw), err
}

func parse(ctx context.Context, raw json.RawMessage) (node, error) {
	var n wire.Object[node]
	if err := wire.Decode(ctx, raw, &n); err != nil {
		return n.V, err
	}
	if gone(n) {
		return n.V, providers.NotFound("the post is deleted or hidden")
	}
	return n.V, wire.Need(ctx, "user or caption", n.V.readable())
}
