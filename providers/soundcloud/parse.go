package soundcloud

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// ParseProfile converts a user as SoundCloud's APIs return it, from any source. The error wraps
// [providers.ErrUnavailable].
// https://developers.soundcloud.com/docs/api/explorer/open-api#/users/get_users__user_urn_
func ParseProfile(ctx context.Context, raw json.RawMessage) (schema.Profile, error) {
	var u user
	err := wire.Decode(ctx, raw, &u)
	return u.profile(raw), err
}

// ParsePost converts a track to a post; see [ParseProfile].
// https://developers.soundcloud.com/docs/api/explorer/open-api#/tracks/get_tracks__track_urn_
func ParsePost(ctx context.Context, raw json.RawMessage) (schema.Post, error) {
	var t track
	err := wire.Decode(ctx, raw, &t)
	p, _ := t.post(raw)
	return p, err
}

// ParseTrack converts a track; see [ParseProfile].
func ParseTrack(ctx context.Context, raw json.RawMessage) (schema.Track, error) {
	var t track
	err := wire.Decode(ctx, raw, &t)
	out, _ := t.track(raw)
	return out, err
}
