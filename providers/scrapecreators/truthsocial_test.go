package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestTruthSocial(t *testing.T) {
	run(t, platform.TruthSocial, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Posts("posts", "ann"),
			providertest.Posts("posts-by-number", "107"),
			providertest.Post("post", "1142"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a post that is not public", "1141"), Want: providers.ErrNotFound},
		},
		// The last page has no token, and an original post no reblog.
		Drift: &providertest.Drift{Absent: []string{"next_max_id", "posts[].reblog", "reblog"}},
	})
}
