package spotify_test

import (
	"context"
	"errors"
	"io"
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
		New: func(c *http.Client) providers.Provider {
			return spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
		},
		Calls: []providertest.Call{
			profile("profile", id("annExample")),
			profile("profile-development-mode", id("bobExample")),
			profile("profile-by-name", "ann example"),
			posts("posts", id("annExample")),
			providertest.One("post", func(ctx context.Context, p providers.Provider) (schema.Post, error) {
				return p.Post(ctx, id("album1"))
			}),
			providertest.List("collections", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Collection], error) {
				return p.Collections(ctx, providers.CollectionsQuery{Handle: id("annExample")}, cursor)
			}),
			collection("collection-album", id("album1"), schema.Album),
			collection("collection-album-old", "album/"+id("album5"), ""),
			collection("collection-playlist", id("playlist1"), ""),
			collection("collection-playlist-bare", id("playlistDev"), schema.Playlist),
			collection("collection-podcast", id("show1"), ""),
			items("tracks-of-album", id("album1"), schema.Album),
			items("tracks-of-playlist", id("playlist1"), ""),
			items("tracks-of-playlist-development-mode", "playlist/"+id("playlistDev"), schema.Playlist),
			items("tracks-of-podcast", "show/"+id("show1"), ""),
			items("tracks-of-podcast-without-name", id("showNameless"), schema.Podcast),
			track("track", id("track1")),
			track("track-bare", id("trackAR")),
			track("track-episode", "episode/"+id("episode1")),
			tracks("tracks", id("annExample")),
			search("search", providers.SearchQuery{Query: "tea"}),
			search("search-region", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult, Region: "SA"}),
		},
		Fails: []providertest.Fail{
			{Call: profile("unknown id", id("unknown")), Want: providers.ErrNotFound},
			{Call: profile("malformed id", id("malformed")), Want: providers.ErrNotFound},
			{Call: profile("name of nobody exactly", "ann"), Want: providers.ErrNotFound},
			{Call: profile("refused token", id("expired")), Want: providers.ErrUnavailable},
			{Call: profile("rate limit", id("limited")), Want: providers.ErrUnavailable},
			{Call: profile("owner without Premium", id("premium")), Want: providers.ErrUnavailable},
			{Call: profile("refusal without a word", id("nothing")), Want: providers.ErrUnavailable},
			{Call: profile("outage", id("outage")), Want: providers.ErrUnavailable},
			{Call: posts("posts of an unknown id", id("unknown")), Want: providers.ErrNotFound},
			{Call: collection("unknown collection of any kind", id("unknown"), ""), Want: providers.ErrNotFound},
			{Call: collection("kind and id at odds", "album/"+id("album1"), schema.Podcast), Want: providers.ErrInvalid},
			{Call: items("playlist of another", id("playlistForeign"), schema.Playlist), Want: providers.ErrUnavailable},
			{Call: track("unknown track", id("unknown")), Want: providers.ErrNotFound},
			{Call: tracks("top tracks in development mode", id("bobExample")), Want: providers.ErrUnavailable},
			{Call: search("unknown region", providers.SearchQuery{Query: "tea", Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: at("cursor of posts", "x.0.0", func(ctx context.Context, p providers.Provider, cursor string) error {
				_, err := p.Posts(ctx, id("annExample"), cursor)
				return err
			}), Want: providers.ErrCursor},
			{Call: at("cursor of search", "10:artist,secrets", func(ctx context.Context, p providers.Provider, cursor string) error {
				_, err := p.Search(ctx, providers.SearchQuery{Query: "tea"}, cursor)
				return err
			}), Want: providers.ErrCursor},
			{Call: at("cursor of tracks", "-1", func(ctx context.Context, p providers.Provider, cursor string) error {
				_, err := p.CollectionTracks(ctx, providers.CollectionQuery{ID: id("album1"), Kind: schema.Album}, cursor)
				return err
			}), Want: providers.ErrCursor},
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
			{Subject: providers.TrackID, In: "https://open.spotify.com/album/" + id("album1")},
			{Subject: providers.TrackID, In: "../artists"},
		},
	})
}

func TestWithoutCredentialsNothingIsServedAndTheSettingsAreNamed(t *testing.T) {
	t.Parallel()
	p := spotify.New(spotify.Config{ClientID: "id"})
	if p.Serves(providers.OpProfile) || p.Forward != nil {
		t.Error("served without a secret")
	}
	if diff := cmp.Diff([]string{"client_secret"}, p.Missing[providers.OpProfile]); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestRefusedPageSizeIsAskedForOnceMoreAtTheSmallerOne(t *testing.T) {
	t.Parallel()
	var limits []string
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (int, string) {
		if r.URL.Host == "accounts.spotify.com" {
			return http.StatusOK, `{"access_token":"made-up"}`
		}
		limits = append(limits, r.URL.Query().Get("limit"))
		if len(limits) == 1 {
			return http.StatusBadRequest, `{"error":{"status":400,"message":"Invalid limit"}}`
		}
		return http.StatusOK, `{"artists":{"items":[],"next":null}}`
	})}
	p := spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", PageLimit: 50, HTTP: client})
	if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"50", "10"}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestRefusedCredentialsAreUnavailableAndStaySecret(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (int, string) {
		if r.URL.Query().Get("variant") != "x" || r.Header.Get("Authorization") != "Basic aWQ6czNjcjN0LXMzY3IzdA==" {
			t.Errorf("asked %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		return http.StatusBadRequest, `{"error":"invalid_client","error_description":"Invalid client secret"}`
	})}
	p := spotify.New(spotify.Config{
		ClientID: "id", ClientSecret: "s3cr3t-s3cr3t", TokenURL: "https://accounts.spotify.com/api/token?variant=x", HTTP: client,
	})
	_, err := p.Profile(t.Context(), id("ann"))
	if !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got error %v, want unavailable without the secret", err)
	}
}

type roundTrip func(*http.Request) (status int, body string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// id fills name up to the length of an id.
func id(name string) string { return name + strings.Repeat("0", 22-len(name)) }

func profile(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) {
		return p.Profile(ctx, handle)
	})
}

func posts(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.Posts(ctx, handle, cursor)
	})
}

func collection(name, id string, kind schema.CollectionKind) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Collection, error) {
		return p.Collection(ctx, providers.CollectionQuery{ID: id, Kind: kind})
	})
}

func items(name, id string, kind schema.CollectionKind) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Track], error) {
		return p.CollectionTracks(ctx, providers.CollectionQuery{ID: id, Kind: kind}, cursor)
	})
}

func track(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Track, error) {
		return p.Track(ctx, id)
	})
}

func tracks(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Track], error) {
		return p.Tracks(ctx, handle, cursor)
	})
}

func search(name string, q providers.SearchQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
		return p.Search(ctx, q, cursor)
	})
}

// at makes a call with a cursor that Spotify never gave.
func at(name, cursor string, read func(ctx context.Context, p providers.Provider, cursor string) error) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Track, error) {
		return schema.Track{}, read(ctx, p, cursor)
	})
}
