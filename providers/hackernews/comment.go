package hackernews

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// highest is the most levels that are climbed to find the post of a comment: each level is a read that waits for the
// one before.
const highest = 30

func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	o, err := c.item(ctx, postID)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if !o.V.isPost() {
		return providers.Page[schema.Comment]{}, absent(o.V)
	}
	return c.kids(ctx, o.V, postID, cursor)
}

// replies reads the children of a comment and, unless the caller knows it, the post at the top of the tree. A deleted
// comment still has its children.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	var page providers.Page[schema.Comment]
	o, err := c.item(ctx, q.CommentID)
	switch {
	case err != nil:
		return page, err
	case o.V == nil:
		return page, providers.ErrNotFound
	case o.V.Type != "comment":
		return page, providers.NotFound("this item is a %s, not a comment", o.V.Type)
	}
	postID := q.PostID
	g, gctx := errgroup.WithContext(ctx)
	if postID == "" && len(o.V.Kids.V) > 0 {
		g.Go(func() error {
			postID = c.top(gctx, o.V)
			return nil
		})
	}
	g.Go(func() (err error) {
		page, err = c.kids(gctx, o.V, "", cursor)
		return err
	})
	if err := g.Wait(); err != nil {
		return page, err
	}
	for i := range page.Items {
		page.Items[i].PostID = postID
		page.Items[i].ReplyToID = new(q.CommentID)
	}
	return page, nil
}

// top returns the id of the post above i, or of i when that is unknown.
func (c *client) top(ctx context.Context, i *item) string {
	at := i
	for range highest {
		if at.Parent == "" {
			break
		}
		o, err := c.item(ctx, string(at.Parent))
		if err != nil || o.V == nil {
			break
		}
		at = o.V
		if at.Type != "comment" {
			return string(at.ID)
		}
	}
	return string(i.ID)
}

// kids reads one page of the direct replies of i, in Hacker News's order.
func (c *client) kids(ctx context.Context, i *item, postID, cursor string) (providers.Page[schema.Comment], error) {
	var page providers.Page[schema.Comment]
	if err := i.Kids.Optional(ctx, "kids"); err != nil {
		return page, err
	}
	part, next, err := pages.Cut(i.Kids.V, cursor, pageSize)
	if err != nil {
		return page, err
	}
	got, err := c.items(ctx, part)
	if err != nil {
		return page, err
	}
	page.Next = next
	for _, o := range got.list {
		if o.V.isComment() {
			page.Items = append(page.Items, o.V.comment(postID, o.Raw))
		}
	}
	return page, wire.Understood("kids", len(page.Items), got.lost+i.Kids.Lost())
}

// comment converts i. It has no likes: Hacker News does not publish the scores of comments.
func (i *item) comment(postID string, raw json.RawMessage) schema.Comment {
	return schema.Comment{
		Common:    i.common(raw),
		PostID:    postID,
		Author:    i.author(),
		Text:      plain(i.Text),
		CreatedAt: i.Time.V,
	}
}
