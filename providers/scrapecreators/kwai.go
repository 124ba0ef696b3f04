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

func (c *client) kwai() providers.Provider {
	posts := list(c, by("v1/kwai/user/posts", "handle"),
		upstream.List{Rows: "data.posts", Next: "data.cursor", More: "data.has_more"}, rows(certain(kwaiVideo.post)), wrote)
	return providers.Provider{
		Platform: platform.Kwai,
		Profile:  one(c, by("v1/kwai/profile", "handle"), "data", wire.As(kwaiAccount.profile), sameAccount),
		Posts:    posts,
		Reels:    posts, // every post is a video
		Post:     one(c, kwaiPost, "data", wire.As(kwaiVideo.post), kwaiSame),

		Notes: map[providers.Op]string{
			providers.OpProfile: "the number of followers may be 1 as a placeholder",
			providers.OpPost:    "by URL: Kwai only finds few videos by their number",
		},
	}
}

// kwaiPost asks for a video by its account and its number: @handle/NUMBER.
// https://docs.scrapecreators.com/v1/kwai/post
func kwaiPost(_ context.Context, id string) (upstream.Request, error) {
	owner, number, found := strings.Cut(id, "/")
	if !found {
		owner, number = "@_", id
	}
	if !strings.HasPrefix(owner, "@") {
		return upstream.Request{}, providers.Unsupported(
			"pass the URL of the video on www.kwai.com: this source does not find those that the app shares")
	}
	return upstream.Get("v1/kwai/post").Says("url", kwaiSite+owner+"/photo/"+number), nil
}

// kwaiSame returns an error unless a video has the number in an id.
func kwaiSame(ctx context.Context, id string, p schema.Post) error {
	if _, number, found := strings.Cut(id, "/"); found {
		id = number
	}
	return samePost(ctx, id, p)
}

const kwaiSite = "https://www.kwai.com/"

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
