package scrapecreators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestSpotify(t *testing.T) {
	run(t, platform.Spotify, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "annAAAAAAAAAAAAAAAAAAA"),
			providertest.Posts("posts", "annAAAAAAAAAAAAAAAAAAA"),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "annAAAAAAAAAAAAAAAAAAA"}),
			providertest.Post("post", "alAAAAAAAAAAAAAAAAAAAA"),
			providertest.Collection("album", providers.CollectionQuery{ID: "alAAAAAAAAAAAAAAAAAAAA"}),
			providertest.Collection("playlist", providers.CollectionQuery{ID: "plAAAAAAAAAAAAAAAAAAAA", Kind: schema.Playlist}),
			providertest.Collection("podcast", providers.CollectionQuery{ID: "show/" + "poAAAAAAAAAAAAAAAAAAAA"}),
			providertest.CollectionTracks("album-tracks", providers.CollectionQuery{ID: "alAAAAAAAAAAAAAAAAAAAA"}),
			providertest.CollectionTracks("playlist-tracks", providers.CollectionQuery{ID: "plAAAAAAAAAAAAAAAAAAAA", Kind: schema.Playlist}),
			providertest.CollectionTracks("episodes", providers.CollectionQuery{ID: "poAAAAAAAAAAAAAAAAAAAA", Kind: schema.Podcast}),
			providertest.Track("track", "t1AAAAAAAAAAAAAAAAAAAA"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-tracks", providers.SearchQuery{Query: "tea", Kind: schema.TrackResult}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown artist", "noneAAAAAAAAAAAAAAAAAA"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a name", "ann"), Want: providers.ErrUnsupported},
		},
		// The last page has no cursor.
		Drift: &providertest.Drift{Absent: []string{"cursor"}},
	})
}

func TestSpotifyPlaylistEntries(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Spotify, `{"totalCount": 2, "cursor": null, "tracks": [
		{"id": null, "uri": "spotify:local:Ann:Tea:Pot:240", "name": "Pot", "duration": {"totalMilliseconds": 240000}},
		{"id": "e1AAAAAAAAAAAAAAAAAAAA", "uri": "spotify:episode:e1AAAAAAAAAAAAAAAAAAAA", "name": "One",
		 "podcastV2": {"name": "Tea talk", "uri": "spotify:show:poAAAAAAAAAAAAAAAAAAAA"}}]}`)
	q := providers.CollectionQuery{ID: "plAAAAAAAAAAAAAAAAAAAA", Kind: schema.Playlist}
	page, err := p.CollectionTracks(t.Context(), q, "")
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != "e1AAAAAAAAAAAAAAAAAAAA" {
		t.Fatalf("got %v (%v), want the episode without the file of the owner's", page.Items, err)
	}
	if diff := cmp.Diff([]string{"Tea talk"}, page.Items[0].Artists); diff != "" {
		t.Errorf("artists (-want +got):\n%s", diff)
	}
}
