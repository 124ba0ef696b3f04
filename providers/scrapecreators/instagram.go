package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/kit/meta"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

type instagramReads struct{ *client }

func (c *client) instagram() providers.Provider {
	r := instagramReads{c}
	return providers.Provider{
		Platform: platform.Instagram,
		Profile:  one(c, by("v1/instagram/profile", "handle"), "data.user", wire.Parsed(instagram.ParseProfile), sameAccount),
		Posts: list(c, by("v2/instagram/user/posts", "handle"),
			upstream.List{Rows: "items", Next: "next_max_id", More: "more_available"}, parsed(instagram.ParsePost), nil),
		Post:       one(c, instagramAlone, "data.xdt_shortcode_media", wire.Parsed(instagram.ParseWebPost), instagramSame),
		Trending:   list(c, fixed[providers.TrendingQuery]("v1/instagram/reels/trending"), upstream.List{Rows: "data.reels"}, rows(instagramPost.post), nil),
		Search:     r.search,
		Searches:   r.searchable,
		Comments:   r.comments,
		Replies:    r.replies,
		Transcript: r.transcript,
		Reels: list(c, by("v1/instagram/user/reels", "handle"),
			upstream.List{Rows: "items", Next: "paging_info.max_id", More: "paging_info.more_available"}, instagramListed, nil),
		Collections:     r.collections,
		Collection:      r.collection,
		CollectionPosts: r.collectionPosts,
		TrackPosts: list(c, by("v1/instagram/audio/reels", "audio_id"),
			upstream.List{Rows: "reels", Next: "cursor", More: "has_more"}, parsed(instagram.ParsePost), nil),

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

func instagramListed(ctx context.Context, r instagramReel, _ json.RawMessage) (schema.Post, bool) {
	p, _ := parsed(instagram.ParsePost)(ctx, struct{}{}, r.Media.Raw)
	return p, true
}

// https://docs.scrapecreators.com/v1/instagram/post
func instagramAlone(_ context.Context, id string) (upstream.Request, error) {
	_, page, err := instagramPage(id)
	return upstream.Get("v1/instagram/post").Says("url", page), err
}

func instagramSame(ctx context.Context, id string, p schema.Post) error {
	number, _, err := instagramPage(id)
	if err != nil {
		return err
	}
	return samePost(ctx, number, p)
}

type instagramReel struct {
	Media wire.Object[struct{}] `json:"media"`
}

// instagramPage returns the number of a post, and the address of its page.
func instagramPage(id string) (number, page string, err error) {
	number, code, err := instagram.PostKey(id)
	return number, "https://www.instagram.com/p/" + code, err
}

// transcript returns one line for each video of a post.
// https://docs.scrapecreators.com/v2/instagram/media/transcript
func (r instagramReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	number, page, err := instagramPage(q.PostID)
	if err != nil {
		return t, err
	}
	answer, err := upstream.Object[struct {
		Lines wire.Rows[instagramSpeech] `json:"transcripts"`
	}](ctx, r.http, upstream.Get("v2/instagram/media/transcript").Says("url", page), "")
	if err != nil {
		return t, err
	}
	lines := answer.V.Lines
	t = schema.Transcript{Common: schema.Common{ID: number, URL: page + "/", Raw: answer.Raw}, PostID: number}
	if t.Segments, err = wire.Items(ctx, "transcripts", lines, instagramSpeech.segment); err != nil {
		return t, err
	}
	for _, line := range lines.All() {
		if err := line.V.Text.given(ctx, "transcripts[].text"); err != nil {
			return t, err
		}
		if lines.Len() > 1 {
			continue // the videos of several have numbers of their own
		}
		if err := wire.Same(ctx, "post", number, string(line.V.ID)); err != nil {
			return t, err
		}
	}
	if len(t.Segments) == 0 {
		return t, providers.NotFound("the post has no speech")
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
