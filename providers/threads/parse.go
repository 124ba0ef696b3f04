package threads

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts an account as the site's own code gets it, from any source. The error wraps
// [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var m member
	err := wire.Decode(ctx, raw, &m)
	return m.profile(raw), err
}

// ParsePost converts a post as the site's own code gets it, from any source. The error wraps [providers.ErrNotFound]
// for one that is deleted or hidden, else [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	n, err := parse(ctx, raw)
	return n.post(raw), err
}

// ParseComment is [ParsePost] for a reply to the post postID, or to the comment parent if that is not nil.
func ParseComment(ctx context.Context, postID string, parent *string, raw json.RawMessage) (schema.Comment, error) {
	n, err := parse(ctx, raw)
	return n.comment(postID, parent, raw), err
}

func parse(ctx context.Context, raw json.RawMessage) (node, error) {
	var n wire.Object[node]
	if err := wire.Decode(ctx, raw, &n); err != nil {
		return n.V, err
	}
	if gone(n) {
		return n.V, providers.NotFound("the post is deleted or hidden")
	}
	return n.V, wire.Need(ctx, "user or caption", n.V.readable())
}
