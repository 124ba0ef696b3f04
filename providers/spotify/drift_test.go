package spotify_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/spotify"
	"github.com/socialdata/socialdata/schema"
)

// answering returns a provider that gets body for every request.
func answering(status int, body string) providers.Provider {
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "accounts.spotify.com" {
			return http.StatusOK, `{"access_token":"made-up-token"}`
		}
		return status, body
	})}
	return spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", HTTP: client})[0]
}

func TestAnswersAboutSomethingElseAreErrors(t *testing.T) {
	t.Parallel()
	other := answering(http.StatusOK, `{"id":"`+id("other")+`","name":"x","items":[]}`)
	_, profile := other.Profile(t.Context(), id("ann"))
	_, post := other.Post(t.Context(), id("album"))
	_, track := other.Track(t.Context(), id("track"))
	_, playlist := other.Collection(t.Context(), providers.CollectionQuery{ID: id("list"), Kind: schema.Playlist})
	_, show := other.Collection(t.Context(), providers.CollectionQuery{ID: id("show"), Kind: schema.Podcast})
	for what, err := range map[string]error{"profile": profile, "post": post, "track": track, "playlist": playlist, "show": show} {
		if !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: another one's answer ended in %v, want ErrUnavailable", what, err)
		}
	}
	linked := answering(http.StatusOK, `{"id":"`+id("other")+`","linked_from":{"id":"`+id("track")+`"},"duration_ms":"1500"}`)
	got, err := linked.Track(t.Context(), id("track"))
	if err != nil || got.ID != id("other") || got.DurationS == nil || *got.DurationS != 1.5 {
		t.Errorf("a track that the market has under another id: %+v, %v", got, err)
	}
}

