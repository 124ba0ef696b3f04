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
		err = providers.Invalid("the replies to a comment require its post: pass post_id as well")
	} else {
		ask := upstream.Get("v1/tiktok/video/comment/replies").Says("comment_id", q.CommentID)
		page, err = r.discussion(ctx, ask, q.PostID, q.CommentID, cursor)
	}
	return page, err
}

// discussion reads a page of the comments on a post, at the top level or below parent.
func (r tiktokReads) discussion(
	ctx context.Context, ask upstream.Request, postID, parent, cursor string,
) (page providers.Page[schema.Comment], err error) {
	var answer struct {
		Comments tiktokRows[tiktokComment] `json:"comments"`
		tiktokPaging
		Cursor wire.Token `json:"cursor"`
	}
	ask = ask.Says("url", providers.AddressOf(ctx, providers.PostID, tiktokPage("_", "video", postID))).With("cursor", cursor)
	if _, err = r.http.Read(ctx, ask, &answer); err != nil {
		return page, err
	}
	convert := func(c tiktokComment, raw json.RawMessage) (schema.Comment, bool) {
		if string(c.PostID) != postID || string(c.Parent) != parent {
			return schema.Comment{}, true // of another post or comment
		}
		return c.comment(raw), true
	}
	page.Items, err = tiktokItems(ctx, "comments", answer.Comments, answer.tiktokPaging, convert)
	if err == nil {
		page.Next, err = answer.HasMore.next(ctx, "cursor", answer.Cursor)
	}
	return page, err
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
		Lang:      tiktokLang(c.Language),
		CreatedAt: c.Created.V,
		Likes:     c.Likes.V,
	}
	if c.Parent != "" {
		out.ReplyToID = new(string(c.Parent))
	}
	return out
}
