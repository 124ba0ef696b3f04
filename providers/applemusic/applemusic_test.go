package applemusic_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
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
		New: func(c *http.Client) providers.Provider { return applemusic.New(applemusic.Config{HTTP: c})[0] },
		Calls: []providertest.Call{
			profile("profile", "501"),
			profile("profile-old-link", "502"),
			profile("profile-by-name", "ann example"),
			posts("posts", "501"),
			post("post", "601"),
			collections("collections", "501"),
			collection("collection", "601", schema.Album),
			songs("tracks-of-album", "601", ""),
			track("track", "611"),
			search("search-songs-region", providers.SearchQuery{Query: "شاي", Region: "SA"}),
			search("search-albums", providers.SearchQuery{Query: "tea", Kind: schema.CollectionResult}),
			search("search-artists", providers.SearchQuery{Query: "ann example", Kind: schema.ProfileResult}),
			search("search-nothing", providers.SearchQuery{Query: "nothing", Kind: schema.TrackResult}),
		},
		Fails: []providertest.Fail{
			{Call: profile("unknown artist", "404"), Want: providers.ErrNotFound},
			{Call: profile("id of an app", "505"), Want: providers.ErrNotFound},
			{Call: profile("name of nobody exactly", "ann"), Want: providers.ErrNotFound},
			{Call: profile("beyond the limit, with 403", "403"), Want: providers.ErrUnavailable},
			{Call: profile("beyond the limit, with 429", "429"), Want: providers.ErrUnavailable},
			{Call: profile("HTML", "200"), Want: providers.ErrUnavailable},
			{Call: posts("posts of an unknown artist", "404"), Want: providers.ErrNotFound},
			{Call: post("artist where an album was meant", "501"), Want: providers.ErrNotFound},
			{Call: track("unknown song", "404"), Want: providers.ErrNotFound},
			{Call: track("film where a song was meant", "613"), Want: providers.ErrNotFound},
			{Call: collection("playlist without a token", "pl.tea123", ""), Want: providers.ErrUnsupported},
			{Call: songs("songs of a playlist without a token", "pl.tea123", schema.Playlist), Want: providers.ErrUnsupported},
			{Call: collection("kind and id at odds", "601", schema.Playlist), Want: providers.ErrInvalid},
			{Call: search("unknown region", providers.SearchQuery{Query: "tea", Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.One("cursor of albums", func(ctx context.Context, p providers.Provider) (schema.Post, error) {
				_, err := p.Posts(ctx, "501", "-3")
				return schema.Post{}, err
			}), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "501", Want: "501"},
			{Subject: providers.Handle, In: "Ann  Example", Want: "ann example"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/artist/ann-example/501?uo=4", Want: "501"},
			{Subject: providers.Handle, In: "https://geo.music.apple.com/artist/id501", Want: "501"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/album/x/601"},
			{Subject: providers.Handle, In: "https://open.spotify.com/artist/501"},
			{Subject: providers.PostID, In: "https://itunes.apple.com/us/album/tea/id601", Want: "601"},
			{Subject: providers.PostID, In: "601", Want: "601"},
			{Subject: providers.PostID, In: "tea"},
			{Subject: providers.CollectionID, In: "https://music.apple.com/de/album/x/601?i=611", Want: "601"},
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
		New: catalog,
		Calls: []providertest.Call{
			profile("catalog-profile", "501"),
			profile("catalog-profile-bare", "502"),
			profile("catalog-profile-by-name", "ann example"),
			posts("catalog-posts", "501"),
			post("catalog-post", "601"),
			collections("catalog-collections", "501"),
			collection("catalog-collection", "601", ""),
			collection("catalog-playlist", "pl.tea123", schema.Playlist),
			songs("catalog-tracks-of-album", "601", schema.Album),
			songs("catalog-tracks-of-playlist", "pl.tea123", ""),
			track("catalog-track-bare", "618"),
			search("catalog-search", providers.SearchQuery{Query: "tea"}),
			providertest.List("catalog-suggestions", func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Suggestion], error) {
				return p.Suggestions(ctx, providers.SuggestionsQuery{Query: "te"}, cursor)
			}),
		},
		Fails: []providertest.Fail{
			{Call: profile("name of nobody", "nobody"), Want: providers.ErrNotFound},
			{Call: post("unknown album", "404"), Want: providers.ErrNotFound},
			{Call: track("song that is gone", "404"), Want: providers.ErrNotFound},
			{Call: post("bad token", "401"), Want: providers.ErrUnavailable},
			{Call: post("missing permission", "403"), Want: providers.ErrUnavailable},
			{Call: post("rate limit", "429"), Want: providers.ErrUnavailable},
			{Call: search("refused parameter", providers.SearchQuery{Query: "tea", Kind: schema.TrackResult, Region: "ZZ"}), Want: providers.ErrInvalid},
			{Call: providertest.One("cursor of search", func(ctx context.Context, p providers.Provider) (schema.Track, error) {
				_, err := p.Search(ctx, providers.SearchQuery{Query: "tea"}, "25:stations")
				return schema.Track{}, err
			}), Want: providers.ErrCursor},
			{Call: providertest.One("cursor of tracks", func(ctx context.Context, p providers.Provider) (schema.Track, error) {
				_, err := p.CollectionTracks(ctx, providers.CollectionQuery{ID: "601"}, "x")
				return schema.Track{}, err
			}), Want: providers.ErrCursor},
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
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (int, string) {
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
	client := &http.Client{Transport: roundTrip(func(*http.Request) (int, string) { sent++; return http.StatusOK, artistRow })}
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
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (int, string) {
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
	client := &http.Client{Transport: roundTrip(func(*http.Request) (int, string) { return http.StatusOK, `{}` })}
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

type roundTrip func(*http.Request) (status int, body string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

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

func post(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) {
		return p.Post(ctx, id)
	})
}

func collections(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Collection], error) {
		return p.Collections(ctx, providers.CollectionsQuery{Handle: handle}, cursor)
	})
}

func collection(name, id string, kind schema.CollectionKind) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Collection, error) {
		return p.Collection(ctx, providers.CollectionQuery{ID: id, Kind: kind})
	})
}

func songs(name, id string, kind schema.CollectionKind) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Track], error) {
		return p.CollectionTracks(ctx, providers.CollectionQuery{ID: id, Kind: kind}, cursor)
	})
}

func track(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Track, error) {
		return p.Track(ctx, id)
	})
}

func search(name string, q providers.SearchQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.SearchResult], error) {
		return p.Search(ctx, q, cursor)
	})
}
