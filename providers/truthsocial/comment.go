package truthsocial

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	return c.descendants(ctx, postID, postID, cursor)
}

// replies reads what is below a comment, which to Truth Social is a status like any other.
func (c *client) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (providers.Page[schema.Comment], error) {
	return c.descendants(ctx, q.CommentID, cmp.Or(q.PostID, q.CommentID), cursor)
}

const commentsSize = 20 // cannot be changed

func (c *client) descendants(ctx context.Context, id, postID, cursor string) (providers.Page[schema.Comment], error) {
	var page providers.Page[schema.Comment]
	from, err := pages.Offset(cursor)
	if err != nil {
		return page, err
	}
	r := upstream.Get("v1/statuses", id, "context/descendants").With("sort", "oldest").With("offset", cursor)
	found, more, err := c.statuses(ctx, r)
	if err != nil {
		return page, err
	}
	if rows(found) == 0 {
		if err := c.silent(ctx, id, cursor, more); err != nil {
			return page, err
		}
	}
	page.Items, err = wire.Items(ctx, "statuses", found, func(s status, raw json.RawMessage) (schema.Comment, bool) {
		if !s.understood() {
			return schema.Comment{}, true
		}
		return s.comment(postID, raw), s.public()
	})
	// Even the last page has a link to a next one.
	if n := rows(found); n >= commentsSize {
		page.Next = strconv.Itoa(from + n)
	}
	return page, err
}

// silent returns an error unless a status has no replies, according to its own count. An empty page after the last one
// has no link to a next page.
func (c *client) silent(ctx context.Context, id, cursor string, more bool) error {
	w := wire.Witness{Cursor: cursor, Last: !more, More: more}
	if cursor == "" {
		s, err := c.status(ctx, id)
		if err != nil {
			return err
		}
		w.Count = s.V.Replies.V
	}
	return w.Check(ctx, "statuses")
}

func (s status) comment(postID string, raw json.RawMessage) schema.Comment {
	return schema.Comment{
		Common:    s.common(raw),
		PostID:    postID,
		Author:    s.Account.actor(),
		Text:      plain(s.Content),
		Lang:      &s.Language,
		CreatedAt: s.CreatedAt.V,
		Likes:     s.Favourites.V,
		ReplyToID: text.NonEmpty(string(s.InReplyTo)),
	}
}
