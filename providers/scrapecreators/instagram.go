package scrapecreators

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/internal/ids"
	"github.com/socialdata/socialdata/providers/internal/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type instagramReads struct{ *client }

func (c *client) instagram() providers.Provider {
	r := instagramReads{c}
	return providers.Provider{
		Platform:        platform.Instagram,
		Profile:         r.profile,
		Posts:           r.posts,
		Post:            r.post,
		Trending:        r.trending,
		Search:          r.search,
		Searches:        r.searchable,
		Comments:        r.comments,
		Replies:         r.replies,
		Transcript:      r.transcript,
		Reels:           r.reels,
		Collections:     r.collections,
		Collection:      r.collection,
		CollectionPosts: r.collectionPosts,
		TrackPosts:      r.trackPosts,

		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:      {"kind": {"post", "profile"}, "since": nil},
			providers.OpCollections: {"kind": {"highlight"}},
		},
		Notes: map[providers.Op]string{
			providers.OpTrending: "reels, on one page",
			providers.OpSearch: "accounts by name, and more of them with kind=profile; reels with kind=post or since; posts " +
				"with a #word",
			providers.OpReplies:         "post_id is needed",
			providers.OpTranscript:      "text without times",
			providers.OpCollections:     "highlights",
			providers.OpCollection:      "highlights",
			providers.OpCollectionPosts: "the first stories of a highlight, on one page",
			providers.OpTrackPosts:      "reels that use a sound, by its number or URL",
		},
	}
}

// https://docs.scrapecreators.com/v1/instagram/profile
func (r instagramReads) profile(ctx context.Context, handle string) (p schema.Profile, err error) {
	var answer struct {
		Data struct {
			User sole[struct{}] `json:"user"`
		} `json:"data"`
	}
	if _, err = r.http.Read(ctx, upstream.Get("v1/instagram/profile").Says("handle", handle), &answer); err == nil {
		err = answer.Data.User.check(ctx, "data.user")
	}
	if err == nil {
		p, err = instagram.ParseProfile(ctx, answer.Data.User.Raw)
	}
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

// posts sorts pinned posts, which come first, into their place: a higher number is a newer post.
// https://docs.scrapecreators.com/v2/instagram/user/posts
func (r instagramReads) posts(
	ctx context.Context, handle, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Items   wire.Rows[struct{}] `json:"items"`
		HasMore more                `json:"more_available"`
		Next    wire.Token          `json:"next_max_id"`
	}
	ask := upstream.Get("v2/instagram/user/posts").Says("handle", handle).With("next_max_id", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		page.Items, err = rowsOf(ctx, "items", answer.Items, instagram.ParsePost)
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "next_max_id", answer.Next)
	}
	if err != nil {
		return page, err
	}
	instagramNewest(page.Items)
	return page, nil
}

func instagramNewest(posts []schema.Post) {
	slices.SortStableFunc(posts, func(a, b schema.Post) int { return ids.Newest(a.ID, b.ID) })
}

// https://docs.scrapecreators.com/v1/instagram/user/reels
func (r instagramReads) reels(
	ctx context.Context, handle, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Items  wire.Rows[instagramReel] `json:"items"`
		Paging struct {
			HasMore more       `json:"more_available"`
			MaxID   wire.Token `json:"max_id"`
		} `json:"paging_info"`
	}
	ask := upstream.Get("v1/instagram/user/reels").Says("handle", handle).With("max_id", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		convert := func(i instagramReel, _ json.RawMessage) (schema.Post, bool) {
			return rowOf(ctx, i.Media.Raw, instagram.ParsePost), true
		}
		page.Items, err = wire.Items(ctx, "items", answer.Items, convert)
	}
	if err == nil {
		page.Next, err = answer.Paging.HasMore.next(ctx, "paging_info.max_id", answer.Paging.MaxID)
	}
	if err != nil {
		return page, err
	}
	instagramNewest(page.Items)
	return page, nil
}

type instagramReel struct {
	Media wire.Object[struct{}] `json:"media"`
}

