package bluesky

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	commentDepth = 6  // levels of answers that count as comments of a post
	commentPage  = 50 // cut out of the thread, which has no pages
)

// comments reads the answers to a post, and those to them.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.thread(ctx, postID, commentDepth, cursor)
	if err != nil {
		return page, fmt.Errorf("bluesky: comments of %q: %w", postID, err)
	}
	return page, nil
}

// replies reads the direct answers to a comment. Which post they are about is told by themselves.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.thread(ctx, q.CommentID, 1, cursor)
	if err != nil {
		return page, fmt.Errorf("bluesky: replies to %q: %w", q.CommentID, err)
	}
	return page, nil
}

// thread reads depth levels below the post id and cuts a page out of them: the cursor is its place. With one level the
// post is itself a comment.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-post-thread
func (c *client) thread(ctx context.Context, id string, depth int, cursor string) (providers.Page[schema.Comment], error) {
	var page providers.Page[schema.Comment]
	at, err := c.resolve(ctx, id)
	if err != nil {
		return page, err
	}
	var answer struct {
		Thread *thread `json:"thread"`
	}
	r := get("app.bsky.feed.getPostThread").With("uri", at).With("depth", strconv.Itoa(depth)).With("parentHeight", "0")
	if _, err := c.http.JSON(ctx, r, &answer); err != nil {
		return page, err
	}
	switch t := answer.Thread; {
	case t != nil && t.Post != nil && t.Post.V.URI != "":
	case t != nil && t.gone():
		return page, providers.NotFound("this post does not exist, or is withheld")
	default:
		return page, providers.Unavailable(nil, "the upstream's answer is no thread")
	}
	shown, next, err := pages.Cut(answer.Thread.flatten(nil), cursor, commentPage)
	if err != nil {
		return page, err
	}
	page.Next = next
	for _, p := range shown {
		comment := p.V.comment(at, p.Raw)
		if depth == 1 {
			comment.ReplyToID = &at
			if root := p.V.Record.V.Reply.V.Root.URI; strings.HasPrefix(root, "at://did:") {
				comment.PostID = root
			}
		}
		page.Items = append(page.Items, comment)
	}
	return page, nil
}

// thread is a post with the answers to it, or the place of one that is deleted or withheld.
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
type thread struct {
	Type     string                 `json:"$type"`
	Post     *upstream.Object[post] `json:"post"`
	Replies  []thread               `json:"replies"` // absent below the depth asked for
	NotFound bool                   `json:"notFound"`
	Blocked  bool                   `json:"blocked"`
}

func (t thread) gone() bool {
	return t.NotFound || t.Blocked || strings.HasSuffix(t.Type, "#notFoundPost") || strings.HasSuffix(t.Type, "#blockedPost")
}

// flatten appends the answers below t, each before those to it.
func (t thread) flatten(to []upstream.Object[post]) []upstream.Object[post] {
	for _, r := range t.Replies {
		if r.Post != nil && !r.gone() {
			to = r.flatten(append(to, *r.Post))
		}
	}
	return to
}

func (p post) comment(postID string, raw []byte) schema.Comment {
	c := schema.Comment{
		Common:    p.common(raw),
		PostID:    postID,
		Author:    p.Author.actor(),
		Text:      p.Record.V.Text.V,
		Lang:      p.Record.V.lang(),
		CreatedAt: p.Record.V.createdAt(p.IndexedAt),
		Likes:     p.Likes,
	}
	if parent := p.Record.V.Reply.V.Parent.URI; parent != "" && parent != postID {
		c.ReplyToID = &parent
	}
	return c
}
