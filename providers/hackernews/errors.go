package hackernews

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// known fails unless o, which answers for id, is an item of a kind that we know: Hacker News says null, and nothing else,
// of an item that it does not have.
func known(ctx context.Context, id string, o object) error {
	if o.V == nil {
		return nil
	}
	if err := wire.Same(ctx, "item", id, string(o.V.ID)); err != nil {
		return err
	}
	return wire.Marker(ctx, "type", o.V.Type, "story", "job", "poll", "comment", "pollopt")
}

// absent says why i is no post.
func absent(i *item) error {
	switch {
	case i == nil:
		return providers.ErrNotFound
	case i.Deleted.Is():
		return providers.NotFound("this item was deleted")
	case i.Dead.Is():
		return providers.NotFound("this item was flagged or killed")
	case !i.public():
		return providers.Unreadable(nil)
	}
	return providers.NotFound("this item is a %s, not a story, job or poll", i.Type)
}