// https://docs.scrapecreators.com/v1/instagram/post
func (r instagramReads) post(ctx context.Context, id string) (p schema.Post, err error) {
	var answer struct {
		Data struct {
			Post sole[struct{}] `json:"xdt_shortcode_media"`
		} `json:"data"`
	}
	number, page, err := instagramPage(id)
	if err == nil {
		_, err = r.http.Read(ctx, upstream.Get("v1/instagram/post").Says("url", page), &answer)
	}
	if err == nil {
		err = answer.Data.Post.check(ctx, "data.xdt_shortcode_media")
	}
	if err == nil {
		p, err = instagram.ParseWebPost(ctx, answer.Data.Post.Raw)
	}
	if err == nil {
		err = wire.Same(ctx, "post", number, p.ID)
	}
	return p, err
}

// instagramPage returns the number of a post, and the address of its page.
func instagramPage(id string) (number, page string, err error) {
	number, code, err := instagram.PostKey(id)
	return number, "https://www.instagram.com/p/" + code, err
}

// https://docs.scrapecreators.com/v1/instagram/audio/reels
func (r instagramReads) trackPosts(
	ctx context.Context, id, cursor string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Reels   wire.Rows[struct{}] `json:"reels"`
		HasMore more                `json:"has_more"`
		Cursor  wire.Token          `json:"cursor"`
	}
	ask := upstream.Get("v1/instagram/audio/reels").Says("audio_id", id).With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err == nil {
		page.Items, err = rowsOf(ctx, "reels", answer.Reels, instagram.ParsePost)
	}
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "cursor", answer.Cursor)
	}
	return page, err
}

// trending has no parameters.
// https://docs.scrapecreators.com/v1/instagram/reels/trending
func (r instagramReads) trending(
	ctx context.Context, _ providers.TrendingQuery, _ string,
) (page providers.Page[schema.Post], err error) {
	var answer struct {
		Data struct {
			Reels wire.Rows[instagramPost] `json:"reels"`
		} `json:"data"`
	}
	if _, err = r.http.Read(ctx, upstream.Get("v1/instagram/reels/trending"), &answer); err == nil {
		page.Items, err = wire.Items(ctx, "data.reels", answer.Data.Reels, instagramPost.post)
	}
	return page, err
}

// transcript returns one line for each video of a post.
// https://docs.scrapecreators.com/v2/instagram/media/transcript
func (r instagramReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	var answer wire.Object[struct {
		Lines wire.Rows[instagramSpeech] `json:"transcripts"`
	}]
	number, page, err := instagramPage(q.PostID)
	if err == nil {
		_, err = r.http.Read(ctx, upstream.Get("v2/instagram/media/transcript").Says("url", page), &answer)
	}
	t = schema.Transcript{Common: schema.Common{ID: number, URL: page + "/", Raw: answer.Raw}, PostID: number}
	if err == nil {
		t.Segments, err = wire.Items(ctx, "transcripts", answer.V.Lines, instagramSpeech.segment)
	}
	for _, line := range answer.V.Lines.All() {
		if err == nil {
			err = line.V.Text.given(ctx, "transcripts[].text")
		}
		if err == nil && answer.V.Lines.Len() == 1 { // the videos of several have numbers of their own
			err = wire.Same(ctx, "post", number, string(line.V.ID))
		}
	}
	if err == nil && len(t.Segments) == 0 {
		err = providers.NotFound("the post has no speech")
	}
	if err != nil {
		return t, err
	}
	for _, s := range t.Segments {
		t.Text = text.Join(t.Text, s.Text)
	}
	return t, nil
}

type instagramSpeech struct {
	ID   wire.Serial  `json:"id"`
	Text sole[string] `json:"text"` // null when there is no speech
}

func (s instagramSpeech) segment(json.RawMessage) (schema.TranscriptSegment, bool) {
	return schema.TranscriptSegment{Text: s.Text.V}, s.Text.V != ""
}

