package truthsocial

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts an account as Truth Social's own API returns it, from any source. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] for an account that is suspended.
// https://docs.joinmastodon.org/entities/Account/
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var a account
	if err := wire.Decode(ctx, raw, &a); err != nil {
		return schema.Profile{}, err
	}
	if a.Suspended.Is() {
		return schema.Profile{}, providers.NotFound("the account is suspended")
	}
	return a.profile(raw), wire.Need(ctx, "id", a.ID != "")
}

// ParsePost converts a status. The error wraps [providers.ErrUnavailable], or [providers.ErrNotFound] for a status that
// is not public.
// https://docs.joinmastodon.org/entities/Status/
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var s status
	if err := wire.Decode(ctx, raw, &s); err != nil {
		return schema.Post{}, err
	}
	if s.hidden() {
		return schema.Post{}, providers.NotFound("the post is not public")
	}
	return s.post(raw), wire.Need(ctx, "visibility and reblog", s.understood())
}
