package scrapecreators_test

import (
	"context"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestSoundCloud(t *testing.T) {
	run(t, platform.SoundCloud, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "anntea"),
			providertest.Posts("posts", "anntea"),
			providertest.Post("post", "anntea/green"),
			providertest.List("tracks", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Track], error) {
				return p.Tracks(ctx, "anntea", cursor)
			}),
			providertest.Track("track", "anntea/green"),
			providertest.Track("track-by-short-link", "https://on.soundcloud.com/Ab1"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Track("a number", "23"), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{Absent: []string{"cursor"}},
	})
}
