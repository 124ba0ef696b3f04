package tiktok

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const videoFields = "id,username,video_description,create_time,region_code,view_count,like_count,comment_count,share_count," +
	"favorites_count,hashtag_names,video_mention_list,video_tag,voice_to_text,music_id"

// video is a row of video/query. It has no address of the file.
// https://developers.tiktok.com/doc/research-api-specs-query-videos
type video struct {
	ID          wire.Serial `json:"id"`
	VideoID     wire.Serial `json:"video_id"` // the same, as spelled in the documentation's examples
	Username    string      `json:"username"`
	Description string      `json:"video_description"`
	CreateTime  wire.Time   `json:"create_time"`
	Views       wire.Count  `json:"view_count"`
	Likes       wire.Count  `json:"like_count"`
	Comments    wire.Count  `json:"comment_count"`
	Shares      wire.Count  `json:"share_count"`
	Favorites   wire.Count  `json:"favorites_count"`
	Favourites  wire.Count  `json:"favourites_count"` // the same
	Hashtags    []string    `json:"hashtag_names"`
	Mentions    []string    `json:"video_mention_list"`
	Tag         struct {
		Type string `json:"type"`
	} `json:"video_tag"`
	Voice words `json:"voice_to_text"` // absent when there is no speech
}

// words is a text that distinguishes empty from not a text.
type words struct {
	V   string
	odd bool
}

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(b []byte) error {
	*w = words{}
	w.odd = json.Unmarshal(b, &w.V) != nil
	return nil
}

func (v video) id() string {
	if v.ID != "" {
		return string(v.ID)
	}
	return string(v.VideoID)
}

func (v video) createdAt() *time.Time {
	if v.CreateTime.V != nil {
		return v.CreateTime.V
	}
	return madeAt(v.id())
}

// post converts v. handle is the requested account, "" when it is unknown: v may not name its account.
func (v video) post(handle string, raw json.RawMessage) schema.Post {
	if v.Username != "" {
		if handle != "" && !strings.EqualFold(handle, v.Username) {
			return schema.Post{} // by another account
		}
		handle = v.Username
	}
	p := schema.Post{
		Common:    schema.Common{ID: v.id(), URL: postURL(handle, v.id()), Raw: raw},
		Author:    schema.UnknownActor(),
		Text:      v.Description,
		CreatedAt: v.createdAt(),
		Engagement: schema.Engagement{
			Likes: v.Likes.V, Comments: v.Comments.V, Shares: v.Shares.V, Views: v.Views.V, Saves: v.Favorites.V,
		},
		Hashtags: text.Each(v.Hashtags),
		Mentions: text.Each(v.Mentions),
		IsAd:     strings.EqualFold(v.Tag.Type, "branded"),
	}
	if handle != "" {
		p.Author = schema.Actor{ID: handle, Handle: handle}
	}
	if v.Favourites.V != nil {
		p.Engagement.Saves = v.Favourites.V
	}
	if v.Hashtags == nil {
		p.Hashtags = text.GluedHashtags(v.Description)
	}
	if v.Mentions == nil {
		p.Mentions = text.Mentions(v.Description)
	}
	return p
}

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	v, err := c.video(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return v.V.post("", v.Raw), nil
}

// video reads one video, which TikTok finds only by the days around its creation, and only after two days.
func (c *client) video(ctx context.Context, id string) (wire.Object[video], error) {
	var none wire.Object[video]
	made := madeAt(id)
	if made == nil {
		return none, providers.NotHere("%s is not a TikTok id: it does not begin with a time", id)
	}
	a, err := c.query(ctx, videoQuery{
		Query: conditions{And: []condition{{"EQ", "video_id", []string{id}}}},
		Start: made.AddDate(0, 0, -1).Format(day), End: made.AddDate(0, 0, 1).Format(day),
	}, false)
	if err != nil {
		return none, err
	}
	if err := a.Data.Videos.Check(ctx, "data.videos"); err != nil {
		return none, err
	}
	for _, v := range a.Data.Videos.All() {
		return v, wire.Same(ctx, "post", id, v.V.id())
	}
	return none, providers.NotHere("TikTok's Research API does not show this post: it does not exist, is private, or is too new")
}

// posts walks back through the months of an account. If an account has no recent posts, it first checks that the
// account exists and has any posts, because there are many months to read.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	months := walk{query: conditions{And: []condition{{"EQ", "username", []string{handle}}}}, until: time.Now(), since: time.UnixMilli(firstPosts)}
	page, err := rows(ctx, c, months, cursor, func(v video, raw json.RawMessage) (schema.Post, bool) {
		return v.post(handle, raw), true
	})
	if err != nil || cursor != "" || len(page.Items) > 0 {
		return page, err
	}
	a, err := c.account(ctx, handle)
	if err != nil {
		return providers.Page[schema.Post]{}, err
	}
	if n := a.V.Videos.V; n != nil && *n == 0 {
		page.Next = ""
	}
	return page, nil
}

// transcript returns TikTok's transcription, without times. If there is none, the page may have subtitles.
func (c *client) transcript(ctx context.Context, q providers.TranscriptQuery) (schema.Transcript, error) {
	v, err := c.video(ctx, q.PostID)
	if err != nil {
		return schema.Transcript{}, err
	}
	if err := wire.Need(ctx, "voice_to_text", !v.V.Voice.odd); err != nil {
		return schema.Transcript{}, err
	}
	said := text.NonEmpty(v.V.Voice.V)
	if said == nil {
		return schema.Transcript{}, providers.NotHere("TikTok's Research API has no transcript of this post")
	}
	return schema.Transcript{
		Common:   schema.Common{ID: q.PostID, URL: postURL(v.V.Username, q.PostID), Raw: v.Raw},
		PostID:   q.PostID,
		Text:     *said,
		Segments: []schema.TranscriptSegment{{Text: *said}},
	}, nil
}
