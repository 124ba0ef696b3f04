package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// embeddedVideo is a post on its embed page.
type embeddedVideo struct {
	Item struct {
		ID          wire.Serial `json:"id"`
		Text        string      `json:"text"`
		CreateTime  wire.Time   `json:"createTime"`
		Likes       wire.Count  `json:"diggCount"`
		Comments    wire.Count  `json:"commentCount"`
		Shares      wire.Count  `json:"shareCount"`
		Views       wire.Count  `json:"playCount"`
		Covers      []string    `json:"covers"`
		IsAd        bool        `json:"isAd"`
		VideoOfItem struct {
			URLs []string `json:"urls"`
			Meta struct {
				Duration wire.Float `json:"duration"` // seconds
			} `json:"videoMeta"`
		} `json:"video"`
	} `json:"itemInfos"`
	Author struct {
		ID       wire.Serial `json:"userId"`
		UniqueID string      `json:"uniqueId"`
		Nickname string      `json:"nickName"`
		Covers   []string    `json:"covers"`
	} `json:"authorInfos"`
	Challenges []struct {
		Name string `json:"challengeName"`
	} `json:"challengeInfoList"`
	Images struct {
		Displayed []mirrors `json:"displayImages"`
		slides              // as on other pages
	} `json:"imagePostInfo"` // for a slide show, whose video is empty
}

func (v embeddedVideo) post(raw json.RawMessage) schema.Post {
	author := member{ID: v.Author.ID, UniqueID: v.Author.UniqueID, Nickname: v.Author.Nickname}
	author.AvatarThumb = text.First(v.Author.Covers)
	i := item{ID: v.Item.ID, Desc: v.Item.Text, CreateTime: v.Item.CreateTime, Author: author, IsAd: v.Item.IsAd}
	i.Stats = itemStats{Likes: v.Item.Likes, Comments: v.Item.Comments, Shares: v.Item.Shares, Views: v.Item.Views}
	for _, c := range v.Challenges {
		one := int64(1)
		i.TextExtra = append(i.TextExtra, textExtra{Type: wire.Count{V: &one}, Hashtag: c.Name})
	}
	if i.ImagePost = v.Images.slides; !i.isSlides() {
		for _, image := range v.Images.Displayed {
			i.ImagePost.Images = append(i.ImagePost.Images, slide{image})
		}
	}
	p := i.post(raw)
	if !i.isSlides() {
		p.Media = videoMedia(v.Item.VideoOfItem.URLs, v.Item.Covers, v.Item.VideoOfItem.Meta.Duration, p.URL)
	}
	return p
}

// post reads the embed page of a post, or if that fails, TikTok's oEmbed data.
func (o *own) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := o.embedded(ctx, id)
	if !errors.Is(err, providers.ErrUnavailable) || ctx.Err() != nil {
		return p, err
	}
	quoted, failed := o.quoted(ctx, id)
	if failed != nil && !errors.Is(failed, providers.ErrNotFound) {
		return p, err
	}
	return quoted, failed
}

func (o *own) embedded(ctx context.Context, id string) (schema.Post, error) {
	page, err := o.open(ctx, upstream.Get("embed/v2", id))
	if err != nil {
		return schema.Post{}, err
	}
	v := page.V.Video
	if err := wire.Need(ctx, "videoData.itemInfos", v.Item.ID != ""); err != nil {
		return schema.Post{}, err
	}
	return v.post(page.Raw), wire.Same(ctx, "post", id, string(v.Item.ID))
}

// quotation is the oEmbed response.
// https://developers.tiktok.com/doc/embed-videos
type quotation struct {
	Title      string      `json:"title"`
	AuthorURL  string      `json:"author_url"`
	AuthorName string      `json:"author_name"`
	Thumbnail  string      `json:"thumbnail_url"`
	HTML       string      `json:"html"` // identifies the post
	ID         wire.Serial `json:"embed_product_id"`
}

