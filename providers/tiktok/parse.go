package tiktok

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts an account as the site's own code gets it, under user and beside its counts, from any source.
// The error wraps [providers.ErrUnavailable].
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a accountDetail
	err := wire.Decode(ctx, raw, &a)
	return a.profile(raw), err
}

// ParsePost converts a post as the site's own code gets it, from any source. The error wraps
// [providers.ErrUnavailable].
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var i item
	err := wire.Decode(ctx, raw, &i)
	return i.post(raw), err
}
