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

// replies reads the direct replies to a comment, which is a post like any other. Each reply names the post at the top.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	return c.children(ctx, q.CommentID, cursor, func(t thread, out *schema.Comment) {
		out.PostID = t.code(cmp.Or(q.PostID, string(t.RootPost.ID)))
		out.ReplyToID = new(t.code(q.CommentID))
	})
}

// children reads the replies to one post or comment; place sets the position of each of them.
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

// code returns the shortcode of a post above t that was requested by its media id, so that all ids have one form. If
// Threads does not give it, the media id is kept, which Threads can look up too.
func (t thread) code(id string) string {
	for _, above := range []reference{t.RootPost, t.RepliedTo} {
		if string(above.ID) == id && above.Shortcode != "" {
			return above.Shortcode
		}
	}
	return id
}

// status says who can see a reply.
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

// public reports whether everyone can see the reply, and not only its author and the owner of the post.
func (s status) public() bool { return s == "" || s == "NOT_HUSHED" || s == "UNHUSHED" }

// known reports whether s is a documented value or empty: for any other it is unknown who can see the reply.
func (s status) known() bool {
	switch s {
	case "HIDDEN", "COVERED", "BLOCKED", "RESTRICTED":
		return true
	}
	return s.public()
}
