package threads

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// postFields are the requested fields: any other field is absent.
const postFields = "id,media_product_type,media_type,media_url,gif_url,permalink,owner,username,text,text_attachment,timestamp," +
	"shortcode,thumbnail_url,children{id,media_type,media_url,thumbnail_url,alt_text},is_quote_post,quoted_post," +
	"reposted_post{id,shortcode,permalink,username,text,media_type,media_url,thumbnail_url,timestamp},has_replies,alt_text," +
	"link_attachment_url,topic_tag,is_verified,profile_picture_url,poll_attachment"

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	r := upstream.Get(version, "profile_posts").With("username", handle).With("fields", postFields).On(c.other)
	return pageOf(ctx, c, r, cursor, func(t thread, raw json.RawMessage) (schema.Post, bool) {
		if t.Username = cmp.Or(t.Username, handle); !strings.EqualFold(t.Username, handle) {
			return schema.Post{}, true
		}
		return t.post(raw), true
	})
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	var t wire.Object[thread]
	if err := byMedia(id); err != nil {
		return schema.Post{}, err
	}
	if _, err := c.http.Read(ctx, upstream.Get(version, id).With("fields", postFields).On(c.other), &t); err != nil {
		return schema.Post{}, err
	}
	if err := wire.Same(ctx, "post", id, string(t.V.ID)); err != nil {
		return schema.Post{}, err
	}
	return t.V.post(t.Raw), nil
}

// byMedia returns the error for a shortcode, which only the pages can look up.
func byMedia(id string) error {
	if !links.Digits(id) {
		return providers.Unsupported("the official API finds posts by media id, not by shortcode")
	}
	return nil
}

// pageOf reads one page of a list of posts or replies.
func pageOf[O any](
	ctx context.Context, c *client, r upstream.Request, cursor string, convert func(thread, json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	var a list
	if _, err = c.http.Read(ctx, r.With("limit", pageSize).With("after", cursor), &a); err != nil {
		return page, err
	}
	if page.Items, err = wire.Items(ctx, "data", a.Data, convert); err != nil {
		return page, err
	}
	page.Next, err = a.Paging.Next(ctx)
	return page, err
}

// list is a page.
type list struct {
	Data   wire.Rows[thread] `json:"data"`
	Paging meta.Paging       `json:"paging"`
}

// thread is a post or a reply. Any field may be missing.
// https://developers.facebook.com/docs/threads/retrieve-and-discover-posts/retrieve-posts
type thread struct {
	ID        wire.ID `json:"id"` // the media id
	Shortcode string  `json:"shortcode"`
	Permalink string  `json:"permalink"` // on the old host in older answers
	Owner     struct {
		ID wire.ID `json:"id"`
	} `json:"owner"`
	Username   string    `json:"username"`
	Picture    string    `json:"profile_picture_url"`
	Text       string    `json:"text"`
	Timestamp  wire.Time `json:"timestamp"`
	TopicTag   string    `json:"topic_tag"` // without #
	Attachment struct {
		Plaintext string `json:"plaintext"`
	} `json:"text_attachment"` // text that is too long for the text field
	attachment
	GIFURL   string `json:"gif_url"`
	Children struct {
		Data []attachment `json:"data"`
	} `json:"children"`
	Reposted  *thread   `json:"reposted_post"` // often only its id
	RootPost  reference `json:"root_post"`     // of a reply; so are the next two
	RepliedTo reference `json:"replied_to"`
	Hidden    status    `json:"hide_status"`
}

type reference struct {
	ID        wire.ID `json:"id"`
	Shortcode string  `json:"shortcode"`
}

type attachment struct {
	MediaType    string `json:"media_type"` // TEXT_POST, IMAGE, VIDEO, AUDIO, CAROUSEL_ALBUM or REPOST_FACADE
	MediaURL     string `json:"media_url"`
	ThumbnailURL string `json:"thumbnail_url"`
}

// post converts t. A repost shows what the original shows, as far as Threads returns it; only the owner gets counts.
func (t thread) post(raw json.RawMessage) schema.Post {
	body, media, of := t.text(), t.media(), t
	if r := t.Reposted; r != nil && t.MediaType == "REPOST_FACADE" {
		body, media, of = repostOf(r.Username, r.text()), append(media, r.media()...), *r
	}
	p := schema.Post{
		Common:    t.common(raw),
		Author:    t.author(),
		Text:      body,
		CreatedAt: t.Timestamp.V,
		Media:     media,
		Mentions:  mentions(of.text()),
	}
	p.Hashtags = text.Each(slices.Concat([]string{strings.TrimPrefix(strings.TrimSpace(of.TopicTag), "#")}, text.Hashtags(of.text())))
	return p
}

// repostOf returns the text of a repost.
func repostOf(handle, original string) string {
	if handle == "" {
		return original
	}
	return strings.TrimSpace("RT @" + handle + ": " + original)
}

func (t thread) text() string { return text.Join(t.Text, t.Attachment.Plaintext) }

// common returns the shortcode as id, and the public page on the current host.
func (t thread) common(raw json.RawMessage) schema.Common {
	page, err := links.Parse(t.Permalink, hosts...)
	if err != nil || page == nil {
		page = &links.Link{}
	}
	c := schema.Common{ID: cmp.Or(t.Shortcode, codeIn(page)), Raw: raw}
	c.URL = postURL(t.Username, c.ID)
	if len(page.Segments) > 0 {
		c.URL = siteURL + strings.Join(page.Segments, "/")
	}
	return c
}

func (t thread) author() schema.Actor {
	if t.Username == "" && t.Owner.ID == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID:        cmp.Or(string(t.Owner.ID), t.Username),
		Handle:    cmp.Or(t.Username, string(t.Owner.ID)),
		AvatarURL: text.URL(t.Picture),
	}
}

func (t thread) media() []schema.Media {
	var out []schema.Media
	for _, a := range append([]attachment{t.attachment, {MediaType: "IMAGE", MediaURL: t.GIFURL}}, t.Children.Data...) {
		if m, ok := a.media(); ok {
			out = append(out, m)
		}
	}
	return out
}

func (a attachment) media() (schema.Media, bool) {
	m := schema.Media{ThumbnailURL: text.URL(a.ThumbnailURL)}
	switch a.MediaType {
	case "IMAGE":
		m.Type = schema.Image
	case "VIDEO":
		m.Type = schema.Video
	case "AUDIO":
		m.Type = schema.Audio
	default:
		return m, false
	}
	u := text.URL(a.MediaURL)
	if u == nil {
		return m, false
	}
	m.URL = *u
	return m, true
}
