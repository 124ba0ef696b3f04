package tiktok

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const commentFields = "id,video_id,text,like_count,reply_count,parent_comment_id,create_time"

// commentQuery is the request body of video/comment/list, with one of the two ids.
// https://developers.tiktok.com/doc/research-api-specs-query-video-comments
type commentQuery struct {
	VideoID   json.Number  `json:"video_id,omitempty"`
	CommentID json.Number  `json:"comment_id,omitempty"`
	MaxCount  int          `json:"max_count"`
	Cursor    *json.Number `json:"cursor,omitempty"`
}

// comments reads the comments on a post and the replies to them. They come without their authors.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	query := commentQuery{VideoID: json.Number(postID)}
	return c.discussion(ctx, query, cursor, postID, func(r comment) (comment, bool) {
		return r, r.VideoID == "" || string(r.VideoID) == postID
	})
}

// replies reads the replies to one comment.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	query, postID := commentQuery{CommentID: json.Number(q.CommentID)}, cmp.Or(q.PostID, unknown)
	return c.discussion(ctx, query, cursor, postID, func(r comment) (comment, bool) {
		right := r.Parent == "" || string(r.Parent) == q.CommentID
		r.Parent = wire.Serial(q.CommentID)
		return r, right
	})
}

// unknown is used for a post that neither the caller nor TikTok names.
const unknown = "unknown"

// discussion reads a page. The function right reports whether a row is about the requested post or comment.
func (c *client) discussion(
	ctx context.Context, q commentQuery, cursor, postID string, right func(comment) (comment, bool),
) (page providers.Page[schema.Comment], err error) {
	if cursor != "" && !links.Digits(cursor) {
		return page, providers.ErrCursor
	}
	q.MaxCount, q.Cursor = pageSize, at(cursor)
	var answer struct {
		Data struct {
			Comments wire.Rows[comment] `json:"comments"`
			paging
		} `json:"data"`
	}
	if _, err = c.http.Read(ctx, ask("video/comment/list/", commentFields, q), &answer); err != nil {
		return page, blameCursor(err, cursor)
	}
	convert := func(r comment, raw json.RawMessage) (schema.Comment, bool) {
		r, ok := right(r)
		if !ok {
			return schema.Comment{}, true // on another post
		}
		return r.comment(postID, raw), true
	}
	page.Items, err = wire.Items(ctx, "data.comments", answer.Data.Comments, convert)
	if err != nil {
		return page, err
	}
	page.Next, err = answer.Data.next(ctx)
	return page, err
}

// comment is a row of video/comment/list.
type comment struct {
	ID          wire.Serial `json:"id"`
	VideoID     wire.Serial `json:"video_id"`
	Parent      wire.Serial `json:"parent_comment_id"` // for a top-level comment, the video
	Text        string      `json:"text"`
	DisplayName string      `json:"display_name"` // of the author, in replies
	Likes       wire.Count  `json:"like_count"`
	CreateTime  wire.Time   `json:"create_time"`
}

func (r comment) comment(postID string, raw json.RawMessage) schema.Comment {
	if r.VideoID != "" {
		postID = string(r.VideoID)
	}
	out := schema.Comment{
		Common:    schema.Common{ID: string(r.ID), URL: commentURL(postID, string(r.ID)), Raw: raw},
		PostID:    postID,
		Author:    schema.UnknownActor(),
		Text:      r.Text,
		CreatedAt: r.CreateTime.V,
		Likes:     r.Likes.V,
	}
	out.Author.DisplayName = text.NonEmpty(r.DisplayName)
	if parent := string(r.Parent); parent != "" && parent != postID {
		out.ReplyToID = &parent
	}
	return out
}

func commentURL(postID, id string) string {
	query := "?" + url.Values{"comment_id": {id}}.Encode()
	if postID == unknown {
		return site + query
	}
	return postURL("", postID) + query
}
