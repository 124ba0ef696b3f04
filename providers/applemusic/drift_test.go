package applemusic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/applemusic"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

// both returns the two providers, with upstreams that answer every read with body.
func both(body string) providers.Chain {
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, body })}
	return applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: client})
}

func TestAnArtistIsTheOneThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		handle string
		which  int
		body   string
		want   error
	}{
		{"nothing", "501", 0, `{"resultCount":0,"results":[]}`, providers.ErrNotFound},
		{"an app", "501", 0, `{"results":[{"wrapperType":"software","trackId":501}]}`, providers.ErrNotFound},
		{"a book", "501", 0, `{"results":[{"kind":"ebook","trackId":501,"trackName":"Tea","artistId":9}]}`, providers.ErrNotFound},
		{"another artist", "501", 0, `{"results":[{"wrapperType":"artist","artistId":502}]}`, providers.ErrUnavailable},
		{"an artist without an id", "501", 0, `{"results":[{"wrapperType":"artist"}]}`, providers.ErrUnavailable},
		{"something that does not say what it is", "501", 0, `{"results":[{"artistId":501}]}`, providers.ErrUnavailable},
		{"rows that are none", "501", 0, `{"results":["x",null]}`, providers.ErrUnavailable},
		{"no list", "501", 0, `{"resultCount":1}`, providers.ErrUnavailable},
		{"a name that is another's", "ann", 0, `{"results":[{"wrapperType":"artist","artistId":502,"artistName":"Bob"}]}`, providers.ErrNotFound},
		{"a name that cannot be read", "ann", 0, `{"results":[{"wrapperType":"artist","artistId":502,"artistName":7}]}`, providers.ErrUnavailable},
		{"a name without an id", "ann", 0, `{"results":[{"wrapperType":"artist","artistName":"Ann"}]}`, providers.ErrUnavailable},
		{"nothing, catalog", "501", 1, `{"data":[]}`, providers.ErrNotFound},
		{"another artist, catalog", "501", 1, `{"data":[{"id":"502","type":"artists"}]}`, providers.ErrUnavailable},
		{"an artist without an id, catalog", "501", 1, `{"data":[{"type":"artists"}]}`, providers.ErrUnavailable},
		{"no list, catalog", "501", 1, `{"data":{}}`, providers.ErrUnavailable},
	} {
		p, err := both(tt.body)[tt.which].Profile(t.Context(), tt.handle)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v with error %v, want %v", tt.name, p, err, tt.want)
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	const song = `{"wrapperType":"track","kind":"song","trackId":"611","trackName":"Boil","trackTimeMillis":-5,"artistName":7}`
	q := providers.SearchQuery{Query: "tea", Kind: schema.TrackResult}
	p := both(`{"results":[` + song + `,"x",{"wrapperType":"track","trackId":612},
		{"wrapperType":"track","kind":"music-video","trackId":3}]}`)[0]
	page, err := p.Search(t.Context(), q, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Shared().ID != "611" || page.Items[1].Shared().ID != "" {
		t.Fatalf("%+v with error %v, want song 611 and one that cannot be read", page.Items, err)
	}
	if track := page.Items[0].Object.(*schema.Track); track.DurationS != nil || len(track.Artists) > 0 {
		t.Errorf("got %+v, want neither a negative length nor an artist who is a number", track)
	}
	if page, err := both(`{"results":["x"]}`)[0].Search(t.Context(), q, ""); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("no row that can be read: %v with error %v, want ErrUnavailable", page.Items, err)
	}
}

func TestAnAlbumIsReadWithoutTheRowOfTheAlbumItself(t *testing.T) {
	t.Parallel()
	const song = `{"wrapperType":"track","kind":"song","collectionId":601,"trackId":611}`
	page, err := both(`{"results":[null,` + song + `]}`)[0].CollectionTracks(t.Context(), providers.CollectionQuery{ID: "601"}, "")
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%+v with error %v, want one track", page.Items, err)
	}
	page, err = both(`{"results":[null,` + song + `]}`)[0].CollectionTracks(t.Context(), providers.CollectionQuery{ID: "602"}, "")
	if !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("another album: %+v with error %v, want ErrUnavailable", page.Items, err)
	}
}

