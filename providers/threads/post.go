package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const postFields = "id,media_product_type,media_type,media_url,gif_url,permalink,owner,username,text,timestamp,shortcode," +
	"thumbnail_url,children{id,media_type,media_url,thumbnail_url,alt_text},is_quote_post,quoted_post,reposted_post," +
	"has_replies,alt_text,link_attachment_url,topic_tag,is_verified,profile_picture_url,poll_attachment"

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	r := upstream.Get(version, "profile_posts").With("username", handle).With("fields", postFields)
	a, err := c.page(ctx, r.On(c.other), cursor)
	if err != nil {
		return providers.Page[schema.Post]{}, fmt.Errorf("threads: posts of %q: %w", handle, err)
	}
	page := providers.Page[schema.Post]{Next: a.next()}
	for _, t := range a.Data {
		page.Items = append(page.Items, t.V.post(handle, t.Raw))
	}
	return page, nil
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	var t upstream.Object[thread]
	err := byMedia(id)
	if err == nil {
		_, err = c.http.JSON(ctx, upstream.Get(version, id).With("fields", postFields).On(c.other), &t)
	}
	if err == nil && t.V.ID == "" {
		err = providers.Unreadable(nil)
	}
	if err != nil {
		return schema.Post{}, fmt.Errorf("threads: post %q: %w", id, err)
	}
	return t.V.post("", t.Raw), nil
}

// byMedia says that a shortcode is of no use here; the pages know it.
func byMedia(id string) error {
	if !links.Digits(id) {
		return providers.Unsupported("the official interface looks up posts by media id, not by shortcode")
	}
	return nil
}

// page reads one page of a list of posts.
func (c *client) page(ctx context.Context, r upstream.Request, cursor string) (list, error) {
	var a list
	_, err := c.http.JSON(ctx, r.With("limit", pageSize).With("after", cursor), &a)
	if err == nil && a.Data == nil { // an empty list is there, and empty
		err = providers.Unreadable(nil)
	}
	return a, err
}

// list is a page. Its last one has cursors too; only next says that there is more.
type list struct {
	Data   []upstream.Object[thread] `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"` // holds the token: not for anybody's eyes
	} `json:"paging"`
}

func (l list) next() string {
	if l.Paging.Next == "" {
		return ""
	}
	return l.Paging.Cursors.After
}

// thread is a post or a reply. Any field may be missing.
// https://developers.facebook.com/docs/threads/retrieve-and-discover-posts/retrieve-posts
type thread struct {
	ID        upstream.ID `json:"id"` // the media id
	Shortcode string      `json:"shortcode"`
	Permalink string      `json:"permalink"`
	Owner     struct {
		ID upstream.ID `json:"id"`
	} `json:"owner"`
	Username  string    `json:"username"`
	Picture   string    `json:"profile_picture_url"`
	Text      string    `json:"text"`
	Timestamp timestamp `json:"timestamp"`
	TopicTag  string    `json:"topic_tag"` // without #
	attachment
	GIFURL   string `json:"gif_url"`
	Children struct {
		Data []attachment `json:"data"`
	} `json:"children"`
	Reposted  *thread   `json:"reposted_post"` // often its id alone
	RootPost  reference `json:"root_post"`
	RepliedTo reference `json:"replied_to"`
}

type reference struct {
	ID upstream.ID `json:"id"`
}

type attachment struct {
	MediaType    string `json:"media_type"` // TEXT_POST, IMAGE, VIDEO, AUDIO, CAROUSEL_ALBUM or REPOST_FACADE
	MediaURL     string `json:"media_url"`
	ThumbnailURL string `json:"thumbnail_url"`
}

// timestamp is written with an offset without a colon, as in 2024-09-12T23:17:39+0000.
type timestamp struct{ *time.Time }

// UnmarshalJSON reads a time; nil when it is none.
func (t *timestamp) UnmarshalJSON(b []byte) error {
	t.Time = nil
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			t.Time = new(at.UTC())
		}
	}
	return nil
}

// post converts t. Handle is whose posts were asked for, where that is known.
func (t thread) post(handle string, raw []byte) schema.Post {
	if t.Username == "" {
		t.Username = handle
	}
	body, media := t.Text, t.media()
	if r := t.Reposted; r != nil && t.MediaType == "REPOST_FACADE" {
		if body == "" {
			body = r.Text
		}
		media = append(media, r.media()...)
	}
	p := schema.Post{
		Common:    t.common(raw),
		Author:    t.author(),
		Text:      body,
		CreatedAt: t.Timestamp.Time,
		Media:     media,
		Mentions:  text.Mentions(body),
	}
	if tag := strings.TrimSpace(strings.TrimPrefix(t.TopicTag, "#")); tag != "" {
		p.Hashtags = []string{tag}
	}
	for _, tag := range text.Hashtags(body) {
		if !slices.Contains(p.Hashtags, tag) {
			p.Hashtags = append(p.Hashtags, tag)
		}
	}
	return p
}

// common gives the shortcode as id, and the public page on the host of today.
func (t thread) common(raw []byte) schema.Common {
	c := schema.Common{ID: t.Shortcode, Raw: raw}
	page, err := links.Parse(t.Permalink, hosts...)
	if err != nil || page == nil {
		page = &links.Link{}
	}
	if n := len(page.Segments); c.ID == "" && n > 0 {
		c.ID = page.Segments[n-1]
	}
	if c.ID == "" {
		c.ID = string(t.ID)
	}
	c.URL = postURL(t.Username, c.ID)
	if len(page.Segments) > 0 {
		c.URL = "https://www.threads.com/" + strings.Join(page.Segments, "/")
	}
	return c
}

func (t thread) author() schema.Actor {
	id := string(t.Owner.ID)
	if id == "" {
		id = t.Username
	}
	switch {
	case t.Username != "":
		return schema.Actor{ID: id, Handle: t.Username, AvatarURL: text.URL(t.Picture)}
	case id != "":
		return schema.Actor{ID: id, Handle: id, AvatarURL: text.URL(t.Picture)}
	}
	return schema.UnknownActor()
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
