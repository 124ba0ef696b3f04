package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type rumbleReads struct{ *client }

func (c *client) rumble() providers.Provider {
	r := rumbleReads{c}
	return providers.Provider{
		Platform:   platform.Rumble,
		Posts:      r.posts,
		Post:       one(c, byPost("v1/rumble/video", after(rumbleHome)), "", wire.As(rumbleVideo.post), samePost),
		Comments:   r.comments,
		Search:     r.search,
		Transcript: r.transcript,
		Filters:    map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {"post"}}},
	}
}

// rumbleHome is the base address of the pages of accounts, c/name or user/name, and of videos.
const rumbleHome = "https://rumble.com/"

// posts reads an account's videos, newest first.
func (r rumbleReads) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	ask := upstream.Get("v1/rumble/channel/videos").With("cursor", cursor)
	if strings.Contains(handle, "/") {
		ask = ask.Says("url", rumbleHome+handle)
	} else {
		ask = ask.Says("handle", handle)
	}
	var answer json.RawMessage
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	owner, err := upstream.At[rumbleChannel](ctx, answer, "channel")
	if err != nil {
		return page, wire.Need(ctx, "channel", false)
	}
	page.Items, err = upstream.Items(ctx, answer, "videos", func(v rumbleRow, raw json.RawMessage) (schema.Post, bool) {
		v.Channel = owner.V
		return v.post(raw), true
	})
	if err != nil {
		return page, err
	}
	page.Next, err = upstream.List{Next: "cursor"}.Token(ctx, answer)
	return page, err
}

func rumbleVideoURL(ctx context.Context, id string) string {
	return providers.AddressOf(ctx, providers.PostID, rumbleHome+id)
}

// comments reads the top-level comments, all at once.
func (r rumbleReads) comments(ctx context.Context, postID, _ string) (page providers.Page[schema.Comment], err error) {
	var a struct {
		ID       string                   `json:"id"`
		URL      string                   `json:"url"`
		Comments wire.Rows[rumbleComment] `json:"comments"`
	}
	if _, err := r.http.Read(ctx, upstream.Get("v1/rumble/video/comments").Says("url", rumbleVideoURL(ctx, postID)), &a); err != nil {
		return page, err
	}
	if err := wire.Same(ctx, "post", postID, a.ID); err != nil {
		return page, err
	}
	page.Items, err = wire.Items(ctx, "comments", a.Comments, func(c rumbleComment, raw json.RawMessage) (schema.Comment, bool) {
		return c.comment(postID, text.URLOr(a.URL, rumbleHome+postID), raw), true
	})
	return page, err
}

// search searches videos, and short ones after them.
func (r rumbleReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (page providers.Page[schema.SearchResult], err error) {
	var answer json.RawMessage
	ask := upstream.Get("v1/rumble/search").Says("query", q.Query).With("cursor", cursor)
	if _, err := r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	for _, name := range []string{"videos", "shorts"} {
		found, err := upstream.Items(ctx, answer, name, hit(certain(rumbleRow.post)))
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, found...)
	}
	page.Next, err = upstream.List{Next: "cursor"}.Token(ctx, answer)
	return page, err
}

func (r rumbleReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	a, err := upstream.Object[struct {
		ID         string       `json:"id"`
		URL        string       `json:"url"`
		Language   string       `json:"language"`   // "English (auto)"
		Transcript sole[string] `json:"transcript"` // WebVTT; null when there is none
	}](ctx, r.http, upstream.Get("v1/rumble/video/transcript").Says("url", rumbleVideoURL(ctx, q.PostID)), "")
	if err != nil {
		return t, err
	}
	if err := wire.Same(ctx, "post", q.PostID, a.V.ID); err != nil {
		return t, err
	}
	if err := a.V.Transcript.given(ctx, "transcript"); err != nil {
		return t, err
	}
	if a.V.Transcript.V == "" {
		return t, providers.NotFound("the video has no transcript")
	}
	lang := languageCode(a.V.Language)
	if q.Lang != "" && lang != nil && !sameLanguage(q.Lang, *lang) {
		return t, providers.NotFound("the video has no transcript in this language")
	}
	return subtitles(ctx, schema.Transcript{
		Common: schema.Common{ID: a.V.ID, URL: text.URLOr(a.V.URL, rumbleHome+a.V.ID), Raw: a.Raw}, PostID: a.V.ID, Lang: lang,
	}, a.V.Transcript.V)
}

