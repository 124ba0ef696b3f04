package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestX(t *testing.T) {
	run(t, platform.X, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Posts("posts", "ann"),
			providertest.Post("post", "18"),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "18"}),
			providertest.Community("community", "192"),
			providertest.CommunityPosts("community-posts", providers.CommunityPostsQuery{ID: "192"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("suspended account", "gone"), Want: providers.ErrNotFound},
			{Call: providertest.Post("deleted post", "19"), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("nothing is said", providers.TranscriptQuery{PostID: "17"}), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{Absent: []string{"transcript"}},
	})
}
