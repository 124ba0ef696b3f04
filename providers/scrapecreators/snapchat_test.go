package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestSnapchat(t *testing.T) {
	const (
		cafe  = "cafe.riyadh"
		video = "W7_EDlXWTBiXAEEniNoMPwAAYY2pvZnd0ZXVmAZ8fgG8p"
	)
	run(t, platform.Snapchat, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", cafe),
			providertest.Posts("posts", cafe),
			providertest.Reels("reels", cafe),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: cafe}),
			providertest.Post("post", video),
			providertest.Comments("comments", video),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{
				Call: providertest.Post("unknown post", "W7_EDlXWTBiXAEEniNoMPwAAYZGJ6d3NyYWdiAYdiSHKK"),
				Want: providers.ErrNotFound,
			},
		},
		Drift: &providertest.Drift{
			Absent: []string{"spotlight", "story"}, // a post that does not exist, a day without a story
		},
	})
}
