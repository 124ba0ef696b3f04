package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// mediaFields are requested first. Instagram refuses a list that contains a field which it does not show for others,
// without saying which. Then provenFields, which it has always shown, are requested.
const (
	mediaFields = "{id,caption,comments_count,like_count,view_count,media_type,media_product_type,media_url," +
		"thumbnail_url,permalink,timestamp,username,children{id,media_type,media_url,thumbnail_url,permalink}}"
	provenFields = "{id,caption,comments_count,like_count,media_type,media_url,permalink,timestamp," +
		"children{id,media_type,media_url}}"
)

func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return c.mediaOf(ctx, handle, cursor, func(m media, p schema.Post) (schema.Post, bool) { return p, true })
}

// reels reads the posts that Instagram marks as reels. A video without a mark is of unknown kind.
func (c *client) reels(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return c.mediaOf(ctx, handle, cursor, func(m media, p schema.Post) (schema.Post, bool) {
		is, known := m.isReel()
		if !known {
			return schema.Post{}, true
		}
		return p, is
	})
}

const mediaPage = "25"

// afterForm matches a valid cursor: it is written among the names of fields.
var afterForm = regexp.MustCompile(`^[A-Za-z0-9_=-]+$`)

// mediaOf reads one page of an account's posts; keep converts each, or reports that it does not belong.
func (c *client) mediaOf(
	ctx context.Context, handle, cursor string, keep func(media, schema.Post) (schema.Post, bool),
) (page providers.Page[schema.Post], err error) {
	modifiers := "media.limit(" + mediaPage + ")"
	if cursor != "" {
		if !afterForm.MatchString(cursor) {
			return page, providers.ErrCursor
		}
		modifiers += ".after(" + cursor + ")"
	}
	var a mediaList
	err = c.read(ctx, c.discover(handle, "{"+modifiers+mediaFields+"}"), &a)
	if errors.Is(err, errParameter) {
		err = c.read(ctx, c.discover(handle, "{"+modifiers+provenFields+"}"), &a)
	}
	if errors.Is(err, errParameter) && cursor != "" {
		err = providers.ErrCursor
	}
	if err != nil {
		return page, err
	}
	name, list := "business_discovery.media.data", a.Account.Media
	author := schema.Actor{ID: cmp.Or(string(a.Account.ID), handle), Handle: handle}
	page.Items, err = wire.Items(ctx, name, list.Data, func(m media, raw json.RawMessage) (schema.Post, bool) {
		return keep(m, m.post(author, profileURL(handle), raw))
	})
	if err != nil || list.Data.Len()+list.Data.Lost() == 0 { // the end, even if there is a cursor
		return page, err
	}
	page.Next, err = list.Paging.After(ctx)
	if err != nil {
		return page, err
	}
	if page.Next != "" {
		if err := wire.Need(ctx, "business_discovery.media.paging.cursors.after", afterForm.MatchString(page.Next)); err != nil {
			return page, err
		}
	}
	return page, nil
}

// mediaList is one page of posts. It has no address of the next one: the last page has no cursor.
type mediaList struct {
	Account struct {
		ID    wire.Serial `json:"id"`
		Media struct {
			Data   wire.Rows[media] `json:"data"`
			Paging meta.Paging      `json:"paging"`
		} `json:"media"`
	} `json:"business_discovery"`
}

// media is a post.
// https://developers.facebook.com/docs/instagram-platform/reference/instagram-media
type media struct {
	ID        wire.Serial `json:"id"`      // of the official API
	Caption   string      `json:"caption"` // absent when there is none
	Comments  wire.Count  `json:"comments_count"`
	Likes     wire.Count  `json:"like_count"` // absent when the owner hides it
	Views     wire.Count  `json:"view_count"` // for reels
	Product   string      `json:"media_product_type"`
	Permalink string      `json:"permalink"`
	Timestamp wire.Time   `json:"timestamp"`
	shown
	Children struct {
		Data []shown `json:"data"`
	} `json:"children"`
}

// shown is a picture or a video.
type shown struct {
	Type      string `json:"media_type"` // IMAGE, VIDEO or CAROUSEL_ALBUM
	URL       string `json:"media_url"`  // absent when it may not be downloaded, as with licensed music
	Thumbnail string `json:"thumbnail_url"`
}

// post converts m. elsewhere is the closest page that shows it, used when its own address is unknown.
func (m media) post(author schema.Actor, elsewhere string, raw json.RawMessage) schema.Post {
	code := m.code()
	return schema.Post{
		Common: schema.Common{
			ID: cmp.Or(numberOf(code), string(m.ID)), URL: text.URLOr(m.Permalink, elsewhere), Raw: raw,
		},
		Author:     author,
		Text:       m.Caption,
		CreatedAt:  m.Timestamp.V,
		Media:      m.media(),
		Engagement: schema.Engagement{Likes: m.Likes.V, Comments: m.Comments.V, Views: m.Views.V},
		Hashtags:   text.GluedHashtags(m.Caption),
		Mentions:   mentionsOf(m.Caption),
	}
}

// code returns the shortcode in the post's own address, "" when it is unknown.
func (m media) code() string {
	link, err := links.Parse(m.Permalink, hosts...)
	if err != nil || link == nil {
		return ""
	}
	return codeIn(link)
}

// isReel reports whether m is a reel, and whether that is known.
func (m media) isReel() (is, known bool) {
	if m.Product != "" {
		return m.Product == "REELS", true
	}
	link, err := links.Parse(m.Permalink, hosts...)
	if err != nil || link == nil {
		link = new(links.Link)
	}
	if link.Segment(0) == "reel" || link.Segment(1) == "reel" {
		return true, true
	}
	return false, m.Type == "IMAGE" || m.Type == "CAROUSEL_ALBUM"
}

func (m media) media() []schema.Media {
	if len(m.Children.Data) == 0 {
		return m.shown.media(m.Permalink)
	}
	var out []schema.Media
	for _, child := range m.Children.Data {
		out = append(out, child.media(m.Permalink)...)
	}
	return out
}

// media returns the picture or video. For a video that may not be downloaded it is the first picture, or the page.
func (s shown) media(page string) []schema.Media {
	thumbnail := text.URL(s.Thumbnail)
	switch s.Type {
	case "VIDEO":
		if at := text.URL(cmp.Or(s.URL, s.Thumbnail, page)); at != nil {
			return []schema.Media{{Type: schema.Video, URL: *at, ThumbnailURL: thumbnail}}
		}
	case "IMAGE":
		if at := text.URL(s.URL); at != nil {
			return []schema.Media{{Type: schema.Image, URL: *at, ThumbnailURL: thumbnail}}
		}
	}
	return nil
}

var mention = regexp.MustCompile(`(?:^|[^\pL\pN_@/.])@([A-Za-z0-9._]{1,30})`)

// mentionsOf returns the handles after an @ in a caption.
func mentionsOf(caption string) []string {
	found := text.Find(mention, caption, "@")
	for i, handle := range found {
		found[i] = strings.TrimRight(handle, ".")
	}
	return text.Each(found)
}
