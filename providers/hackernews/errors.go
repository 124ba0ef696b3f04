package hackernews

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// known returns an error unless o, the answer for id, is an item of a known kind. For an item that does not exist,
// Hacker News answers only null.
func known(ctx context.Context, id string, o object) error {
	if o.V == nil {
		return nil
	}
	if err := wire.Same(ctx, "item", id, string(o.V.ID)); err != nil {
		return err
	}
	return wire.Marker(ctx, "type", o.V.Type, "story", "job", "poll", "comment", "pollopt")
}

// absent returns the reason why i is not a post.
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
