package scrapecreators

import (
	"context"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/soundcloud"
	"github.com/socialdata/socialdata/schema"
)

func (c *client) soundcloud() providers.Provider {
	uploads, at := by("v1/soundcloud/artist/tracks", "handle"), upstream.List{Rows: "tracks", Next: "cursor"}
	return providers.Provider{
		Platform: platform.SoundCloud,
		Profile:  one(c, by("v1/soundcloud/artist", "handle"), "", wire.Parsed(soundcloud.ParseProfile), sameAccount),
		Posts:    list(c, uploads, at, parsed(soundcloud.ParsePost), nil),
		Post:     one(c, soundcloudAlone, "", wire.Parsed(soundcloud.ParsePost), sameSound),
		Tracks:   list(c, uploads, at, parsed(soundcloud.ParseTrack), nil),
		Track:    one(c, soundcloudAlone, "", wire.Parsed(soundcloud.ParseTrack), sameSound),
	}
}

// soundcloudAlone asks for a track by its path; its number alone is not an address.
func soundcloudAlone(_ context.Context, id string) (upstream.Request, error) {
	if links.Digits(id) {
		return upstream.Request{}, providers.Unsupported("ScrapeCreators only finds tracks by their URL")
	}
	if !strings.HasPrefix(id, "https://") {
		id = "https://soundcloud.com/" + id
	}
	return upstream.Get("v1/soundcloud/track").Says("url", id), nil
}

// sameSound returns an error unless the answer is about the requested track; a short link is not checked.
func sameSound[T any, P interface {
	*T
	schema.Object
}](ctx context.Context, asked string, got T) error {
	if strings.HasPrefix(asked, "https://on.soundcloud.com/") {
		return nil
	}
	path := func(page string) string { return strings.TrimPrefix(page, "https://soundcloud.com/") }
	return wire.SameFold(ctx, "track", path(asked), path(P(&got).Shared().URL))
}
