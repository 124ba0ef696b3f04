package facebook

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const commentFields = "id,message,created_time,like_count,comment_count,permalink_url,parent{id},message_tags," +
	"attachment,from"

// comments reads the top-level comments of a post, newest first. Facebook may mix in replies, which are left out.
func (c *client) comments(ctx context.Context, id, cursor string) (out providers.Page[schema.Comment], err error) {
	number, err := c.number(ctx, id)
	if err != nil {
		return out, err
	}
	_, of := cut(number)
	return c.below(ctx, number, cursor, func(r remark, raw json.RawMessage) (schema.Comment, bool) {
		return r.comment(id, of, raw), !r.isReply()
	})
}

// replies reads the children of a comment.
func (c *client) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (providers.Page[schema.Comment], error) {
	post, _ := cut(q.CommentID)
	return c.below(ctx, q.CommentID, cursor, func(r remark, raw json.RawMessage) (schema.Comment, bool) {
		of := q.PostID
		if of == "" {
			of = r.post(post)
		}
		reply := r.comment(of, post, raw)
		reply.ReplyToID = &q.CommentID
		return reply, true
	})
}

func (c *client) below(
	ctx context.Context, id, cursor string, convert func(remark, json.RawMessage) (schema.Comment, bool),
) (providers.Page[schema.Comment], error) {
	r := upstream.Get(id, "comments").With("filter", "toplevel").With("order", "reverse_chronological").
		With("summary", "true").With("fields", commentFields)
	return pageOf(ctx, c.pages, r, cursor, convert)
}

// remark is a comment. Facebook shows its author only to the Page's own token.
type remark struct {
	ID        wire.ID    `json:"id"` // {post}_{comment}, or missing
	Message   string     `json:"message"`
	Created   wire.Time  `json:"created_time"`
	Likes     wire.Count `json:"like_count"`
	Permalink string     `json:"permalink_url"` // identifies post, comment and reply
	From      maker      `json:"from"`
	Parent    presence   `json:"parent"` // only in replies
}

// presence reports that a field has a value of any kind.
type presence bool

// UnmarshalJSON never fails.
func (p *presence) UnmarshalJSON(b []byte) error {
	*p = string(b) != "null"
	return nil
}

// comment converts r, a comment on a post with the given id and the number in it.
func (r remark) comment(postID, post string, raw json.RawMessage) schema.Comment {
	id := r.id(post)
	return schema.Comment{
		Common:    schema.Common{ID: id, URL: siteAddress(r.Permalink, siteURL+id), Raw: raw},
		PostID:    postID,
		Author:    r.From.actor(schema.UnknownActor()),
		Text:      r.Message,
		CreatedAt: r.Created.V,
		Likes:     r.Likes.V,
	}
}

// id returns {post}_{comment}: from the id that Facebook writes, else from the address; "" when neither has it.
func (r remark) id(post string) string {
	q := r.address()
	of := q.Get("reply_comment_id")
	if of == "" {
		of = q.Get("comment_id")
	}
	if r.ID != "" {
		above, last := cut(string(r.ID))
		if above != "" {
			return string(r.ID)
		}
		of = last
	}
	if !links.Digits(of) || !links.Digits(post) {
		return ""
	}
	return post + "_" + of
}

// isReply reports whether r answers another comment.
func (r remark) isReply() bool { return bool(r.Parent) || r.address().Has("reply_comment_id") }

// post returns {page}_{post} when the address has both numbers, else the number of the post.
func (r remark) post(number string) string {
	link, err := links.Parse(r.Permalink, hosts...)
	if err != nil || link == nil {
		return number
	}
	if id := postIn(link); commentID.MatchString(id) { // two numbers
		return id
	}
	return number
}

func (r remark) address() url.Values {
	u, err := url.Parse(r.Permalink)
	if err != nil {
		return nil
	}
	return u.Query()
}
