package soundcloud_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/soundcloud"
	"github.com/socialdata/socialdata/schema"
)

func official(c *http.Client) providers.Provider {
	return soundcloud.New(soundcloud.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})[0]
}

func own(c *http.Client) providers.Provider {
	return soundcloud.New(soundcloud.Config{OwnClientID: "own-id", HTTP: c})[1]
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{official(c)} },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann-example"),
			providertest.Profile("profile-by-urn", "soundcloud:users:501"),
			providertest.Profile("profile-bare", "bob"),
			providertest.Posts("posts", "ann-example"),
			providertest.Posts("posts-array", "bob"),
			providertest.Post("post", "601"),
			providertest.Post("post-by-page", "ann-example/boil"),
			providertest.Track("track", "601"),
			providertest.Track("track-quiet", "602"),
			providertest.Track("track-bare", "603"),
			providertest.Tracks("tracks", "bob"),
			providertest.Comments("comments", "601"),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "ann-example"}),
			providertest.Collection("collection", providers.CollectionQuery{ID: "ann-example/sets/tea"}),
			providertest.Collection("collection-by-number", providers.CollectionQuery{ID: "801"}),
			providertest.CollectionTracks("tracks-of-collection", providers.CollectionQuery{ID: "ann-example/sets/tea"}),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-posts", providers.SearchQuery{Query: "tea", Kind: schema.PostResult}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Search("search-collections", providers.SearchQuery{Query: "tea", Kind: schema.CollectionResult}),
			providertest.Linked("linked", "ann-example"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown track, with the older body", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("track that apps may not see", "403"), Want: providers.ErrNotFound},
			{Call: providertest.Post("malformed number", "400"), Want: providers.ErrNotFound},
			{Call: providertest.Post("page that shows an account", "ann-example/odd"), Want: providers.ErrNotFound},
			{Call: providertest.Post("refused token", "401"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("rate limit", "429"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("gateway timeout", "504"), Want: providers.ErrTimeout},
			{Call: providertest.Comments("comments of a quiet track", "602"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments that are closed", "603"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("cursor that is too deep", "601").From("offset=99999"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor with a parameter of ours", "601").From("limit=1"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor with a credential", "601").From("client_id=x"), Want: providers.ErrCursor},
			{Call: providertest.Comments("cursor that is no query", "601").From("%zz"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// The last page has no next one, and older tracks have none of these flags.
			Absent: []string{
				"next_href", "reveal_stats", "reveal_comments", "commentable",
				"collection[].reveal_stats", "collection[].reveal_comments", "collection[].commentable",
			},
			// Two counts of the same thing: the larger is used.
			Sums: []string{
				"likes_count", "favoritings_count", "[].likes_count", "[].favoritings_count",
				"collection[].likes_count", "collection[].favoritings_count",
			},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann-Example", Want: "ann-example"},
			{Subject: providers.Handle, In: "https://m.soundcloud.com/Ann-Example/tracks?x=1", Want: "ann-example"},
			{Subject: providers.Handle, In: "soundcloud:users:501", Want: "soundcloud:users:501"},
			{Subject: providers.Handle, In: "https://on.soundcloud.com/aB3", Want: "https://on.soundcloud.com/aB3"},
			{Subject: providers.Handle, In: "https://soundcloud.com/discover"},
			{Subject: providers.Handle, In: "https://open.spotify.com/ann"},
			{Subject: providers.Handle, In: "ann example"},
			{Subject: providers.PostID, In: "601", Want: "601"},
			{Subject: providers.PostID, In: "soundcloud:tracks:601", Want: "601"},
			{Subject: providers.PostID, In: "https://soundcloud.com/Ann-Example/Boil?in=ann-example/sets/tea", Want: "ann-example/boil"},
			{Subject: providers.PostID, In: "https://soundcloud.com/ann-example/boil/s-secret", Want: "ann-example/boil"},
			{Subject: providers.PostID, In: "https://on.soundcloud.com/aB3", Want: "https://on.soundcloud.com/aB3"},
			{Subject: providers.PostID, In: "https://on.soundcloud.com/"},
			{Subject: providers.PostID, In: "https://soundcloud.com/ann-example/sets/tea"},
			{Subject: providers.PostID, In: "soundcloud:users:501"},
			{Subject: providers.PostID, In: "https://api.soundcloud.com/tracks/603", Want: "603"},
			{Subject: providers.PostID, In: "https://api.soundcloud.com/tracks/soundcloud:tracks:603", Want: "603"},
			{Subject: providers.PostID, In: "https://api.soundcloud.com/users/603"},
			{Subject: providers.CollectionID, In: "https://api.soundcloud.com/playlists/802", Want: "802"},
			{Subject: providers.Handle, In: "https://api.soundcloud.com/users/5", Want: "soundcloud:users:5"},
			{Subject: providers.PostID, In: "../me"},
			{Subject: providers.CollectionID, In: "https://soundcloud.com/ann-example/sets/tea", Want: "ann-example/sets/tea"},
			{Subject: providers.CollectionID, In: "soundcloud:playlists:801", Want: "801"},
			{Subject: providers.CollectionID, In: "https://soundcloud.com/ann-example/boil"},
			{Subject: providers.TrackID, In: "soundcloud.com/ann-example/boil", Want: "ann-example/boil"},
			{Subject: providers.TrackID, In: "boil"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{own(c)} }, Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("own-profile", "ann-example"),
			providertest.Posts("own-posts", "ann-example"),
			providertest.Post("own-post", "601"),
			providertest.Track("own-track", "ann-example/boil"),
			providertest.Tracks("own-tracks", "soundcloud:users:501"),
			providertest.Comments("own-comments", "601"),
			providertest.Collections("own-collections", providers.CollectionsQuery{Handle: "ann-example"}),
			providertest.Collection("own-collection", providers.CollectionQuery{ID: "801"}),
			providertest.Search("own-search", providers.SearchQuery{Query: "tea"}),
			providertest.Search("own-search-posts", providers.SearchQuery{Query: "tea", Kind: schema.PostResult}),
			providertest.Search("own-search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Suggestions("own-suggestions", providers.SuggestionsQuery{Query: "te"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown track", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("refused client id", "401"), Want: providers.ErrUnavailable},
		},
		Drift:  &providertest.Drift{Absent: []string{"next_href"}}, // the last page
		Inputs: []providertest.Input{{Subject: providers.PostID, In: "601", Want: "601"}},
	})
}

func TestWithoutCredentialsOnlyTheWebsiteServes(t *testing.T) {
	t.Parallel()
	ps := soundcloud.New(soundcloud.Config{})
	if ps[0].Serves(providers.OpProfile) || !ps[1].Serves(providers.OpProfile) {
		t.Error("the first provider needs credentials, the second does not")
	}
	if diff := cmp.Diff([]string{"client_id", "client_secret"}, ps[0].Missing[providers.OpLinked]); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
	providertest.Off(t, soundcloud.New(soundcloud.Config{Own: providers.OwnOff})[1])
}

func TestTokenIsRenewedWithItsRefreshToken(t *testing.T) {
	t.Parallel()
	var grants []string
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Host == "secure.soundcloud.com" {
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			grants = append(grants, r.PostForm.Get("grant_type")+" "+r.PostForm.Get("refresh_token"))
			if len(grants) == 3 { // the second refresh token is refused
				return http.StatusBadRequest, `{}`
			}
			return http.StatusOK, `{"access_token":"access","refresh_token":"refresh` + string(rune('0'+len(grants))) + `"}`
		}
		if r.Header.Get("Authorization") != "OAuth access" {
			t.Errorf("asked with %q", r.Header.Get("Authorization"))
		}
		return http.StatusUnauthorized, ""
	})}
	p := official(client)
	for range 2 {
		if _, err := p.Track(t.Context(), "601"); !errors.Is(err, providers.ErrUnavailable) {
			t.Fatalf("got error %v", err)
		}
	}
	want := []string{"client_credentials ", "refresh_token refresh1", "refresh_token refresh2", "client_credentials "}
	if diff := cmp.Diff(want, grants[:4]); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

func TestAtMostFiveEmptyPagesAreSkipped(t *testing.T) {
	t.Parallel()
	calls := 0
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.URL.Path == "/users/501" {
			return http.StatusOK, `{"kind":"user","id":501,"permalink":"ann"}`
		}
		calls++
		return http.StatusOK, `{"collection":[],"next_href":"https://api-v2.soundcloud.com/users/501/tracks?offset=` + string(rune('0'+calls)) + `"}`
	})}
	page, err := own(client).Posts(t.Context(), "soundcloud:users:501", "")
	if err != nil || len(page.Items) != 0 || page.Next != "offset=5" || calls != 5 {
		t.Errorf("%d reads gave %+v (%v), want 5 and the place of the sixth", calls, page, err)
	}
}

func TestClientIDIsReadAgainWhenRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, page string }{
		{"in the page", `<script>window.__sc_hydration = [{"hydratable":"apiClient","data":{"id":"ID","isExpiring":false}}];</script>`},
		{"in a script", `<script crossorigin src="https://a-v2.sndcdn.com/assets/0-a.js"></script>
			<script crossorigin src="https://a-v2.sndcdn.com/assets/1-b.js"></script>
			<script src="https://evil.example/assets/2.js"></script>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pages, used := 0, []string{}
			client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				id := "clientid0000000" + string(rune('0'+pages))
				switch r.URL.Host + r.URL.Path {
				case "soundcloud.com", "soundcloud.com/":
					pages++
					return http.StatusOK, strings.ReplaceAll(tt.page, "ID", "clientid0000000"+string(rune('0'+pages)))
				case "a-v2.sndcdn.com/assets/1-b.js":
					return http.StatusOK, `nothing here`
				case "a-v2.sndcdn.com/assets/0-a.js":
					return http.StatusOK, `x={client_id:"` + id + `",env:"production"}`
				case "api-v2.soundcloud.com/tracks/601":
					used = append(used, r.URL.Query().Get("client_id"))
					if len(used) == 1 {
						return http.StatusUnauthorized, ""
					}
					return http.StatusOK, `{"kind":"track","id":601,"title":"Boil"}`
				}
				t.Errorf("asked for %s", r.URL)
				return http.StatusNotFound, ""
			})}
			p := soundcloud.New(soundcloud.Config{HTTP: client})[1]
			for range 2 {
				if _, err := p.Track(t.Context(), "601"); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"clientid00000001", "clientid00000002", "clientid00000002"}
			if diff := cmp.Diff(want, used); diff != "" {
				t.Errorf("client ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitResetIsReadFromTheBody(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusOK, `{"access_token":"access"}`
		}
		return http.StatusTooManyRequests, `{"errors":[{"meta":{"remaining_requests":0,"reset_time":"2999/06/01 09:49:40 +0000"}}]}`
	})}
	_, err := official(client).Track(t.Context(), "601")
	var e *providers.Error
	if !errors.As(err, &e) || !errors.Is(err, providers.ErrUnavailable) || e.RetryAfter != time.Hour {
		t.Errorf("got error %v, want a limit that ends in 2999, and a pause of an hour until it is asked again", err)
	}
}

func TestWalkContinuesAfterEmptyPages(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusOK, `{"access_token":"access"}`
		}
		if !strings.HasSuffix(r.URL.Path, "/comments") {
			return http.StatusOK, `{"kind":"track","id":601}`
		}
		at := r.URL.Query().Get("cursor")
		if len(at) < 7 {
			return http.StatusOK, `{"collection":[],"next_href":"https://api.soundcloud.com` + r.URL.Path + `?cursor=` + at + `x"}`
		}
		return http.StatusOK, `{"collection":[{"id":9,"kind":"comment","body":"late","user":{"id":1,"permalink":"ann","username":"Ann"}}],"next_href":null}`
	})}
	first, err := official(client).Comments(t.Context(), "601", "")
	if err != nil || len(first.Items) != 0 || first.Next == "" {
		t.Fatalf("%d comments, next %q, %v: want none yet, and more to come", len(first.Items), first.Next, err)
	}
	second, err := official(client).Comments(t.Context(), "601", first.Next)
	if err != nil || len(second.Items) != 1 || second.Next != "" {
		t.Errorf("%d comments, next %q, %v: want the last one", len(second.Items), second.Next, err)
	}
}