// instagramPost is a post in the vendor's own format.
type instagramPost struct {
	ID       wire.Serial       `json:"id"`
	Code     string            `json:"shortcode"`
	URL      string            `json:"url"`
	Caption  string            `json:"caption"`
	TakenAt  wire.Time         `json:"taken_at"`
	Owner    *instagramAccount `json:"owner"`
	User     *instagramAccount `json:"user"`
	Video    string            `json:"video_url"`
	IsVideo  wire.Bool         `json:"is_video"`
	Display  string            `json:"display_url"`
	Image    string            `json:"image_url"`
	Duration wire.Float        `json:"video_duration"` // seconds
	Likes    wire.Count        `json:"like_count"`     // -1 when they are hidden
	Comments wire.Count        `json:"comment_count"`
	Plays    wire.Count        `json:"play_count"`
	IsAd     bool              `json:"is_ad"`
	IsPaid   bool              `json:"is_paid_partnership"`
}

// post converts p. It always reports true.
func (p instagramPost) post(raw json.RawMessage) (schema.Post, bool) {
	page := ""
	if p.Code != "" {
		page = "https://www.instagram.com/p/" + p.Code + "/"
	}
	out := schema.Post{
		Common:     schema.Common{ID: string(p.ID), URL: text.URLOr(p.URL, page), Raw: raw},
		Author:     schema.UnknownActor(),
		Text:       p.Caption,
		CreatedAt:  p.TakenAt.V,
		Engagement: schema.Engagement{Likes: p.Likes.V, Comments: p.Comments.V, Views: p.Plays.V},
		IsAd:       p.IsAd || p.IsPaid,
	}
	for _, a := range []*instagramAccount{p.User, p.Owner} {
		if a != nil && a.Username != "" {
			out.Author = a.actor()
		}
	}
	out.Hashtags, out.Mentions = instagram.Named(p.Caption)
	images := text.URLs(p.Display, p.Image)
	switch file := text.URL(p.Video); {
	case file != nil:
		m := schema.Media{Type: schema.Video, URL: *file, DurationS: p.Duration.V}
		if images != nil {
			m.ThumbnailURL = &images[0]
		}
		out.Media = []schema.Media{m}
	case images != nil && p.IsVideo.Not():
		out.Media = []schema.Media{{Type: schema.Image, URL: images[0]}}
	}
	return out, true
}

// instagramAccount is an account in the vendor's own format; within what it posted it has only the first fields.
type instagramAccount struct {
	ID        wire.Serial `json:"id"`
	Username  string      `json:"username"`
	FullName  string      `json:"full_name"`
	Picture   string      `json:"profile_pic_url"`
	Verified  bool        `json:"is_verified"`
	Biography string      `json:"biography"`
	External  string      `json:"external_url"`
	BioLinks  []struct {
		URL string `json:"url"`
	} `json:"bio_links"`
	Followers wire.Count `json:"follower_count"`
	Following wire.Count `json:"following_count"`
	Posts     wire.Count `json:"media_count"`
}

func (a instagramAccount) actor() schema.Actor {
	if a.Username == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: string(a.ID), Handle: a.Username, DisplayName: text.NonEmpty(a.FullName), AvatarURL: text.URL(a.Picture),
	}
}

// profile converts a. It always reports true.
func (a instagramAccount) profile(raw json.RawMessage) (schema.Profile, bool) {
	urls := []string{meta.Unwrap(a.External)}
	for _, l := range a.BioLinks {
		urls = append(urls, meta.Unwrap(l.URL))
	}
	return schema.Profile{
		Common:      schema.Common{ID: string(a.ID), URL: "https://www.instagram.com/" + a.Username + "/", Raw: raw},
		Handle:      a.Username,
		DisplayName: text.NonEmpty(a.FullName),
		Bio:         text.NonEmpty(a.Biography),
		AvatarURL:   text.URL(a.Picture),
		Verified:    a.Verified,
		Followers:   a.Followers.V,
		Following:   a.Following.V,
		PostsCount:  a.Posts.V,
		Links:       text.URLs(urls...),
	}, true
}
