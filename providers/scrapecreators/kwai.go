package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type kwaiReads struct{ *client }

func (c *client) kwai() providers.Provider {
	r := kwaiReads{c}
	return providers.Provider{
		Platform: platform.Kwai,
		Profile:  r.profile,
		Posts:    r.posts,
		Reels:    r.posts, // every post is a video
		Post:     r.post,

		Notes: map[providers.Op]string{
			providers.OpProfile: "the number of followers may be 1 as a placeholder",
			providers.OpPost:    "by URL: Kwai only finds few videos by their number",
		},
	}
}

const kwaiSite = "https://www.kwai.com/"

// https://docs.scrapecreators.com/v1/kwai/profile
func (r kwaiReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	var answer struct {
		Data sole[kwaiAccount] `json:"data"`
	}
	_, err := r.http.Read(ctx, upstream.Get("v1/kwai/profile").Says("handle", handle), &answer)
	if err == nil {
		err = answer.Data.check(ctx, "data")
	}
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, answer.Data.V.Handle)
	}
	return answer.Data.V.profile(answer.Data.Raw), err
}

// kwaiAccount is an account; within what it posted it has only the first fields.
type kwaiAccount struct {
	ID        wire.Serial `json:"id"`
	Handle    string      `json:"handle"`
	Name      string      `json:"username"` // the display name
	Avatar    string      `json:"avatar_url"`
	Verified  bool        `json:"verified"`
	Bio       string      `json:"bio"`
	Followers wire.Count  `json:"follower_count"`
	Following wire.Count  `json:"following_count"`
	Posts     wire.Count  `json:"public_post_count"`
}

func (a kwaiAccount) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: kwaiSite + "@" + a.Handle, Raw: raw},
		Handle:      a.Handle,
		DisplayName: text.NonEmpty(a.Name),
		Bio:         text.NonEmpty(a.Bio),
		AvatarURL:   text.URL(a.Avatar),
		Verified:    a.Verified,
		Followers:   a.Followers.V,
		Following:   a.Following.V,
		PostsCount:  a.Posts.V,
	}
}

// https://docs.scrapecreators.com/v1/kwai/user/posts
func (r kwaiReads) posts(ctx context.Context, handle, cursor string) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Data struct {
			Posts   wire.Rows[kwaiVideo] `json:"posts"`
			HasMore more                 `json:"has_more"`
			Cursor  wire.Token           `json:"cursor"`
		} `json:"data"`
	}
	ask := upstream.Get("v1/kwai/user/posts").Says("handle", handle).With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		convert := func(v kwaiVideo, raw json.RawMessage) (schema.Post, bool) {
			if !strings.EqualFold(v.Author.Handle, handle) {
				return schema.Post{}, true // of another account
			}
			return v.post(raw), true
		}
		page.Items, err = wire.Items(ctx, "data.posts", answer.Data.Posts, convert)
	}
	if err == nil {
		page.Next, err = answer.Data.HasMore.next(ctx, "data.cursor", answer.Data.Cursor)
	}
	return page, err
}

// post reads a video by its account and its number: @handle/NUMBER.
// https://docs.scrapecreators.com/v1/kwai/post
func (r kwaiReads) post(ctx context.Context, id string) (schema.Post, error) {
	var answer struct {
		Data sole[kwaiVideo] `json:"data"`
	}
	owner, number, found := strings.Cut(id, "/")
	if !found {
		owner, number = "@_", id
	}
	var err error
	if !strings.HasPrefix(owner, "@") {
		err = providers.Unsupported("pass the URL of the video on www.kwai.com: this source does not find those that the app shares")
	} else {
		_, err = r.http.Read(ctx, upstream.Get("v1/kwai/post").Says("url", kwaiSite+owner+"/photo/"+number), &answer)
	}
	if err == nil {
		err = answer.Data.check(ctx, "data")
	}
	if err == nil {
		err = wire.Same(ctx, "post", number, string(answer.Data.V.ID))
	}
	return answer.Data.V.post(answer.Data.Raw), err
}

type kwaiVideo struct {
	ID       wire.Serial `json:"id"` // photo_id is rounded
	Caption  string      `json:"caption"`
	Created  wire.Time   `json:"created_at"`
	Video    string      `json:"video_url"`
	Cover    string      `json:"cover_url"`
	Views    wire.Count  `json:"view_count"`
	Likes    wire.Count  `json:"like_count"`
	Comments wire.Count  `json:"comment_count"`
	Shares   wire.Count  `json:"forward_count"`
	Tags     []string    `json:"tags"` // hashtags, if they are listed beside the caption
	Author   kwaiAccount `json:"author"`
}

func (v kwaiVideo) hashtags() []string {
	tags := text.Hashtags(v.Caption)
	for _, tag := range v.Tags {
		tags = append(tags, strings.TrimPrefix(strings.TrimSpace(tag), "#"))
	}
	return text.Each(tags)
}

func (v kwaiVideo) post(raw json.RawMessage) schema.Post {
	by := "_"
	author := schema.UnknownActor()
	if a := v.Author; a.Handle != "" {
		by = a.Handle
		author = schema.Actor{
			ID: string(a.ID), Handle: a.Handle, DisplayName: text.NonEmpty(a.Name), AvatarURL: text.URL(a.Avatar),
		}
	}
	p := schema.Post{
		Common:     schema.Common{ID: string(v.ID), URL: kwaiSite + "@" + by + "/video/" + string(v.ID), Raw: raw},
		Author:     author,
		Text:       strings.TrimSpace(v.Caption),
		CreatedAt:  v.Created.V,
		Engagement: schema.Engagement{Likes: v.Likes.V, Comments: v.Comments.V, Shares: v.Shares.V, Views: v.Views.V},
		Hashtags:   v.hashtags(),
		Mentions:   text.Mentions(v.Caption),
	}
	if u := text.URL(v.Video); u != nil {
		p.Media = []schema.Media{{Type: schema.Video, URL: *u, ThumbnailURL: text.URL(v.Cover)}}
	}
	return p
}
