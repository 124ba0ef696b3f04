package reddit

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParsePost converts a t3 without its envelope, from any source. The error wraps [providers.ErrUnavailable].
// https://github.com/reddit-archive/reddit/wiki/JSON#link-implements-votable--created
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.post(raw), err
}

// ParseComment converts a t1, without its envelope and its replies, in the thread of a post. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] if the comment is only a placeholder.
// https://github.com/reddit-archive/reddit/wiki/JSON#comment-implements-votable--created
func ParseComment(ctx context.Context, postID string, raw json.RawMessage) (schema.Comment, error) {
	var e struct {
		entity
		Replies json.RawMessage `json:"replies"`
	}
	if err := wire.Decode(ctx, raw, &e); err != nil {
		return schema.Comment{}, err
	}
	if e.gone() {
		return schema.Comment{}, providers.NotFound("this comment was deleted")
	}
	return e.comment(postID, raw), nil
}
