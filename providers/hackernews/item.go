package hackernews

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// parallel is how many items are read at the same time: there is no read of many at once.
const parallel = 12

// item is the answer of GET /item/{id}.json, and any of a story, a comment, a job, a poll and a poll option.
// https://github.com/HackerNews/API#items
type item struct {
	ID          int64   `json:"id"`
	Type        string  `json:"type"`
	By          string  `json:"by"` // absent where the author is gone
	Time        int64   `json:"time"`
	Deleted     bool    `json:"deleted"`
	Dead        bool    `json:"dead"` // flagged, or by a banned user
	Title       string  `json:"title"`
	Text        string  `json:"text"` // HTML, as the title is
	URL         string  `json:"url"`  // "" or absent where the item leads nowhere
	Score       *int64  `json:"score"`
	Descendants *int64  `json:"descendants"` // the whole tree; absent on jobs
	Kids        []int64 `json:"kids"`        // direct replies in the order of the page, deleted ones included
	Parent      int64   `json:"parent"`
}

type object = upstream.Object[*item]

// item reads one item. V is nil when it does not exist: that is the answer null, with status 200.
func (c *client) item(ctx context.Context, id string) (object, error) {
	var o object
	if _, err := c.http.JSON(ctx, upstream.Get("item", id+".json"), &o); err != nil {
		return o, err
	}
	if o.V != nil && o.V.id() != id {
		return o, providers.Unavailable(nil, "the upstream's answer is another item")
	}
	return o, nil
}

// items reads many items, in the order of ids. One that cannot be read fails them all: a silent hole is worse.
func (c *client) items(ctx context.Context, ids []int64) ([]object, error) {
	out := make([]object, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, id := range ids {
		g.Go(func() (err error) {
			out[i], err = c.item(ctx, strconv.FormatInt(id, 10))
			return err
		})
	}
	return out, g.Wait()
}

func (i *item) id() string { return strconv.FormatInt(i.ID, 10) }

// public tells whether i is there for everyone to see.
func (i *item) public() bool { return i != nil && !i.Deleted && !i.Dead }

func (i *item) isPost() bool {
	return i.public() && (i.Type == "story" || i.Type == "job" || i.Type == "poll")
}

func (i *item) isComment() bool { return i.public() && i.Type == "comment" }

func (i *item) common(raw []byte) schema.Common {
	return schema.Common{ID: i.id(), URL: site + "item?id=" + i.id(), Raw: raw}
}

func (i *item) author() schema.Actor {
	if i.By == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: i.By, Handle: i.By}
}

func (i *item) createdAt() *time.Time {
	if i.Time <= 0 {
		return nil
	}
	return new(time.Unix(i.Time, 0).UTC())
}
