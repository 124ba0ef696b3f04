package scrapecreators

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	facebookRemembers = 20_000 // comments; about 300 bytes each
	facebookLongest   = 2_000  // bytes; longer tokens are not cached
)

// facebookThread is what leads to the replies to a comment: two tokens, which are only on the page with the comment.
type facebookThread struct {
	Feedback  string     `json:"feedback_id"`
	Expansion string     `json:"expansion_token"`
	Replies   wire.Count `json:"reply_count"`
}

// https://docs.scrapecreators.com/v1/facebook/post/comments
func (r facebookReads) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	address := providers.AddressOf(ctx, providers.PostID, facebookPost(postID))
	ask := upstream.Get("v1/facebook/post/comments").Says("url", address).With("cursor", cursor)
	return upstream.Page(ctx, r.http, ask, upstream.List{Rows: "comments", Next: "cursor", More: "has_next_page"}, r.comment)
}

// repliesTo reads replies with the tokens of their comment, which a page of comments has. A cursor holds them too.
// https://docs.scrapecreators.com/v1/facebook/post/comment/replies
func (r facebookReads) repliesTo(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (page providers.Page[schema.Comment], err error) {
	parts := strings.Split(cursor, " ")
	if cursor == "" {
		of, err := r.thread(ctx, q)
		if err != nil || of.Expansion == "" {
			return page, err // there are no replies
		}
		parts = []string{of.Feedback, of.Expansion, ""}
	}
	if len(parts) != 3 {
		return page, providers.ErrCursor
	}
	ask := upstream.Get("v1/facebook/post/comment/replies").With("feedback_id", parts[0]).
		With("expansion_token", parts[1]).With("cursor", parts[2])
	page, err = upstream.Page(ctx, r.http, ask, upstream.List{Rows: "replies", Next: "cursor", More: "has_next_page"},
		func(c facebookComment, raw json.RawMessage) (schema.Comment, bool) {
			out, belongs := r.comment(c, raw)
			out.ReplyToID = &q.CommentID
			return out, belongs
		})
	if page.Next != "" {
		page.Next = strings.Join([]string{parts[0], parts[1], page.Next}, " ")
	}
	return page, err
}

// thread returns the tokens of a comment, none when it has no replies. If they are not cached, they are searched on the
// first pages of the comments of its post, which its id names.
func (r facebookReads) thread(ctx context.Context, q providers.RepliesQuery) (of facebookThread, err error) {
	postID, _, _ := strings.Cut(q.CommentID, "_")
	if q.PostID != "" {
		postID = q.PostID
	}
	of, found := r.replies.Get(q.CommentID)
	cursor := ""
	for range r.search {
		if found {
			break
		}
		page, err := r.comments(ctx, postID, cursor)
		if err != nil {
			return of, err
		}
		of, found = r.replies.Get(q.CommentID)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	switch {
	case !found:
		return of, providers.Unsupported("the comment is not among the first of its post: read the comments, up to the " +
			"page with the comment, and then its replies")
	case of.Feedback != "" && of.Expansion != "":
		return of, nil
	case of.Replies.V == nil || *of.Replies.V > 0:
		return of, providers.Unsupported("ScrapeCreators cannot read the replies to this comment")
	}
	return facebookThread{}, nil
}

type facebookComment struct {
	ID        string        `json:"id"` // comment:{post}_{comment} in base64
	Text      string        `json:"text"`
	Created   wire.Time     `json:"created_at"`
	Reactions wire.Count    `json:"reaction_count"`
	Author    facebookMaker `json:"author"`
	facebookThread
}

// comment converts c, and caches the tokens for its replies. It always reports true.
func (r facebookReads) comment(c facebookComment, raw json.RawMessage) (schema.Comment, bool) {
	b, _ := base64.StdEncoding.DecodeString(c.ID) // an id that is not base64 is invalid
	id, _ := strings.CutPrefix(string(b), "comment:")
	postID, number, _ := strings.Cut(id, "_")
	if !links.Digits(postID) || !links.Digits(number) {
		return schema.Comment{}, true
	}
	known := c.Expansion == "" && r.replies.Contains(id) // from a page with more data
	if !known && len(c.Feedback)+len(c.Expansion) <= facebookLongest {
		r.replies.Add(id, c.facebookThread)
	}
	return schema.Comment{
		Common:    schema.Common{ID: id, URL: facebookSite + postID + "?comment_id=" + number, Raw: raw},
		PostID:    postID,
		Author:    c.Author.actor(),
		Text:      c.Text,
		CreatedAt: c.Created.V,
		Likes:     c.Reactions.V,
	}, true
}
