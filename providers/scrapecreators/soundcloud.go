package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/soundcloud"
	"github.com/socialdata/socialdata/schema"
)

// soundcloudReads reads data of SoundCloud's website.
type soundcloudReads struct{ *client }

func (c *client) soundcloud() providers.Provider {
	r := soundcloudReads{c}
	return providers.Provider{
		Platform: platform.SoundCloud,
		Profile:  r.profile,
		Posts:    r.posts,
		Post:     r.post,
		Tracks:   r.tracks,
		Track:    r.track,
	}
}

func (r soundcloudReads) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := one(ctx, r.client, upstream.Get("v1/soundcloud/artist").Says("handle", handle), soundcloud.ParseProfile)
	if err == nil {
		err = wire.SameFold(ctx, "account", handle, p.Handle)
	}
	return p, err
}

func (r soundcloudReads) posts(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
	return soundcloudUploads(ctx, r, handle, cursor, soundcloud.ParsePost)
}

func (r soundcloudReads) tracks(ctx context.Context, handle, cursor string) (providers.Page[schema.Track], error) {
	return soundcloudUploads(ctx, r, handle, cursor, soundcloud.ParseTrack)
}

func soundcloudUploads[T any](
	ctx context.Context, r soundcloudReads, handle, cursor string, parse func(context.Context, json.RawMessage) (T, error),
) (providers.Page[T], error) {
	ask := upstream.Get("v1/soundcloud/artist/tracks").Says("handle", handle).With("cursor", cursor)
	return list(ctx, r.client, ask, "tracks", "cursor", parsed(ctx, parse))
}

func (r soundcloudReads) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := soundcloudTrack(ctx, r, id, soundcloud.ParsePost)
	if err == nil {
		err = sameSound(ctx, id, p.Common)
	}
	return p, err
}

func (r soundcloudReads) track(ctx context.Context, id string) (schema.Track, error) {
	t, err := soundcloudTrack(ctx, r, id, soundcloud.ParseTrack)
	if err == nil {
		err = sameSound(ctx, id, t.Common)
	}
	return t, err
}

// soundcloudTrack reads a track by its path; its number alone is not an address.
func soundcloudTrack[T any](
	ctx context.Context, r soundcloudReads, id string, parse func(context.Context, json.RawMessage) (T, error),
) (v T, err error) {
	switch {
	case links.Digits(id):
		return v, providers.Unsupported("ScrapeCreators only finds tracks by their URL")
	case !strings.HasPrefix(id, "https://"):
		id = "https://soundcloud.com/" + id
	}
	return one(ctx, r.client, upstream.Get("v1/soundcloud/track").Says("url", id), parse)
}

// sameSound returns an error unless the answer is about the requested track; a short link is not checked.
func sameSound(ctx context.Context, asked string, got schema.Common) error {
	if strings.HasPrefix(asked, "https://on.soundcloud.com/") {
		return nil
	}
	path := func(page string) string { return strings.TrimPrefix(page, "https://soundcloud.com/") }
	return wire.SameFold(ctx, "track", path(asked), path(got.URL))
}
