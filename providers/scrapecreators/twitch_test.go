package scrapecreators_test

import (
	"context"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestTwitch(t *testing.T) {
	run(t, platform.Twitch, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Live("live", "ann"),
			providertest.Live("live-off", "bob"),
			providertest.Posts("posts", "ann"),
			providertest.Post("clip", "GreenTea-x"),
			providertest.List("events", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Event], error) {
				return p.Events(ctx, providers.EventsQuery{Handle: "ann"}, cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a video", "2762"), Want: providers.ErrUnsupported},
		},
		// The first of several answers has the clip; a channel may have no schedule.
		Drift: &providertest.Drift{Tuples: []string{"$"}, Absent: []string{"channel.schedule", "[].data.clip"}},
	})
}
