package hackernews

import (
	"context"
	"encoding/json"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// parallel is how many items are read at the same time: the API cannot read several at once.
const parallel = 12

// item is the answer of GET /item/{id}.json, which is a story, a comment, a job, a poll or a poll option.
// https://github.com/HackerNews/API#items
type item struct {
	ID          wire.Serial  `json:"id"`
	Type        string       `json:"type"`
	By          string       `json:"by"` // absent when the author is gone
	Time        wire.Time    `json:"time"`
	Deleted     wire.Bool    `json:"deleted"` // absent when it is not
	Dead        wire.Bool    `json:"dead"`    // flagged, or by a banned user; absent when it is not
	Title       string       `json:"title"`
	Text        string       `json:"text"` // HTML, as the title is
	URL         string       `json:"url"`  // "" or absent when the item links nowhere
	Score       wire.Count   `json:"score"`
	Descendants wire.Count   `json:"descendants"` // in the whole tree; absent on jobs
	Kids        wire.Numbers `json:"kids"`        // direct replies in page order, including deleted ones; absent if none
	Parent      wire.Serial  `json:"parent"`
}

// object is an item with its raw JSON; V is nil when it does not exist.
type object = wire.Object[*item]

// item reads one item. For one that does not exist the API answers null with status 200.
func (c *client) item(ctx context.Context, id string) (object, error) {
	var o object
	if _, err := c.http.Read(ctx, upstream.Get("item", id+".json"), &o); err != nil {
		return o, err
	}
	return o, known(ctx, id, o)
}

// batch holds the items read for some ids, in their order.
type batch struct {
	list []object // without those that do not exist or are unreadable
	lost int      // how many are unreadable
}

// items reads many items. If one cannot be read at all, all fail: a silent gap would be worse.
func (c *client) items(ctx context.Context, ids []int64) (batch, error) {
	all, odd := make([]object, len(ids)), make([]bool, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, n := range ids {
		g.Go(func() error {
			id := strconv.FormatInt(n, 10)
			_, err := c.http.Read(ctx, upstream.Get("item", id+".json"), &all[i])
			odd[i] = err == nil && known(ctx, id, all[i]) != nil
			return err
		})
	}
	var b batch
	if err := g.Wait(); err != nil {
		return b, err
	}
	for i, o := range all {
		switch {
		case odd[i]:
			b.lost++
		case o.V != nil:
			b.list = append(b.list, o)
		}
	}
	return b, nil
}

// public reports whether everyone can see i. It is false if a flag cannot be read, since the flag may be set.
func (i *item) public() bool { return i != nil && i.Deleted.Not() && i.Dead.Not() }

func (i *item) isPost() bool {
	return i.public() && (i.Type == "story" || i.Type == "job" || i.Type == "poll")
}

func (i *item) isComment() bool { return i.public() && i.Type == "comment" }

func (i *item) common(raw json.RawMessage) schema.Common {
	return schema.Common{ID: string(i.ID), URL: site + "item?id=" + string(i.ID), Raw: raw}
}

func (i *item) author() schema.Actor {
	if i.By == "" {
		return schema.UnknownActor()
	}
	return schema.Actor{ID: i.By, Handle: i.By}
}