type rumbleChannel struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Handle string `json:"handle"`
}

func (c rumbleChannel) actor() schema.Actor {
	u, err := url.Parse(c.URL)
	if err != nil || c.Handle == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: cmp.Or(strings.Trim(u.Path, "/"), c.Handle), Handle: c.Handle, DisplayName: text.NonEmpty(c.Name)}
}

// rumbleRow is a video in a list.
type rumbleRow struct {
	ID        string        `json:"id"`
	URL       string        `json:"url"`
	Title     string        `json:"title"`
	Thumbnail string        `json:"thumbnail"`
	Length    string        `json:"duration"` // "20:55", and sometimes the full text of the row
	At        wire.Time     `json:"publishedAt"`
	Views     wire.Count    `json:"viewCountInt"`
	Channel   rumbleChannel `json:"channel"` // absent in the list of an account
}

func (r rumbleRow) post(raw json.RawMessage) schema.Post {
	page := text.URLOr(r.URL, rumbleHome+r.ID)
	return schema.Post{
		Common:     schema.Common{ID: r.ID, URL: page, Raw: raw},
		Author:     r.Channel.actor(),
		Text:       strings.TrimSpace(r.Title),
		CreatedAt:  r.At.V,
		Media:      []schema.Media{{Type: schema.Video, URL: page, ThumbnailURL: text.URL(r.Thumbnail), DurationS: text.Clock(r.Length)}},
		Engagement: schema.Engagement{Views: r.Views.V},
		Hashtags:   text.Hashtags(r.Title),
		Mentions:   text.Mentions(r.Title),
	}
}

// rumbleVideo is a single video.
type rumbleVideo struct {
	ID          string        `json:"id"`
	URL         string        `json:"url"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Thumbnail   string        `json:"thumbnail"`
	Seconds     wire.Float    `json:"duration"`
	At          wire.Time     `json:"publishedAt"`
	Views       wire.Count    `json:"viewCountInt"`
	Likes       wire.Count    `json:"likeCount"`
	Channel     rumbleChannel `json:"channel"`
	Media       struct {
		HLS struct {
			Auto struct {
				URL string `json:"url"`
			} `json:"auto"`
		} `json:"hls"`
	} `json:"media"`
}

func (v rumbleVideo) post(raw json.RawMessage) schema.Post {
	page, words := text.URLOr(v.URL, rumbleHome+v.ID), text.Join(v.Title, v.Description)
	film := schema.Media{Type: schema.Video, URL: text.URLOr(v.Media.HLS.Auto.URL, page), ThumbnailURL: text.URL(v.Thumbnail)}
	if s := v.Seconds.V; s != nil && *s > 0 {
		film.DurationS = s
	}
	return schema.Post{
		Common:     schema.Common{ID: v.ID, URL: page, Raw: raw},
		Author:     v.Channel.actor(),
		Text:       words,
		CreatedAt:  v.At.V,
		Media:      []schema.Media{film},
		Engagement: schema.Engagement{Views: v.Views.V, Likes: v.Likes.V},
		Hashtags:   text.Hashtags(words),
		Mentions:   text.Mentions(words),
	}
}

type rumbleComment struct {
	ID     wire.Serial `json:"id"`
	Text   string      `json:"text"`
	At     wire.Time   `json:"createdAt"`
	Likes  wire.Count  `json:"likeCount"`
	Author struct {
		rumbleChannel
		Picture string `json:"avatar"`
	} `json:"author"`
}

func (c rumbleComment) comment(postID, page string, raw json.RawMessage) schema.Comment {
	author := c.Author.actor()
	author.AvatarURL = text.URL(c.Author.Picture)
	return schema.Comment{
		Common:    schema.Common{ID: string(c.ID), URL: page + "#comment-" + string(c.ID), Raw: raw},
		PostID:    postID,
		Author:    author,
		Text:      c.Text,
		CreatedAt: c.At.V,
		Likes:     c.Likes.V,
	}
}
