package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestAppleMusic(t *testing.T) {
	run(t, platform.AppleMusic, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "159"),
			providertest.Posts("posts", "159"),
			providertest.Post("post", "146"),
			providertest.Collection("collection", providers.CollectionQuery{ID: "146"}),
			providertest.CollectionTracks("collection-tracks", providers.CollectionQuery{ID: "146"}),
			providertest.Track("track", "183"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("unknown album", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a name", "ann"), Want: providers.ErrUnsupported},
			{Call: providertest.Collection("a playlist", providers.CollectionQuery{ID: "pl.1"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{Absent: []string{"data"}},
	})
}
