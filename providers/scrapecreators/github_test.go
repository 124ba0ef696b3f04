package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestGitHub(t *testing.T) {
	run(t, platform.GitHub, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Followers("followers", "ann"),
			providertest.Following("following", "ann"),
			providertest.Posts("posts", "ann"),
			providertest.Post("post", "ann/maps"),
			providertest.Trending("trending", providers.TrendingQuery{}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a repository that is not public", "ann/secret"), Want: providers.ErrNotFound},
			{Call: providertest.Post("an issue", "ann/maps#1"), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{Absent: []string{"cursor", "repository"}},
	})
}
