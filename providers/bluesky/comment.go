package bluesky

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	commentDepth = 100 // levels of replies: more than real threads have
	commentPage  = 50  // of our pages: the thread itself has no pages
)

// comments reads the replies to a post, and their replies.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, page, err := c.thread(ctx, postID, commentDepth, cursor)
	if err != nil {
		return page, err
	}
	for _, p := range t.below {
		page.Items = append(page.Items, p.V.comment(t.at, p.Raw))
	}
	return page, nil
}

// replies reads the direct replies to a comment. Each of them, and the comment, names the post that the thread belongs
// to.
func (c *client) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (providers.Page[schema.Comment], error) {
	t, page, err := c.thread(ctx, q.CommentID, 1, cursor)
	if err != nil {
		return page, err
	}
	for _, p := range t.below {
		root := t.at // the comment is itself a post
		for _, said := range []string{p.V.Record.Reply.Root.URI, t.above.Record.Reply.Root.URI, q.PostID} {
			if isPost(said) {
				root = said
				break
			}
		}
		reply := p.V.comment(root, p.Raw)
		reply.ReplyToID = &t.at
		page.Items = append(page.Items, reply)
	}
	return page, nil
}

// part is a part of the replies to a post.
type part struct {
	at    string // the post's AT-URI
	above post
	below []wire.Object[post]
}

// thread reads depth levels below the post id and selects a page from them: the cursor is a position. The returned page
// has no items yet.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-post-thread
func (c *client) thread(
	ctx context.Context, id string, depth int, cursor string,
) (t part, page providers.Page[schema.Comment], err error) {
	if t.at, err = c.resolve(ctx, id); err != nil {
		return t, page, err
	}
	var answer struct {
		Thread thread `json:"thread"`
	}
	r := get("app.bsky.feed.getPostThread").Says("uri", t.at).With("depth", strconv.Itoa(depth)).With("parentHeight", "0")
	if _, err = c.http.Read(ctx, r, &answer); err != nil {
		return t, page, err
	}
	if answer.Thread.gone() {
		return t, page, providers.NotFound("this post does not exist, or is withheld")
	}
	t.above = answer.Thread.Post.V
	if err := wire.Same(ctx, "post", t.at, t.above.URI); err != nil {
		return t, page, err
	}
	if err := answer.Thread.Replies.Optional(ctx, "thread.replies"); err != nil {
		return t, page, err
	}
	t.below, page.Next, err = pages.Cut(answer.Thread.flatten(nil), cursor, commentPage)
	return t, page, err
}

// thread is a post with its replies, or the placeholder for one that is deleted or withheld.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
type thread struct {
	Type     string            `json:"$type"` // absent from some answers
	Post     wire.Object[post] `json:"post"`
	Replies  wire.Rows[thread] `json:"replies"` // absent below the requested depth
	NotFound bool              `json:"notFound"`
	Blocked  bool              `json:"blocked"`
}

func (t thread) gone() bool {
	return t.NotFound || t.Blocked || strings.HasSuffix(t.Type, "#notFoundPost") || strings.HasSuffix(t.Type, "#blockedPost")
}

// flatten appends the replies below t, each before its own replies.
func (t thread) flatten(to []wire.Object[post]) []wire.Object[post] {
	for _, r := range t.Replies.All() {
		if !r.V.gone() {
			to = append(to, r.V.Post)
		}
		to = r.V.flatten(to)
	}
	return to
}

func (p post) comment(postID string, raw json.RawMessage) schema.Comment {
	c := schema.Comment{
		Common:    p.common(raw),
		PostID:    postID,
		Author:    p.Author.actor(),
		Text:      p.Record.Text,
		Lang:      p.Record.lang(),
		CreatedAt: p.Record.createdAt(p.IndexedAt.V),
		Likes:     p.Likes.V,
	}
	if parent := p.Record.Reply.Parent.URI; parent != postID && isPost(parent) {
		c.ReplyToID = &parent
	}
	return c
}

// ParseComment is [ParsePost] for a reply to the post postID.
func ParseComment(ctx context.Context, postID string, raw json.RawMessage) (schema.Comment, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.comment(postID, raw), err
}
