package threads

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

const replyFields = "id,text,text_attachment,timestamp,username,permalink,shortcode,media_type,media_url,has_replies," +
	"root_post{id,shortcode},replied_to{id,shortcode},is_reply,hide_status,is_verified,profile_picture_url"

// comments reads the direct replies to a post of the token's owner, newest first.
// https://developers.facebook.com/docs/threads/retrieve-and-manage-replies/replies-and-conversations
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	return c.children(ctx, postID, cursor, func(t thread, out *schema.Comment) {
		out.PostID = t.code(postID)
		if to := t.RepliedTo; to.Shortcode != "" && string(to.ID) != postID && to.ID != t.RootPost.ID {
			out.ReplyToID = &to.Shortcode
		}
	})
}

// replies reads the direct replies to a comment, which is a post like any other. Each of them names the post at the top.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	return c.children(ctx, q.CommentID, cursor, func(t thread, out *schema.Comment) {
		out.PostID = t.code(cmp.Or(q.PostID, string(t.RootPost.ID)))
		out.ReplyToID = new(t.code(q.CommentID))
	})
}

// children reads the replies to one post or comment; place says where each of them stands.
func (c *client) children(
	ctx context.Context, id, cursor string, place func(t thread, out *schema.Comment),
) (providers.Page[schema.Comment], error) {
	if err := byMedia(id); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	r := upstream.Get(version, id, "replies").With("fields", replyFields).With("reverse", "true").On(c.other)
	return pageOf(ctx, c, r, cursor, func(t thread, raw json.RawMessage) (schema.Comment, bool) {
		if !t.Hidden.known() {
			return schema.Comment{}, true
		}
		out := schema.Comment{Common: t.common(raw), Author: t.author(), Text: t.text(), CreatedAt: t.Timestamp.V}
		place(t, &out)
		return out, t.Hidden.public()
	})
}

// code gives the shortcode of a post above t that was asked for by its media id: ids have one form. Where Threads does
// not tell it, the media id stays, which Threads can look up too.
func (t thread) code(id string) string {
	for _, above := range []reference{t.RootPost, t.RepliedTo} {
		if string(above.ID) == id && above.Shortcode != "" {
			return above.Shortcode
		}
	}
	return id
}

// status tells who sees a reply.
// https://developers.facebook.com/docs/threads/reply-management
type status string

// UnmarshalJSON never fails.
func (s *status) UnmarshalJSON(b []byte) error {
	var word *string
	*s = "?"
	if json.Unmarshal(b, &word) == nil {
		*s = ""
		if word != nil {
			*s = status(*word)
		}
	}
	return nil
}

// public tells whether everybody sees the reply, and not its author and the owner of the post alone.
func (s status) public() bool { return s == "" || s == "NOT_HUSHED" || s == "UNHUSHED" }

// known tells whether s is a word of the documentation, or none: of any other nobody knows who sees the reply.
func (s status) known() bool {
	switch s {
	case "HIDDEN", "COVERED", "BLOCKED", "RESTRICTED":
		return true
	}
	return s.public()
}
