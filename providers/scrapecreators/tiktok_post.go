package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf16"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/tiktok"
	"github.com/socialdata/socialdata/schema"
)

// tiktokPositions are the parts of a page of posts from a position on.
var tiktokPositions = upstream.List{Rows: "aweme_list", Next: "cursor", More: "has_more"}

// collectionPosts reads a collection. The address needs neither the handle nor the title, but has them if the caller
// gave them.
// https://docs.scrapecreators.com/v1/tiktok/collection/videos
func (r tiktokReads) collectionPosts(
	ctx context.Context, q providers.CollectionQuery, cursor string,
) (page providers.Page[schema.Post], err error) {
	address := providers.AddressOf(ctx, providers.CollectionID, tiktokPage("_", "collection", "_-"+q.ID))
	ask := upstream.Get("v1/tiktok/collection/videos").Says("url", address).With("cursor", cursor)
	answer, err := upstream.Object[tiktokPaging](ctx, r.http, ask, "")
	if err != nil {
		return page, err
	}
	if err := wire.Same(ctx, "collection", q.ID, string(answer.V.Collection)); err != nil {
		return page, err
	}
	at := upstream.List{Rows: "videos", Next: "max_cursor", More: "has_more"}
	return tiktokPart(ctx, answer, at, parsing(ctx, tiktok.ParsePost))
}

// transcript reads the vendor's subtitles, null when there are none.
// https://docs.scrapecreators.com/v1/tiktok/video/transcript
func (r tiktokReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	address := providers.AddressOf(ctx, providers.PostID, tiktokVideo(q.PostID))
	answer, err := upstream.Object[struct {
		ID   wire.Serial  `json:"id"`
		File sole[string] `json:"transcript"` // WebVTT; null when there is none
	}](ctx, r.http, upstream.Get("v1/tiktok/video/transcript").Says("url", address).Says("language", q.Lang), "")
	if err != nil {
		return t, err
	}
	if err := wire.Same(ctx, "post", q.PostID, string(answer.V.ID)); err != nil {
		return t, err
	}
	if err := answer.V.File.given(ctx, "transcript"); err != nil {
		return t, err
	}
	if answer.V.File.V == "" {
		return t, providers.NotFound("the post has no subtitles, or none in this language")
	}
	t = schema.Transcript{Common: schema.Common{ID: q.PostID, URL: address, Raw: answer.Raw}, PostID: q.PostID}
	return subtitles(ctx, t, answer.V.File.V)
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
		Lang:      &p.Language,
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

// tiktokVideo returns the address of a post, which needs no handle.
func tiktokVideo(id string) string { return tiktokPage("_", "video", id) }

// tiktokNewest asks for posts. Pinned ones come first; a higher number is a newer post.
// https://docs.scrapecreators.com/v3/tiktok/profile/videos
func tiktokNewest(_ context.Context, handle string) (upstream.Request, error) {
	return upstream.Get("v3/tiktok/profile/videos").Says("handle", handle).With("sort_by", "latest"), nil
}

// tiktokTrending asks for the trending feed, which has one page.
// https://docs.scrapecreators.com/v1/tiktok/get-trending-feed
func tiktokTrending(_ context.Context, q providers.TrendingQuery) (upstream.Request, error) {
	return upstream.Get("v1/tiktok/get-trending-feed").Says("region", cmp.Or(q.Region, "US")), nil
}
