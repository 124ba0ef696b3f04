package instagram

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// item is a post in the older of the site's queries. It is not documented.
type item struct {
	ID        wire.Serial `json:"id"`
	Shortcode string      `json:"shortcode"`
	Owner     *holder     `json:"owner"`
	TakenAt   wire.Time   `json:"taken_at_timestamp"`
	Caption   struct {
		Edges []struct {
			Node struct {
				Text string `json:"text"`
			} `json:"node"`
		} `json:"edges"`
	} `json:"edge_media_to_caption"` // empty when there is no caption
	PreviewLikes count      `json:"edge_media_preview_like"`
	LikedBy      count      `json:"edge_liked_by"`
	Comments     remarks    `json:"edge_media_to_comment"`
	Parents      remarks    `json:"edge_media_to_parent_comment"`
	Plays        wire.Count `json:"video_play_count"`
	OlderPlays   wire.Count `json:"play_count"`
	Views        wire.Count `json:"video_view_count"` // of at least three seconds
	NoCounts     wire.Bool  `json:"like_and_view_counts_disabled"`
	NoComments   wire.Bool  `json:"comments_disabled"`
	Product      string     `json:"product_type"`
	Paid         bool       `json:"is_paid_partnership"`
	Sponsors     struct {
		Edges []struct{} `json:"edges"`
	} `json:"edge_media_to_sponsor_user"`
	still
	Children struct {
		Edges []struct {
			Node still `json:"node"`
		} `json:"edges"`
	} `json:"edge_sidecar_to_children"`
}

// still is one picture or video of a post.
type still struct {
	Typename string     `json:"__typename"` // GraphImage or XDTGraphImage, …Video and …Sidecar
	Display  string     `json:"display_url"`
	Video    string     `json:"video_url"`
	IsVideo  wire.Bool  `json:"is_video"`
	Duration wire.Float `json:"video_duration"` // seconds
}

// holder is the account within what it posted.
type holder struct {
	ID       wire.Serial `json:"id"`
	Username string      `json:"username"`
	FullName string      `json:"full_name"`
	Picture  string      `json:"profile_pic_url"`
}

func (h *holder) actor() schema.Actor {
	if h == nil {
		return schema.UnknownActor()
	}
	return schema.Actor{
		ID: actorID(h.ID, h.Username), Handle: cmp.Or(h.Username, schema.UnknownActor().Handle), DisplayName: text.NonEmpty(h.FullName), AvatarURL: text.URL(h.Picture),
	}
}

func (i item) caption() string {
	for _, e := range i.Caption.Edges {
		return e.Node.Text
	}
	return ""
}

func (i item) isReel() bool { return i.Product == "clips" }

func (i item) url() string { return postPageOf(i.Shortcode, string(i.ID), i.isReel()) }

// post converts i. Hidden likes are -1, or given only approximately.
func (i item) post(raw json.RawMessage) schema.Post {
	caption := i.caption()
	p := schema.Post{
		Common:    schema.Common{ID: string(i.ID), URL: i.url(), Raw: raw},
		Author:    i.Owner.actor(),
		Text:      caption,
		CreatedAt: i.TakenAt.V,
		Media:     i.media(),
		Hashtags:  text.GluedHashtags(caption),
		Mentions:  mentionsOf(caption),
		IsAd:      i.Paid || len(i.Sponsors.Edges) > 0,
	}
	p.Engagement.Comments = either(i.Comments.Count, i.Parents.Count)
	if i.NoCounts.Not() {
		p.Engagement.Likes = either(i.PreviewLikes.Count, i.LikedBy.Count)
		p.Engagement.Views = either(i.Plays, wire.Count{V: either(i.OlderPlays, i.Views)})
	}
	return p
}

func (i item) media() []schema.Media {
	if len(i.Children.Edges) == 0 {
		return i.still.media(i.url())
	}
	var out []schema.Media
	for _, e := range i.Children.Edges {
		out = append(out, e.Node.media(i.url())...)
	}
	return out
}

func (s still) media(page string) []schema.Media {
	seen := sight{image: s.Display, video: s.Video, duration: s.Duration.V}
	seen.moves = s.IsVideo.Is() || s.Video != ""
	return seen.media(page)
}

// ParseWebPost is [ParsePost] for the format of the older of the site's queries, xdt_shortcode_media.
func ParseWebPost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var i item
	err := wire.Decode(ctx, raw, &i)
	return i.post(raw), err
}
