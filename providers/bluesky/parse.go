package bluesky

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts an account in the format of Bluesky's API, app.bsky.actor.defs#profileViewDetailed, from any
// source. The error wraps [providers.ErrUnavailable].
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/actor/defs.json
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a actor
	err := wire.Decode(ctx, raw, &a)
	return a.profile(raw), err
}

// ParsePost converts a post in the format of Bluesky's API, app.bsky.feed.defs#postView. The error wraps
// [providers.ErrUnavailable].
// https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/feed/defs.json
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.post(raw), err
}

// ParseComment is [ParsePost] for a reply to the post postID.
func ParseComment(ctx context.Context, postID string, raw json.RawMessage) (schema.Comment, error) {
	var p post
	err := wire.Decode(ctx, raw, &p)
	return p.comment(postID, raw), err
}
