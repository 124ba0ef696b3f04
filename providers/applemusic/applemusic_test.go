package applemusic_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/applemusic"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestSearchInterface(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return applemusic.New(applemusic.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "501"),
			providertest.Profile("profile-old-link", "502"),
			providertest.Profile("profile-by-name", "ann example"),
			providertest.Posts("posts", "501"),
			providertest.Post("post", "601"),
			providertest.Post("post-second", "602"),
			providertest.Collections("collections", providers.CollectionsQuery{Handle: "501"}),
			providertest.Collection("collection", providers.CollectionQuery{ID: "601", Kind: schema.Album}),
			providertest.Collection("collection-second", providers.CollectionQuery{ID: "602", Kind: schema.Album}),
			providertest.CollectionTracks("tracks-of-album", providers.CollectionQuery{ID: "601"}),
			providertest.Track("track", "611"),
			providertest.Track("track-second", "612"),
			providertest.Search("search-songs-region", providers.SearchQuery{Query: "شاي", Region: "SA"}),
			providertest.Search("search-albums", providers.SearchQuery{Query: "tea", Kind: schema.CollectionResult}),
			providertest.Search("search-artists", providers.SearchQuery{Query: "ann example", Kind: schema.ProfileResult}),
			providertest.Search("search-nothing", providers.SearchQuery{Query: "nothing", Kind: schema.TrackResult}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown artist", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("id of an app", "505"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("name that no artist has exactly", "ann"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("beyond the limit, with 403", "403"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("beyond the limit, with 429", "429"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("HTML", "200"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of an unknown artist", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("artist where an album was meant", "501"), Want: providers.ErrNotFound},
			{Call: providertest.Track("unknown song", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Track("film where a song was meant", "613"), Want: providers.ErrNotFound},
			{Call: providertest.Collection("playlist without a token", providers.CollectionQuery{ID: "pl.tea123"}), Want: providers.ErrUnsupported},
			{Call: providertest.CollectionTracks("songs of a playlist without a token", providers.CollectionQuery{ID: "pl.tea123", Kind: schema.Playlist}), Want: providers.ErrUnsupported},
			{Call: providertest.Collection("kind and id at odds", providers.CollectionQuery{ID: "601", Kind: schema.Playlist}), Want: providers.ErrInvalid},
			{Call: providertest.Search("unknown region", providers.SearchQuery{Query: "tea", Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.Posts("cursor of albums", "501").From("-3"), Want: providers.ErrCursor},
		},
		Lone: map[providers.Op][]string{providers.OpProfile: {"ann example", "ann"}}, // names
		Drift: &providertest.Drift{
			// Lists by date contain a row without a date elsewhere.
			Sums: []string{"results[].releaseDate"},
			// An artist with another name does not match.
			Elsewhere: []string{"profile-by-name"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "501", Want: "501"},
			{Subject: providers.Handle, In: "Ann  Example", Want: "ann example"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/artist/ann-example/501?uo=4", Want: "501"},
			{Subject: providers.Handle, In: "https://geo.music.apple.com/artist/id501", Want: "501"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/artist/ann-example/501/see-all?section=full-albums", Want: "501"},
			{Subject: providers.PostID, In: "https://embed.music.apple.com/us/album/1989/601", Want: "601"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/album/x/601"},
			{Subject: providers.Handle, In: "https://open.spotify.com/artist/501"},
			{Subject: providers.PostID, In: "https://itunes.apple.com/us/album/tea/id601", Want: "601"},
			{Subject: providers.PostID, In: "601", Want: "601"},
			{Subject: providers.PostID, In: "tea"},
			{Subject: providers.CollectionID, In: "https://music.apple.com/de/album/x/601?i=611", Want: "de:601"},
			{Subject: providers.CollectionID, In: "https://music.apple.com/us/playlist/tea-time/pl.tea123", Want: "pl.tea123"},
			{Subject: providers.CollectionID, In: "pl.u-Ab12", Want: "pl.u-Ab12"},
			{Subject: providers.CollectionID, In: "https://music.apple.com/us/artist/x/501"},
			{Subject: providers.CollectionID, In: "pl./../x"},
			{Subject: providers.TrackID, In: "https://music.apple.com/us/album/x/601?i=611&uo=4", Want: "611"},
			{Subject: providers.TrackID, In: "https://music.apple.com/us/song/boil/611", Want: "611"},
			{Subject: providers.TrackID, In: "https://music.apple.com/us/album/x/601"},
			{Subject: providers.TrackID, In: "boil"},
		},
	})
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return providers.Chain{catalog(c)} },
		Calls: []providertest.Call{
			providertest.Profile("catalog-profile", "501"),
			providertest.Profile("catalog-profile-bare", "502"),
			providertest.Profile("catalog-profile-by-name", "ann example"),
			providertest.Posts("catalog-posts", "501"),
			providertest.Post("catalog-post", "601"),
			providertest.Collections("catalog-collections", providers.CollectionsQuery{Handle: "501"}),
			providertest.Collection("catalog-collection", providers.CollectionQuery{ID: "601"}),
			providertest.Collection("catalog-playlist", providers.CollectionQuery{ID: "pl.tea123", Kind: schema.Playlist}),
			providertest.CollectionTracks("catalog-tracks-of-album", providers.CollectionQuery{ID: "601", Kind: schema.Album}),
			providertest.CollectionTracks("catalog-tracks-of-playlist", providers.CollectionQuery{ID: "pl.tea123"}),
			providertest.Track("catalog-track-bare", "618"),
			providertest.Search("catalog-search", providers.SearchQuery{Query: "tea"}),
			providertest.Suggestions("catalog-suggestions", providers.SuggestionsQuery{Query: "te"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("name that no artist has", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown album", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Track("song that is gone", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("bad token", "401"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("missing permission", "403"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("rate limit", "429"), Want: providers.ErrUnavailable},
			{Call: providertest.Search("refused parameter", providers.SearchQuery{Query: "tea", Kind: schema.TrackResult, Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.Search("cursor of search", providers.SearchQuery{Query: "tea"}).From("25:stations"), Want: providers.ErrCursor},
			{Call: providertest.CollectionTracks("cursor of tracks", providers.CollectionQuery{ID: "601"}).From("x"), Want: providers.ErrCursor},
		},
		Drift: &providertest.Drift{
			// The last page has no next one, and types without results have no list.
			Absent: []string{
				"next", "results.artists", "results.albums", "results.songs", "results.playlists",
				"results.artists.next", "results.albums.next", "results.songs.next", "results.playlists.next",
			},
			// Lists by date contain a row without a date elsewhere.
			Sums: []string{"data[].attributes.releaseDate"},
			// An artist with another name does not match.
			Elsewhere: []string{"catalog-profile-by-name"},
		},
		Inputs: []providertest.Input{{Subject: providers.TrackID, In: "618", Want: "618"}},
	})
}

func catalog(c *http.Client) providers.Provider {
	return applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: c})[1]
}

func TestWithoutATokenOnlyTheSearchInterfaceServes(t *testing.T) {
	t.Parallel()
	ps := applemusic.New(applemusic.Config{TeamID: "team", KeyID: "key"})
	if !ps[0].Serves(providers.OpProfile) || ps[1].Serves(providers.OpProfile) {
		t.Error("the first provider needs no token, the second does")
	}
	if diff := cmp.Diff([]string{"developer_token"}, ps[1].Missing[providers.OpSuggestions]); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

const artistRow = `{"results":[{"wrapperType":"artist","artistId":501,"artistName":"Ann"}]}`

func TestWithATokenAProfileHasItsPictureAndBiographyWhereTheyCanBeHad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, catalog string
		bio           *string
	}{
		{"both answer", `{"data":[{"id":"501","attributes":{"artistBio":"Sings."}}]}`, new("Sings.")},
		{"the second does not know the artist", `{"data":[]}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if r.URL.Host == "itunes.apple.com" {
					return http.StatusOK, artistRow
				}
				return http.StatusOK, tt.catalog
			})}
			p, err := applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: client})[0].Profile(t.Context(), "501")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.bio, p.Bio); diff != "" {
				t.Errorf("bio (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharedQuotaCountsTheReadsOfAll(t *testing.T) {
	t.Parallel()
	sent := 0
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { sent++; return http.StatusOK, artistRow })}
	quota := applemusic.NewQuota()
	a := applemusic.New(applemusic.Config{HTTP: client, Quota: quota})[0]
	b := applemusic.New(applemusic.Config{HTTP: client, Quota: quota})[0]
	var err error
	for range 11 {
		_, err1 := a.Profile(t.Context(), "501")
		_, err2 := b.Profile(t.Context(), "501")
		err = errors.Join(err1, err2)
	}
	if sent != 20 || !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("%d reads went out (%v), want 20", sent, err)
	}
}

func TestSignedTokenIsAnES256WebToken(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var token string
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		return http.StatusOK, `{"data":[{"id":"618","attributes":{"name":"x"}}]}`
	})}
	p := applemusic.New(applemusic.Config{
		TeamID: "TEAM", KeyID: "KEY", HTTP: client,
		PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})[1]
	if _, err := p.Track(t.Context(), "618"); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q has %d parts", token, len(parts))
	}
	if head := decode(t, parts[0]); string(head) != `{"alg":"ES256","kid":"KEY"}` {
		t.Errorf("header %s", head)
	}
	var claims struct {
		Iss      string
		Iat, Exp int64
	}
	if err := json.Unmarshal(decode(t, parts[1]), &claims); err != nil || claims.Iss != "TEAM" || claims.Exp <= claims.Iat || claims.Exp-claims.Iat > 15777000 {
		t.Errorf("claims %+v (%v)", claims, err)
	}
	signature := decode(t, parts[2])
	if len(signature) != 64 {
		t.Fatalf("the signature has %d bytes, want 64", len(signature))
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&key.PublicKey, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature does not match")
	}
}

func TestUnusableKeyIsUnavailableAndStaysSecret(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, `{}` })}
	p := applemusic.New(applemusic.Config{TeamID: "TEAM", KeyID: "KEY", PrivateKey: "s3cr3t", HTTP: client})[1]
	_, err := p.Track(t.Context(), "618")
	if !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got error %v, want unavailable without the key", err)
	}
}

func decode(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