func TestAListThatLeadsOnIsNotEnded(t *testing.T) {
	t.Parallel()
	q := providers.CollectionQuery{ID: "601"}
	page, err := both(`{"data":[],"next":"/v1/catalog/us/albums/601/tracks?offset=100"}`)[1].CollectionTracks(t.Context(), q, "")
	if err != nil || page.Next != "100" {
		t.Errorf("an empty page that leads on: next %q, %v, want 100", page.Next, err)
	}
	for _, next := range []string{`{}`, `"/v1/catalog/us/albums/601/tracks"`, `"?offset=-1"`} {
		if page, err := both(`{"data":[],"next":` + next + `}`)[1].CollectionTracks(t.Context(), q, ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: next %q, %v, want ErrUnavailable", next, page.Next, err)
		}
	}
}

func TestASearchOfTheCatalogFindsListsOrNothing(t *testing.T) {
	t.Parallel()
	q := providers.SearchQuery{Query: "tea"}
	if page, err := both(`{"results":{}}`)[1].Search(t.Context(), q, ""); err != nil || len(page.Items) != 0 {
		t.Errorf("nothing: %v, %v", page.Items, err)
	}
	page, err := both(`{"results":{"albums":{"data":[7]},"songs":{"data":[{"id":"611","type":"songs"}]}}}`)[1].Search(t.Context(), q, "")
	if err != nil || len(page.Items) != 1 {
		t.Errorf("albums that cannot be read beside a song: %v, %v, want the song", page.Items, err)
	}
	for _, body := range []string{
		`{}`, `{"results":[]}`, `{"results":{"albums":"x"}}`, `{"results":{"albums":{}}}`, `{"results":{"albums":{"data":[7]}}}`,
	} {
		if page, err := both(body)[1].Search(t.Context(), q, ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestARefusalIsTheCallersOnlyWhereTheirWordsWereSent(t *testing.T) {
	t.Parallel()
	chain := applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: &http.Client{
		Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusBadRequest, `{"errors":[{"source":{"parameter":"term"}}]}`
		}),
	}})
	for _, p := range chain {
		if _, err := p.Search(t.Context(), providers.SearchQuery{Query: strings.Repeat("tea ", 200)}, ""); !errors.Is(err, providers.ErrInvalid) {
			t.Errorf("%s: search: %v, want ErrInvalid", p.Name, err)
		}
		if _, err := p.Profile(t.Context(), "501"); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: profile: %v, want ErrUnavailable", p.Name, err)
		}
	}
}

func TestABatchOfArtistsHasTheirPictures(t *testing.T) {
	t.Parallel()
	p := applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch {
		case r.URL.Path == "/lookup":
			return http.StatusOK, `{"results":[{"wrapperType":"artist","artistId":502,"artistName":"Bo"},{"wrapperType":"artist","artistId":501,"artistName":"Ann"}]}`
		case strings.HasSuffix(r.URL.Path, "/artists/501"):
			return http.StatusOK, `{"data":[{"id":"501","type":"artists","attributes":{"name":"Ann","artwork":{"url":"https://a.example/{w}x{h}.jpg","width":10,"height":10}}}]}`
		}
		return http.StatusNotFound, `{}`
	})}})[0]
	handles := []string{"501", "502", "503", "bo"}
	together, err := p.Batches.Profile.Read(t.Context(), handles)
	single, whole := providers.Apart(err)
	if whole != nil || len(together) != 2 || !errors.Is(single["503"], providers.ErrNotFound) || errors.Is(single["bo"], providers.ErrNotFound) {
		t.Fatalf("found %v, got error %v", together, err)
	}
	if together["501"].AvatarURL == nil || together["502"].AvatarURL != nil {
		t.Errorf("pictures %v and %v, want one of 501 alone", together["501"].AvatarURL, together["502"].AvatarURL)
	}
	for handle, got := range together {
		want, err := p.Profile(t.Context(), handle)
		if diff := cmp.Diff(want.AvatarURL, got.AvatarURL); err != nil || diff != "" {
			t.Errorf("%s: %v (-alone +together):\n%s", handle, err, diff)
		}
	}
}
