package hackernews

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	pageSize = 30 // of every list
	deepest  = 60 // submissions read at most for one page of posts: most of a busy user's are comments
)

func (c *client) post(ctx context.Context, id string) (schema.Post, error) {
	o, err := c.item(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	if !o.V.isPost() {
		return schema.Post{}, absent(o.V)
	}
	return o.V.post(o.Raw), nil
}

// posts walks the submissions of a user. The cursor is the last id read, not its position, which shifts with every new
// submission.
func (c *client) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	var page providers.Page[schema.Post]
	u, err := c.user(ctx, handle)
	if err != nil {
		return page, err
	}
	ids, err := after(u.V.Submitted.V, cursor)
	if err != nil {
		return page, err
	}
	understood, lost := 0, 0
	for looked := 0; len(ids) > 0 && looked < deepest && len(page.Items) < pageSize; {
		some := ids[:min(parallel, len(ids), deepest-looked, pageSize-len(page.Items))]
		got, err := c.items(ctx, some)
		if err != nil {
			return page, err
		}
		ids, looked = ids[len(some):], looked+len(some)
		understood, lost = understood+len(got.list), lost+got.lost
		for _, o := range got.list {
			if o.V.isPost() {
				page.Items = append(page.Items, o.V.post(o.Raw))
			}
		}
	}
	if err := wire.Understood("submitted", understood, lost); err != nil {
		return page, err
	}
	if len(ids) > 0 {
		submitted := u.V.Submitted.V
		page.Next = strconv.FormatInt(submitted[len(submitted)-len(ids)-1], 10)
	}
	return page, nil
}

// after returns the ids after cursor in ids, which run from new to old.
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
	var ids wire.Numbers
	if _, err := c.http.Read(ctx, upstream.Get("topstories.json"), &ids); err != nil {
		return page, err
	}
	if err := ids.Check(ctx, "topstories"); err != nil {
		return page, err
	}
	part, next, err := pages.Cut(ids.V, cursor, pageSize)
	if err != nil {
		return page, err
	}
	got, err := c.items(ctx, part)
	if err != nil {
		return page, err
	}
	if err := wire.Understood("topstories", len(got.list), got.lost); err != nil {
		return page, err
	}
	page.Next = next
	for _, o := range got.list {
		if o.V.isPost() {
			page.Items = append(page.Items, o.V.post(o.Raw))
		}
	}
	return page, nil
}

// post converts i. It puts the outgoing link after the text: the link is not media, and is often all that the story
// has.
func (i *item) post(raw json.RawMessage) schema.Post {
	return schema.Post{
		Common:     i.common(raw),
		Author:     i.author(),
		Text:       text.Join(text.Join(html.UnescapeString(i.Title), plain(i.Text)), i.URL),
		CreatedAt:  i.Time.V,
		Engagement: schema.Engagement{Likes: i.Score.V, Comments: i.Descendants.V},
	}
}
