package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/ids"
	"github.com/socialdata/socialdata/providers/internal/vtt"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/tiktok"
	"github.com/socialdata/socialdata/schema"
)

// tiktokPosts is a page of posts. In an account's list the cursor has another name.
type tiktokPosts struct {
	Posts tiktokRows[tiktokPost] `json:"aweme_list"`
	tiktokPaging
	Cursor    wire.Token `json:"cursor"`
	MaxCursor wire.Token `json:"max_cursor"` // milliseconds since 1970
}

// posts sorts pinned posts, which come first, into their place: a higher number is a newer post.
// https://docs.scrapecreators.com/v3/tiktok/profile/videos
func (r tiktokReads) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	var answer tiktokPosts
	ask := upstream.Get("v3/tiktok/profile/videos").Says("handle", handle).With("sort_by", "latest").
		With("max_cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		convert := func(p tiktokPost, raw json.RawMessage) (schema.Post, bool) {
			if !strings.EqualFold(p.handle(), handle) {
				return schema.Post{}, true // of another account
			}
			return p.post(raw)
		}
		page.Items, err = tiktokItems(ctx, "aweme_list", answer.Posts, answer.tiktokPaging, convert)
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "max_cursor", answer.MaxCursor)
	}
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	slices.SortStableFunc(page.Items, func(a, b schema.Post) int { return ids.Newest(a.ID, b.ID) })
	return page, nil
}

// post reads a post, whose address needs no handle.
// https://docs.scrapecreators.com/v2/tiktok/video
func (r tiktokReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	var answer struct {
		Post sole[tiktokPost] `json:"aweme_detail"`
	}
	ask := upstream.Get("v2/tiktok/video").Says("url", providers.AddressOf(ctx, providers.PostID, tiktokPage("_", "video", id)))
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		err = answer.Post.check(ctx, "aweme_detail")
	}
	if err == nil {
		err = wire.Same(ctx, "post", id, string(answer.Post.V.ID))
	}
	if err != nil {
		return p, err
	}
	p, _ = answer.Post.V.post(answer.Post.Raw)
	return p, nil
}

// trending reads the trending feed, which has one page.
// https://docs.scrapecreators.com/v1/tiktok/get-trending-feed
func (r tiktokReads) trending(
	ctx context.Context, q providers.TrendingQuery, _ string,
) (page providers.Page[schema.Post], err error) {
	var answer tiktokPosts
	ask := upstream.Get("v1/tiktok/get-trending-feed").Says("region", cmp.Or(q.Region, "US"))
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		page.Items, err = tiktokItems(ctx, "aweme_list", answer.Posts, answer.tiktokPaging, tiktokPost.post)
	}
	return page, err
}

// trackPosts reads the videos that use a sound.
// https://docs.scrapecreators.com/v1/tiktok/song/videos
func (r tiktokReads) trackPosts(ctx context.Context, id, cursor string) (providers.Page[schema.Post], error) {
	return r.list(ctx, upstream.Get("v1/tiktok/song/videos").Says("clipId", id), cursor)
}

// list reads a page of posts from a position on.
func (r tiktokReads) list(
	ctx context.Context, ask upstream.Request, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer tiktokPosts
	if _, err = r.http.Read(ctx, ask.With("cursor", cursor), &answer); err == nil {
		page.Items, err = tiktokItems(ctx, "aweme_list", answer.Posts, answer.tiktokPaging, tiktokPost.post)
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "cursor", answer.Cursor)
	}
	return page, err
}

// collectionPosts reads a collection. The address needs neither the handle nor the title, but has them if the caller
// gave them.
// https://docs.scrapecreators.com/v1/tiktok/collection/videos
func (r tiktokReads) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		ID     wire.Serial          `json:"collection_id"`
		Videos tiktokRows[struct{}] `json:"videos"`
		tiktokPaging
		Cursor wire.Token `json:"max_cursor"`
	}
	ask := upstream.Get("v1/tiktok/collection/videos").Says("url", providers.AddressOf(ctx, providers.CollectionID, tiktokPage("_", "collection", "_-"+q.ID)))
	if _, err = r.http.Read(ctx, ask.With("cursor", cursor), &answer); err == nil {
		err = wire.Same(ctx, "collection", q.ID, string(answer.ID))
	}
	if err == nil {
		page.Items, err = tiktokItems(ctx, "videos", answer.Videos, answer.tiktokPaging, parsed(ctx, tiktok.ParsePost))
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "max_cursor", answer.Cursor)
	}
	return page, err
}

// transcript reads the vendor's subtitles, null when there are none.
// https://docs.scrapecreators.com/v1/tiktok/video/transcript
func (r tiktokReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	var answer wire.Object[struct {
		ID   wire.Serial  `json:"id"`
		File sole[string] `json:"transcript"` // WebVTT; null when there is none
	}]
	address := providers.AddressOf(ctx, providers.PostID, tiktokPage("_", "video", q.PostID))
	ask := upstream.Get("v1/tiktok/video/transcript").Says("url", address).Says("language", q.Lang)
	_, err = r.http.Read(ctx, ask, &answer)
	file := answer.V.File
	if err == nil {
		err = wire.Same(ctx, "post", q.PostID, string(answer.V.ID))
	}
	if err == nil {
		err = file.given(ctx, "transcript")
	}
	if err == nil && file.V == "" {
		err = providers.NotFound("the post has no subtitles, or none in this language")
	}
	if err == nil {
		t = schema.Transcript{Common: schema.Common{ID: q.PostID, URL: address, Raw: answer.Raw}, PostID: q.PostID}
		t.Segments, err = vtt.Segments(ctx, []byte(file.V))
	}
	if err != nil {
		return t, err
	}
	t.Text = vtt.Text(t.Segments)
	return t, nil
}

