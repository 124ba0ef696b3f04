package scrapecreators

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads comments. There is no flag: the last page has no cursor. The replies to them would cost many times as
// much, and are not read.
// https://docs.scrapecreators.com/v2/instagram/post/comments
func (r instagramReads) comments(
	ctx context.Context, postID, cursor string,
) (page providers.Page[schema.Comment], err error) {
	number, address, err := instagramPage(postID)
	if err != nil {
		return page, err
	}
	ask := upstream.Get("v2/instagram/post/comments").Says("url", address).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "comments", Next: "cursor"},
		func(c instagramComment, raw json.RawMessage) (schema.Comment, bool) {
			return c.comment(number, address, raw), true
		})
}

// https://docs.scrapecreators.com/v1/instagram/post/comment/replies
func (r instagramReads) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (page providers.Page[schema.Comment], err error) {
	if q.PostID == "" {
		return page, providers.Invalid("the replies to a comment require its post: pass post_id as well")
	}
	number, address, err := instagramPage(q.PostID)
	if err != nil {
		return page, err
	}
	ask := upstream.Get("v1/instagram/post/comment/replies").Says("url", address).Says("comment_id", q.CommentID).
		With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "comments", Next: "cursor", More: "has_more"},
		func(c instagramComment, raw json.RawMessage) (schema.Comment, bool) {
			if string(c.Parent) != q.CommentID {
				return schema.Comment{}, true // of another post or comment
			}
			return c.comment(number, address, raw), true
		})
}

type instagramComment struct {
	ID      wire.Serial       `json:"id"`
	Parent  wire.Serial       `json:"parent_comment_id"`
	Text    string            `json:"text"`
	Created wire.Time         `json:"created_at"`
	Likes   wire.Count        `json:"comment_like_count"`
	User    *instagramAccount `json:"user"`
}

func (c instagramComment) comment(postID, page string, raw json.RawMessage) schema.Comment {
	out := schema.Comment{
		Common:    schema.Common{ID: string(c.ID), URL: page + "/c/" + string(c.ID) + "/", Raw: raw},
		PostID:    postID,
		Author:    schema.UnknownActor(),
		Text:      c.Text,
		CreatedAt: c.Created.V,
		Likes:     c.Likes.V,
	}
	if c.User != nil {
		out.Author = c.User.actor()
	}
	if c.Parent != "" {
		out.ReplyToID = new(string(c.Parent))
	}
	return out
}
