package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// https://docs.scrapecreators.com/v1/tiktok/video/comments
func (r tiktokReads) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	return r.discussion(ctx, upstream.Get("v1/tiktok/video/comments"), postID, "", cursor)
}

// https://docs.scrapecreators.com/v1/tiktok/video/comment/replies
func (r tiktokReads) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (page providers.Page[schema.Comment], err error) {
	if q.PostID == "" {
		return page, providers.Invalid("the replies to a comment require its post: pass post_id as well")
	}
	ask := upstream.Get("v1/tiktok/video/comment/replies").Says("comment_id", q.CommentID)
	return r.discussion(ctx, ask, q.PostID, q.CommentID, cursor)
}

// discussion reads a page of the comments on a post, at the top level or below parent.
func (r tiktokReads) discussion(
	ctx context.Context, ask upstream.Request, postID, parent, cursor string,
) (providers.Page[schema.Comment], error) {
	ask = ask.Says("url", providers.AddressOf(ctx, providers.PostID, tiktokVideo(postID))).With("cursor", cursor)
	at := upstream.List{Rows: "comments", Next: "cursor", More: "has_more"}
	return tiktokRead(ctx, r.client, ask, at, func(c tiktokComment, raw json.RawMessage) (schema.Comment, bool) {
		if string(c.PostID) != postID || string(c.Parent) != parent {
			return schema.Comment{}, true // of another post or comment
		}
		return c.comment(raw), true
	})
}

type tiktokComment struct {
	ID       wire.Serial `json:"cid"`
	PostID   wire.Serial `json:"aweme_id"`
	Parent   wire.Serial `json:"reply_id"` // "0" at the top level
	User     tiktokUser  `json:"user"`
	Text     string      `json:"text"`
	Language string      `json:"comment_language"`
	Created  wire.Time   `json:"create_time"`
	Likes    wire.Count  `json:"digg_count"`
}

func (c tiktokComment) comment(raw json.RawMessage) schema.Comment {
	out := schema.Comment{
		Common: schema.Common{
			ID: string(c.ID), URL: tiktokPage("_", "video", string(c.PostID)) + "?comment_id=" + string(c.ID), Raw: raw,
		},
		PostID:    string(c.PostID),
		Author:    c.User.actor(),
		Text:      c.Text,
		Lang:      &c.Language,
		CreatedAt: c.Created.V,
		Likes:     c.Likes.V,
	}
	if c.Parent != "" {
		out.ReplyToID = new(string(c.Parent))
	}
	return out
}
