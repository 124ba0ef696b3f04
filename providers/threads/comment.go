package threads

import (
	"cmp"
	"context"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const replyFields = "id,text,timestamp,username,permalink,shortcode,media_type,media_url,has_replies,root_post,replied_to," +
	"is_reply,hide_status,is_verified,profile_picture_url"

// comments reads the direct replies to a post of the token's owner, newest first.
// https://developers.facebook.com/docs/threads/retrieve-and-manage-replies/replies-and-conversations
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.children(ctx, postID, cursor, postID, nil)
	if err != nil {
		return page, fmt.Errorf("threads: comments of %q: %w", postID, err)
	}
	return page, nil
}

// replies reads the direct replies to a comment, which is a post like any other.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.children(ctx, q.CommentID, cursor, cmp.Or(q.PostID, q.CommentID), &q.CommentID)
	if err != nil {
		return page, fmt.Errorf("threads: replies to %q: %w", q.CommentID, err)
	}
	return page, nil
}

func (c *client) children(ctx context.Context, id, cursor, postID string, parent *string) (providers.Page[schema.Comment], error) {
	if err := byMedia(id); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	r := upstream.Get(version, id, "replies").With("fields", replyFields).With("reverse", "true")
	a, err := c.page(ctx, r.On(c.other), cursor)
	page := providers.Page[schema.Comment]{Next: a.next()}
	for _, t := range a.Data {
		page.Items = append(page.Items, t.V.comment(postID, parent, t.Raw))
	}
	return page, err
}

func (t thread) comment(postID string, parent *string, raw []byte) schema.Comment {
	out := schema.Comment{
		Common:    t.common(raw),
		PostID:    postID,
		Author:    t.author(),
		Text:      t.Text,
		CreatedAt: t.Timestamp.Time,
		ReplyToID: parent,
	}
	if to := string(t.RepliedTo.ID); parent == nil && to != "" && to != string(t.RootPost.ID) && to != postID {
		out.ReplyToID = &to
	}
	return out
}