// tiktokPost is a post in TikTok's app.
type tiktokPost struct {
	ID       wire.Serial `json:"aweme_id"`
	Text     string      `json:"desc"`
	Language string      `json:"desc_language"`
	Created  wire.Time   `json:"create_time"`
	Author   tiktokUser  `json:"author"`
	Video    struct {
		Play     tiktokFile `json:"play_addr"`
		Origin   tiktokFile `json:"origin_cover"`
		Cover    tiktokFile `json:"cover"`
		Duration wire.Float `json:"duration"` // milliseconds; 0 for a slide show
	} `json:"video"`
	Slides struct {
		Images []struct {
			File tiktokFile `json:"display_image"`
		} `json:"images"`
	} `json:"image_post_info"`
	Stats struct {
		Likes    wire.Count `json:"digg_count"`
		Comments wire.Count `json:"comment_count"`
		Shares   wire.Count `json:"share_count"`
		Views    wire.Count `json:"play_count"`
		Saves    wire.Count `json:"collect_count"`
	} `json:"statistics"`
	Extra    []tiktokExtra `json:"text_extra"`
	URL      string        `json:"url"` // may be that of another post
	IsAd     bool          `json:"is_ad"`
	IsPaid   bool          `json:"is_paid_partnership"`
	Commerce struct {
		Branded wire.Count `json:"branded_content_type"`
	} `json:"commerce_info"`
}

// tiktokExtra is a part of a text that is a link. Its position is counted in UTF-16 units.
type tiktokExtra struct {
	Type    wire.Count `json:"type"` // 0 an account, 1 a hashtag
	Hashtag string     `json:"hashtag_name"`
	Start   wire.Count `json:"start"`
	End     wire.Count `json:"end"`
}

// handle returns the author's handle, which some lists only have in the address.
func (p tiktokPost) handle() string {
	if p.Author.UniqueID != "" || !strings.HasSuffix(p.URL, "/"+string(p.ID)) {
		return p.Author.UniqueID
	}
	_, rest, _ := strings.Cut(p.URL, "tiktok.com/@")
	handle, _, _ := strings.Cut(rest, "/")
	return handle
}

// post converts p. It always reports true.
func (p tiktokPost) post(raw json.RawMessage) (schema.Post, bool) {
	p.Author.UniqueID = p.handle()
	kind := "video"
	if len(p.Slides.Images) > 0 {
		kind = "photo"
	}
	address := tiktokPage(cmp.Or(p.Author.UniqueID, "_"), kind, string(p.ID))
	out := schema.Post{
		Common:    schema.Common{ID: string(p.ID), URL: address, Raw: raw},
		Author:    p.Author.actor(),
		Text:      p.Text,
		Lang:      tiktokLang(p.Language),
		CreatedAt: p.Created.V,
		Media:     p.media(address),
		Engagement: schema.Engagement{
			Likes: p.Stats.Likes.V, Comments: p.Stats.Comments.V, Shares: p.Stats.Shares.V,
			Views: p.Stats.Views.V, Saves: p.Stats.Saves.V,
		},
		IsAd: p.IsAd || p.IsPaid || p.Commerce.Branded.V != nil && *p.Commerce.Branded.V > 0,
	}
	out.Hashtags, out.Mentions = p.named()
	return out, true
}

// media returns the pictures of a slide show, or the video. If the video's file is missing, the page's address is used.
func (p tiktokPost) media(page string) (out []schema.Media) {
	for _, i := range p.Slides.Images {
		if u := tiktokURL(i.File); u != nil {
			out = append(out, schema.Media{Type: schema.Image, URL: *u})
		}
	}
	if len(p.Slides.Images) > 0 {
		return out
	}
	m := schema.Media{Type: schema.Video, URL: page, ThumbnailURL: tiktokURL(p.Video.Origin, p.Video.Cover)}
	file := tiktokURL(p.Video.Play)
	if file != nil {
		m.URL = *file
	}
	if d := p.Video.Duration.Seconds(); d != nil && *d > 0 {
		m.DurationS = d
	}
	if file == nil && m.ThumbnailURL == nil && m.DurationS == nil {
		return nil
	}
	return []schema.Media{m}
}

// named returns the hashtags and the accounts that a text links to; if TikTok does not mark them, those written in it.
func (p tiktokPost) named() (hashtags, mentions []string) {
	units := utf16.Encode([]rune(p.Text))
	for _, e := range p.Extra {
		switch {
		case e.Type.V == nil:
		case *e.Type.V == 1:
			hashtags = append(hashtags, e.Hashtag)
		case *e.Type.V == 0 && e.Start.V != nil && e.End.V != nil && *e.Start.V < *e.End.V && *e.End.V <= int64(len(units)):
			name := string(utf16.Decode(units[*e.Start.V:*e.End.V]))
			mentions = append(mentions, strings.TrimPrefix(name, "@"))
		}
	}
	hashtags, mentions = text.Each(hashtags), text.Each(mentions)
	if hashtags == nil {
		hashtags = text.GluedHashtags(p.Text)
	}
	if mentions == nil {
		mentions = text.Mentions(p.Text)
	}
	return hashtags, mentions
}

// tiktokPage returns the address of what an account has posted; "_" can replace an unknown account.
func tiktokPage(handle, kind, id string) string { return tiktokProfile(handle) + "/" + kind + "/" + id }