func (o *own) quoted(ctx context.Context, id string) (schema.Post, error) {
	var q wire.Object[quotation]
	if _, err := o.http.Read(ctx, upstream.Get("oembed").With("url", postURL("", id)), &q); err != nil {
		return schema.Post{}, err
	}
	link, err := links.Parse(q.V.AuthorURL, "tiktok.com")
	if err != nil || link == nil {
		link = &links.Link{}
	}
	handle := strings.TrimPrefix(link.Segment(0), "@")
	if err := wire.Need(ctx, "author_url", handle != ""); err != nil {
		return schema.Post{}, err
	}
	other := q.V.ID != "" && string(q.V.ID) != id || q.V.HTML != "" && !strings.Contains(q.V.HTML, id)
	if other {
		return schema.Post{}, wire.Same(ctx, "post", id, string(q.V.ID))
	}
	i := item{ID: wire.Serial(id), Desc: q.V.Title, Author: member{UniqueID: handle, Nickname: q.V.AuthorName}}
	i.Video.Cover = q.V.Thumbnail
	return i.post(q.Raw), nil
}

// embeddedList is the head of the posts of a sound or a hashtag.
type embeddedList struct {
	ID     wire.Serial `json:"id"`
	Title  string      `json:"title"`
	Artist string      `json:"artist"`
	Cover  string      `json:"coverUrl"`
	Videos wire.Count  `json:"videoCount"` // a number, or digits
}

// searchable returns an error if a query cannot be searched for without the official API.
func searchable(q providers.SearchQuery) error {
	_, err := tagOf(q)
	return err
}

// tagOf returns the hashtag that a query consists of.
func tagOf(q providers.SearchQuery) (string, error) {
	tag, ok := strings.CutPrefix(strings.TrimSpace(q.Query), "#")
	if !ok || tag == "" || strings.ContainsAny(tag, " /") {
		return "", providers.Unsupported(
			"without the official API TikTok can only be searched for one hashtag, such as #coffee")
	}
	return tag, nil
}

// search reads the embed page of a hashtag.
func (o *own) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (out providers.Page[schema.SearchResult], err error) {
	tag, err := tagOf(q)
	if err != nil {
		return out, err
	}
	page, err := o.videos(ctx, cursor, func(number int) (wire.Object[route], error) {
		return o.open(ctx, onPage(upstream.Get("embed", "tag", tag), number))
	})
	if errors.Is(err, providers.ErrNotFound) { // a hashtag that has never been used
		return out, nil
	}
	if err != nil {
		return out, err
	}
	return pages.Results(page), nil
}

// sound reads the embed page of a sound.
func (o *own) sound(ctx context.Context, id string, number int) (wire.Object[route], error) {
	page, err := o.open(ctx, onPage(upstream.Get("embed", "music", id), number))
	if err != nil {
		return page, err
	}
	if err := wire.Need(ctx, "embedInfo", page.V.List.ID != "" || page.V.List.Title != ""); err != nil {
		return page, err
	}
	return page, wire.Same(ctx, "sound", id, string(page.V.List.ID))
}

func (o *own) track(ctx context.Context, id string) (schema.Track, error) {
	page, err := o.sound(ctx, id, 1)
	if err != nil {
		return schema.Track{}, err
	}
	l := page.V.List
	return schema.Track{
		Common:     schema.Common{ID: id, URL: trackURL(id), Raw: page.Raw},
		Title:      l.Title,
		Artists:    artists(l.Artist),
		CoverURL:   text.URL(l.Cover),
		PostsCount: l.Videos.V,
	}, nil
}

func trackURL(id string) string { return page("music/_-" + id) }

// artists splits "Ann, Bob & Cy".
func artists(s string) []string {
	return text.Each(strings.Split(strings.ReplaceAll(s, " & ", ", "), ", "))
}

func (o *own) trackPosts(ctx context.Context, id, cursor string) (providers.Page[schema.Post], error) {
	return o.videos(ctx, cursor, func(number int) (wire.Object[route], error) { return o.sound(ctx, id, number) })
}