func TestUnreadableArtistMayBeTheRequestedOne(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"artists":{"items":[]}}`: providers.ErrNotFound,
		`{"artists":{"items":[null,{"id":"` + id("b") + `","name":"Bob"}]}}`: providers.ErrNotFound,
		`{"artists":{"items":[{"id":"` + id("a") + `","name":7}]}}`:          providers.ErrUnavailable,
		`{"artists":{"items":[{"name":"Ann"}]}}`:                             providers.ErrUnavailable,
		`{"artists":{"items":["x"]}}`:                                        providers.ErrUnavailable,
		`{"artists":{}}`:                                                     providers.ErrUnavailable,
		`{}`:                                                                 providers.ErrUnavailable,
	} {
		if p, err := answering(http.StatusOK, body).Profile(t.Context(), "ann"); !errors.Is(err, want) {
			t.Errorf("%s: %+v with error %v, want %v", body, p, err, want)
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	q := providers.SearchQuery{Query: "tea", Kind: schema.CollectionResult}
	page, err := answering(http.StatusOK, `{"albums":{"items":[
		{"id":"`+id("a")+`","total_tracks":"many","images":"none","artists":["x"]}, 7, null, {"id":0}
	]},"playlists":{"items":[null,null]}}`).Search(t.Context(), q, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Shared().ID != id("a") || page.Items[1].Shared().ID != "" {
		t.Errorf("%+v with error %v, want album a and one that breaks the schema", page.Items, err)
	}
	for _, body := range []string{
		`{"albums":{"items":[7]}}`, `{"albums":"x"}`, `{"albums":{"items":[]},"shows":{"items":7}}`, `{}`, `{"albums":null}`,
	} {
		if page, err := answering(http.StatusOK, body).Search(t.Context(), q, ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestPlaylistLeavesOutFilesAndRemovedTracks(t *testing.T) {
	t.Parallel()
	q := providers.CollectionQuery{ID: id("list"), Kind: schema.Playlist}
	page, err := answering(http.StatusOK, `{"items":[
		{"track":null}, {"is_local":true,"track":{"id":null,"name":"x"}}, {"track":{"id":null,"is_local":true}}, null
	],"next":null}`).CollectionTracks(t.Context(), q, "")
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%+v with error %v, want an empty page", page.Items, err)
	}
	page, err = answering(http.StatusOK, `{"items":[{"song":{}},{"track":"x"}]}`).CollectionTracks(t.Context(), q, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != "" || page.Items[1].ID != "" {
		t.Errorf("%+v with error %v, want two that break the schema", page.Items, err)
	}
}

func TestEmptyPageMayHaveANextOne(t *testing.T) {
	t.Parallel()
	q := providers.CollectionQuery{ID: id("list"), Kind: schema.Playlist}
	page, err := answering(http.StatusOK, `{"items":[],"next":"https://api.spotify.com/v1/x","offset":50,"limit":50}`).
		CollectionTracks(t.Context(), q, "50")
	if err != nil || page.Next != "100" {
		t.Errorf("an empty page: next %q, %v, want 100", page.Next, err)
	}
	for _, body := range []string{`{"items":[],"next":{}}`, `{"items":[],"next":"x"}`, `{"items":[],"next":"x","offset":0}`} {
		if page, err := answering(http.StatusOK, body).CollectionTracks(t.Context(), q, ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: next %q, %v, want ErrUnavailable", body, page.Next, err)
		}
	}
}

func TestRefusedQueryIsTheCallersError(t *testing.T) {
	t.Parallel()
	refusal := answering(http.StatusBadRequest, `{"error":{"status":400,"message":"Query exceeds maximum length of 250 characters"}}`)
	if _, err := refusal.Search(t.Context(), providers.SearchQuery{Query: strings.Repeat("tea ", 90)}, ""); !errors.Is(err, providers.ErrInvalid) {
		t.Errorf("search: %v, want ErrInvalid", err)
	}
	if _, err := refusal.Post(t.Context(), id("album")); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("post: %v, want ErrUnavailable", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const long = `{"error":{"status":400,"message":"Query exceeds maximum length of 250 characters"}}`
	_, err := answering(http.StatusBadRequest, long).Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "250 characters") {
		t.Errorf("a query that is too long: %v, want ErrInvalid with Spotify's reason", err)
	}
	const gone = `{"error":{"status":410,"message":"Gone"}}`
	if _, err := answering(http.StatusGone, gone).Post(t.Context(), id("album")); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("an album that is gone: %v, want ErrNotFound", err)
	}
}

func TestMissingSongMayBeAnEpisode(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{
		http.StatusOK:         nil,
		http.StatusNotFound:   providers.ErrNotFound,
		http.StatusForbidden:  providers.ErrNotFound, // if the app may not read episodes, the answer for songs counts
		http.StatusBadGateway: providers.ErrUnavailable,
	} {
		client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			switch {
			case r.URL.Host == "accounts.spotify.com":
				return http.StatusOK, `{"access_token":"made-up-token"}`
			case strings.Contains(r.URL.Path, "/episodes/") && status != http.StatusNotFound:
				return status, `{"id":"` + id("e") + `","type":"episode","name":"Steeping","show":{"name":"Tea Time"}}`
			}
			return http.StatusNotFound, `{"error":{"status":404,"message":"Resource not found"}}`
		})}
		p := spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", HTTP: client})[0]
		got, err := p.Track(t.Context(), id("e"))
		if !errors.Is(err, want) || err == nil && (got.ID != id("e") || got.Title != "Steeping") {
			t.Errorf("episode answered %d: %+v, %v, want %v", status, got, err, want)
		}
	}
}

func TestCountsOfAShowAndOfAnAlbumHaveASecondPlace(t *testing.T) {
	t.Parallel()
	for kind, body := range map[schema.CollectionKind]string{
		schema.Album:   `"name":"Steeping","album_type":"album","tracks":{"total":12,"items":[]}`,
		schema.Podcast: `"name":"Tea Time","episodes":{"total":12,"items":[]}`,
	} {
		p := answering(http.StatusOK, `{"id":"`+id("c")+`",`+body+`}`)
		got, err := p.Collection(t.Context(), providers.CollectionQuery{ID: id("c"), Kind: kind})
		if err != nil || got.ItemsCount == nil || *got.ItemsCount != 12 {
			t.Errorf("%s: %+v, error %v; want 12 items", kind, got, err)
		}
	}
}
