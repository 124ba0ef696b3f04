package hackernews

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/pages"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize = 30 // of every list
	deepest  = 60 // submissions looked at for one page of posts: most of a busy user's are comments
)

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	o, err := c.item(ctx, id)
	if err == nil && !o.V.isPost() {
		err = absent(o.V)
	}
	if err != nil {
		return schema.Post{}, fmt.Errorf("hackernews: post %q: %w", id, err)
	}
	return o.V.post(o.Raw), nil
}

// absent says why i is no post.
func absent(i *item) error {
	switch {
	case i == nil:
		return providers.ErrNotFound
	case i.Deleted:
		return providers.NotFound("this item was deleted")
	case i.Dead:
		return providers.NotFound("this item was flagged or killed")
	}
	return providers.NotFound("this item is a %s, not a story, job or poll", i.Type)
}

// posts walks the submissions of a user. The cursor is the last one looked at, not its place, which moves with every
// new submission.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	u, err := c.user(ctx, handle)
	if err != nil {
		return page, fmt.Errorf("hackernews: posts of %q: %w", handle, err)
	}
	ids, err := after(u.V.Submitted, cursor)
	if err != nil {
		return page, fmt.Errorf("hackernews: posts of %q: %w", handle, err)
	}
	for looked := 0; len(ids) > 0 && looked < deepest && len(page.Items) < pageSize; {
		some := ids[:min(parallel, len(ids), deepest-looked)]
		got, err := c.items(ctx, some)
		if err != nil {
			return page, fmt.Errorf("hackernews: posts of %q: %w", handle, err)
		}
		for _, o := range got {
			ids, looked = ids[1:], looked+1
			if o.V.isPost() {
				page.Items = append(page.Items, o.V.post(o.Raw))
			}
			if len(page.Items) == pageSize {
				break
			}
		}
	}
	if len(ids) > 0 {
		page.Next = strconv.FormatInt(u.V.Submitted[len(u.V.Submitted)-len(ids)-1], 10)
	}
	return page, nil
}

// after returns what follows cursor in ids, which run from new to old.
func after(ids []int64, cursor string) ([]int64, error) {
	if cursor == "" {
		return ids, nil
	}
	last, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return nil, providers.ErrCursor
	}
	if i := slices.Index(ids, last); i >= 0 {
		return ids[i+1:], nil
	}
	if i := slices.IndexFunc(ids, func(id int64) bool { return id < last }); i >= 0 {
		return ids[i:], nil
	}
	return nil, nil
}

// trending reads the front page.
// https://github.com/HackerNews/API#new-top-and-best-stories
func (c *client) trending(ctx context.Context, _ providers.TrendingQuery, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	var ids []int64
	if _, err := c.http.JSON(ctx, upstream.Get("topstories.json"), &ids); err != nil {
		return page, fmt.Errorf("hackernews: front page: %w", err)
	}
	part, next, err := pages.Cut(ids, cursor, pageSize)
	if err != nil {
		return page, fmt.Errorf("hackernews: front page: %w", err)
	}
	got, err := c.items(ctx, part)
	if err != nil {
		return page, fmt.Errorf("hackernews: front page: %w", err)
	}
	page.Next = next
	for _, o := range got {
		if o.V.isPost() {
			page.Items = append(page.Items, o.V.post(o.Raw))
		}
	}
	return page, nil
}

// post puts the outgoing link behind the text: it is no media, and is often all that there is.
func (i *item) post(raw []byte) schema.Post {
	return schema.Post{
		Common:     i.common(raw),
		Author:     i.author(),
		Text:       text.Join(text.Join(html.UnescapeString(i.Title), plain(i.Text)), i.URL),
		CreatedAt:  i.createdAt(),
		Engagement: schema.Engagement{Likes: i.Score, Comments: i.Descendants},
	}
}
