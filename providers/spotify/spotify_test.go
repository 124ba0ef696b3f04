package spotify_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/spotify"
	"github.com/socialdata/socialdata/schema"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
		},
		Calls: []providertest.Call{
			providertest.Profile("profile", id("annExample")),
			providertest.Profile("profile-development-mode", id("bobExample")),
			providertest.Profile("profile-by-name", "ann example"),
			providertest.Posts("posts", id("annExample")),
			providertest.Post("post", id("album1")),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: id("annExample")}),
			providertest.Collection("collection-album", providers.CollectionQuery{ID: id("album1"), Kind: schema.Album}),
			providertest.Collection("collection-album-old", providers.CollectionQuery{ID: "album/" + id("album5")}),
			providertest.Collection("collection-playlist", providers.CollectionQuery{ID: id("playlist1")}),
			providertest.Collection("collection-playlist-bare", providers.CollectionQuery{ID: id("playlistDev"), Kind: schema.Playlist}),
			providertest.Collection("collection-podcast", providers.CollectionQuery{ID: id("show1")}),
			providertest.CollectionTracks("tracks-of-album", providers.CollectionQuery{ID: id("album1"), Kind: schema.Album}),
			providertest.CollectionTracks("tracks-of-playlist", providers.CollectionQuery{ID: id("playlist1")}),
			providertest.CollectionTracks("tracks-of-playlist-development-mode", providers.CollectionQuery{ID: "playlist/" + id("playlistDev"), Kind: schema.Playlist}),
			providertest.CollectionTracks("tracks-of-podcast", providers.CollectionQuery{ID: "show/" + id("show1")}),
			providertest.CollectionTracks("tracks-of-podcast-without-name", providers.CollectionQuery{ID: id("showNameless"), Kind: schema.Podcast}),
			providertest.Track("track", id("track1")),
			providertest.Track("track-bare", id("trackAR")),
			providertest.Track("track-episode", "episode/"+id("episode1")),
			providertest.Track("track-episode-by-bare-id", id("episode1")),
			providertest.Tracks("tracks", id("annExample")),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-region", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult, Region: "SA"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown id", id("unknown")), Want: providers.ErrNotFound},
			{Call: providertest.Profile("malformed id", id("malformed")), Want: providers.ErrNotFound},
			{Call: providertest.Profile("name that no artist has exactly", "ann"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("refused token", id("expired")), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("rate limit", id("limited")), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("owner without Premium", id("premium")), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("refusal without a word", id("nothing")), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("outage", id("outage")), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of an unknown id", id("unknown")), Want: providers.ErrNotFound},
			{Call: providertest.Collection("unknown collection of any kind", providers.CollectionQuery{ID: id("unknown")}), Want: providers.ErrNotFound},
			{Call: providertest.Collection("kind and id at odds", providers.CollectionQuery{ID: "album/" + id("album1"), Kind: schema.Podcast}), Want: providers.ErrInvalid},
			{Call: providertest.CollectionTracks("playlist of another", providers.CollectionQuery{ID: id("playlistForeign"), Kind: schema.Playlist}), Want: providers.ErrUnavailable},
			{Call: providertest.Track("unknown track", id("unknown")), Want: providers.ErrNotFound},
			{Call: providertest.Tracks("top tracks in development mode", id("bobExample")), Want: providers.ErrUnavailable},
			{Call: providertest.Search("unknown region", providers.SearchQuery{Query: "tea", Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("cursor of posts", id("annExample")).From("x.0.0"), Want: providers.ErrCursor},
			{Call: providertest.Search("cursor of search", providers.SearchQuery{Query: "tea"}).From("10:artist,secrets"), Want: providers.ErrCursor},
			{Call: providertest.CollectionTracks("cursor of tracks", providers.CollectionQuery{ID: id("album1"), Kind: schema.Album}).From("-1"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			Absent: []string{
				"next", "tracks.next", "artists.next", "albums.next", "playlists.next", "shows.next", // the last page
				"tracks", "artists", "albums", "playlists", "shows", // a search may leave out requested types
				"items[]", "tracks[]", "artists.items[]", "items[].item", // a row that Spotify withholds
				"followers", "followers.total", // missing for apps in development mode
			},
			// A list sorted by date moves a row without one elsewhere. Albums and playlists have their count twice, so that one
			// can replace the other.
			Sums: []string{
				"items[].release_date", "items", "items.total", "playlists.items[].items", "playlists.items[].items.total", "total_tracks",
			},
			// An artist with another name is not the requested one.
			Elsewhere: []string{"profile-by-name"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: id("ann"), Want: id("ann")},
			{Subject: providers.Handle, In: "https://open.spotify.com/intl-de/artist/" + id("ann") + "?si=x", Want: id("ann")},
			{Subject: providers.Handle, In: "spotify:artist:" + id("ann"), Want: id("ann")},
			{Subject: providers.Handle, In: "Ann  Example", Want: "ann example"},
			{Subject: providers.Handle, In: "AC/DC", Want: "ac/dc"},
			{Subject: providers.Handle, In: "https://open.spotify.com/album/" + id("album1")},
			{Subject: providers.Handle, In: "https://music.example/artist/" + id("ann")},
			{Subject: providers.Handle, In: "https://open.spotify.com/artist/short"},
			{Subject: providers.PostID, In: "open.spotify.com/album/" + id("album1"), Want: id("album1")},
			{Subject: providers.PostID, In: id("album1"), Want: id("album1")},
			{Subject: providers.PostID, In: "Kettle"},
			{Subject: providers.CollectionID, In: id("album1"), Want: id("album1")},
			{Subject: providers.CollectionID, In: "spotify:show:" + id("show1"), Want: "show/" + id("show1")},
			{Subject: providers.CollectionID, In: "spotify:user:ann:playlist:" + id("p"), Want: "playlist/" + id("p")},
			{Subject: providers.CollectionID, In: "http://open.spotify.com/user/ann/playlist/" + id("p"), Want: "playlist/" + id("p")},
			{Subject: providers.CollectionID, In: "https://open.spotify.com/embed/playlist/" + id("p"), Want: "playlist/" + id("p")},
			{Subject: providers.CollectionID, In: "spotify:artist:" + id("ann")},
			{Subject: providers.CollectionID, In: "tea"},
			{Subject: providers.TrackID, In: "https://open.spotify.com/track/" + id("track1"), Want: id("track1")},
			{Subject: providers.TrackID, In: "https://open.spotify.com/episode/" + id("e"), Want: "episode/" + id("e")},
			{Subject: providers.TrackID, In: "https://open.spotify.com/embed-podcast/episode/" + id("e"), Want: "episode/" + id("e")},
			{Subject: providers.TrackID, In: "https://open.spotify.com/album/" + id("album1")},
			{Subject: providers.TrackID, In: "../artists"},
		},
	})
}

func TestWithoutCredentialsNothingIsServed(t *testing.T) {
	t.Parallel()
	p := spotify.New(spotify.Config{ClientID: "id"})[0]
	if p.Serves(providers.OpProfile) || p.Forward != nil {
		t.Error("served without a secret")
	}
	if diff := cmp.Diff([]string{"client_secret"}, p.Missing[providers.OpProfile]); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestRefusedPageSizeIsRetriedWithASmallerOne(t *testing.T) {
	t.Parallel()
	var limits []string
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "accounts.spotify.com" {
			return http.StatusOK, `{"access_token":"made-up"}`
		}
		limits = append(limits, r.URL.Query().Get("limit"))
		if len(limits) == 1 {
			return http.StatusBadRequest, `{"error":{"status":400,"message":"Invalid limit"}}`
		}
		return http.StatusOK, `{"artists":{"items":[],"next":null}}`
	})}
	p := spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", PageLimit: 50, HTTP: client})[0]
	if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"50", "10"}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestRefusedCredentialsAreUnavailableAndStaySecret(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Query().Get("variant") != "x" || r.Header.Get("Authorization") != "Basic aWQ6czNjcjN0LXMzY3IzdA==" {
			t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		return http.StatusBadRequest, `{"error":"invalid_client","error_description":"Invalid client secret"}`
	})}
	p := spotify.New(spotify.Config{
		ClientID: "id", ClientSecret: "s3cr3t-s3cr3t", TokenURL: "https://accounts.spotify.com/api/token?variant=x", HTTP: client,
	})[0]
	_, err := p.Profile(t.Context(), id("ann"))
	if !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got error %v, want unavailable without the secret", err)
	}
}

// id pads name to the length of an id.
func id(name string) string { return name + strings.Repeat("0", 22-len(name)) }
