package socialdata_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/applemusic"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/kick"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/salla"
	"github.com/socialdata/socialdata/providers/scrapecreators"
	"github.com/socialdata/socialdata/providers/soundcloud"
	"github.com/socialdata/socialdata/providers/spotify"
	"github.com/socialdata/socialdata/providers/twitch"
	"github.com/socialdata/socialdata/providers/youtube"
	"github.com/socialdata/socialdata/watch"
)

// site answers from bodies, by path; "@name" is a file of a provider's test data. Its POST requests return a token.
// Paths that fails reports are answered with an error.
func site(t *testing.T, bodies map[string]string, fails func(path string) bool) *http.Client {
	t.Helper()
	return &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		body, ok := bodies[r.URL.Path]
		switch {
		case r.Method == http.MethodPost:
			return http.StatusOK, `{"access_token":"t","expires_in":5000000}`
		case !ok || fails(r.URL.Path):
			return http.StatusInternalServerError, `{}`
		}
		if name, ok := strings.CutPrefix(body, "@"); ok {
			file, err := os.ReadFile("providers/" + name)
			if err != nil {
				t.Error(err)
			}
			body = string(file)
		}
		return http.StatusOK, body
	})}
}

const (
	twitchUser   = `{"data":[{"id":"1","login":"ann","display_name":"Ann","profile_image_url":"https://cdn.example/a.jpg"}]}`
	twitchStream = `{"data":[{"id":"7","user_id":"1","user_login":"ann","user_name":"Ann","type":"live","title":"Tea"}]}`
	kickChannel  = `{"data":[{"broadcaster_user_id":1,"slug":"ann","stream":{"is_live":true}}]}`
	kickUser     = `{"data":[{"user_id":1,"name":"Ann","profile_picture":"https://cdn.example/a.jpg"}]}`
	kickOwn      = `{"id":3,"user_id":1,"slug":"ann","user":{"username":"Ann","profile_pic":"https://cdn.example/a.jpg"}}`
	kickClip     = `{"id":"clip_01","privacy":"public","channel":{"slug":"ann"}}`
)

func TestFieldsOfAFailedSecondaryRequestAreNamed(t *testing.T) {
	t.Parallel()
	twitchOf := func(c *http.Client) providers.Chain {
		return twitch.New(twitch.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
	}
	kickOf := func(c *http.Client) providers.Chain {
		return kick.New(kick.Config{ClientID: "id", ClientSecret: "secret", Own: providers.OwnOn, HTTP: c})
	}
	tiktokOf := func(c *http.Client) providers.Chain {
		all := scrapecreators.New(scrapecreators.Config{APIKey: "key", MaxCredits: 10, HTTP: c})
		return slices.DeleteFunc(all, func(p providers.Provider) bool { return p.Platform != platform.TikTok })
	}
	profileOf := func(handle string) func(context.Context, providers.Chain) (any, error) {
		return func(ctx context.Context, c providers.Chain) (any, error) { return c[0].Profile(ctx, handle) }
	}
	twitchSite := map[string]string{
		"/helix/users": twitchUser, "/helix/streams": twitchStream,
		"/helix/channels":           `{"data":[{"broadcaster_id":"1","broadcaster_language":"en"}]}`,
		"/helix/channels/followers": `{"total":5}`,
		"/helix/clips":              `{"data":[{"id":"Tea","broadcaster_id":"1","broadcaster_name":"ANN"}]}`,
	}
	kickSite := map[string]string{
		"/public/v1/channels": kickChannel, "/public/v1/users": kickUser,
		"/api/v2/clips/clip_01/play": `{"clip":` + kickClip + `}`, "/api/v2/channels/ann": kickOwn,
	}
	tests := []struct {
		name   string
		fails  string // the path of the secondary request
		bodies map[string]string
		chain  func(*http.Client) providers.Chain
		read   func(context.Context, providers.Chain) (any, error)
	}{
		{"twitch live", "/helix/users", twitchSite, twitchOf, func(ctx context.Context, c providers.Chain) (any, error) {
			return c[0].Live(ctx, "ann")
		}},
		{"twitch live of several", "/helix/users", twitchSite, twitchOf, func(ctx context.Context, c providers.Chain) (any, error) {
			all, err := c[0].Batches.Live.Read(ctx, []string{"ann"})
			return all["ann"], err
		}},
		{"twitch followers", "/helix/channels/followers", twitchSite, twitchOf, profileOf("ann")},
		{"twitch language", "/helix/channels", twitchSite, twitchOf, profileOf("ann")},
		{"twitch profiles", "/helix/channels", twitchSite, twitchOf, func(ctx context.Context, c providers.Chain) (any, error) {
			all, err := c[0].Batches.Profile.Read(ctx, []string{"ann"})
			return all["ann"], err
		}},
		{"twitch clip", "/helix/users", twitchSite, twitchOf, func(ctx context.Context, c providers.Chain) (any, error) {
			return c[0].Post(ctx, "Tea")
		}},
		{"twitch clips", "/helix/users", twitchSite, twitchOf, func(ctx context.Context, c providers.Chain) (any, error) {
			all, err := c[0].Batches.Post.Read(ctx, []string{"Tea"})
			return all["Tea"], err
		}},
		{"kick profile", "/public/v1/users", kickSite, kickOf, profileOf("ann")},
		{"kick live", "/public/v1/users", kickSite, kickOf, func(ctx context.Context, c providers.Chain) (any, error) {
			return c[0].Live(ctx, "ann")
		}},
		{"kick clip", "/api/v2/channels/ann", kickSite, kickOf, func(ctx context.Context, c providers.Chain) (any, error) {
			return c[1].Post(ctx, "clip_01")
		}},
		{
			"apple music profile", "/v1/catalog/us/artists/501",
			map[string]string{
				"/lookup":                    "@applemusic/testdata/artist.json",
				"/v1/catalog/us/artists/501": "@applemusic/testdata/cat-artist.json",
			},
			func(c *http.Client) providers.Chain {
				return applemusic.New(applemusic.Config{DeveloperToken: "made-up", HTTP: c})
			},
			profileOf("501"),
		},
		{
			"spotify episodes", "/v1/shows/show100000000000000000",
			map[string]string{
				"/v1/shows/show100000000000000000":          "@spotify/testdata/show.json",
				"/v1/shows/show100000000000000000/episodes": "@spotify/testdata/episodes.json",
			},
			func(c *http.Client) providers.Chain {
				return spotify.New(spotify.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
			},
			func(ctx context.Context, c providers.Chain) (any, error) {
				page, err := c[0].CollectionTracks(ctx, providers.CollectionQuery{ID: "show/show100000000000000000"}, "")
				return page.Items, err
			},
		},
		{
			"soundcloud profile", "/users/soundcloud:users:501/web-profiles",
			map[string]string{
				"/resolve": "@soundcloud/testdata/user.json",
				"/users/soundcloud:users:501/web-profiles": "@soundcloud/testdata/web-profiles.json",
			},
			func(c *http.Client) providers.Chain {
				return soundcloud.New(soundcloud.Config{ClientID: "id", ClientSecret: "secret", HTTP: c})
			},
			profileOf("ann-example"),
		},
		{
			"github organisation", "/orgs/Example-Org",
			map[string]string{
				"/users/example-org": "@github/testdata/user-org.json", "/orgs/Example-Org": "@github/testdata/org.json",
			},
			func(c *http.Client) providers.Chain { return github.New(github.Config{HTTP: c}) },
			profileOf("example-org"),
		},
		{
			"tiktok country", "/v1/tiktok/profile/region",
			map[string]string{
				"/v1/tiktok/profile":        "@scrapecreators/testdata/tiktok/profile.json",
				"/v1/tiktok/profile/region": "@scrapecreators/testdata/tiktok/region.json",
			},
			tiktokOf, profileOf("cafe.riyadh"),
		},
		{
			"tiktok likes", "/v1/tiktok/live",
			map[string]string{
				"/v1/tiktok/user/live": "@scrapecreators/testdata/tiktok/live.json",
				"/v1/tiktok/live":      "@scrapecreators/testdata/tiktok/room.json",
			},
			tiktokOf,
			func(ctx context.Context, c providers.Chain) (any, error) { return c[0].Live(ctx, "cafe.riyadh") },
		},
		{
			"youtube replies", "/youtube/v3/commentThreads",
			map[string]string{
				"/youtube/v3/comments":       "@youtube/testdata/replies-1.json",
				"/youtube/v3/commentThreads": "@youtube/testdata/thread.json",
			},
			func(c *http.Client) providers.Chain { return youtube.New(youtube.Config{APIKey: "key", HTTP: c}) },
			func(ctx context.Context, c providers.Chain) (any, error) {
				page, err := c[0].Replies(ctx, providers.RepliesQuery{CommentID: "UgxThread1-AaABAg"}, "")
				return page.Items, err
			},
		},
		{
			"salla product", "/admin/v2/store/info",
			map[string]string{
				"/admin/v2/store/info": "@salla/testdata/store.json", "/admin/v2/products/501": "@salla/testdata/product.json",
			},
			func(c *http.Client) providers.Chain {
				return salla.New(salla.Config{Token: "token", StoreID: "77", StoreURL: "https://other.example", HTTP: c})
			},
			func(ctx context.Context, c providers.Chain) (any, error) {
				return c[0].Product(ctx, providers.ProductQuery{ID: "501"})
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var unknown []string
			read := func(fails string) map[string]string {
				ctx := callctx.WithTrace(t.Context(), callctx.Trace{Unknown: func(fields ...string) {
					mu.Lock()
					defer mu.Unlock()
					unknown = append(unknown, fields...)
				}})
				got, err := tt.read(ctx, tt.chain(site(t, tt.bodies, func(path string) bool { return path == fails })))
				if err != nil {
					t.Fatal(err)
				}
				return leaves(t, got)
			}
			whole := read("")
			if unknown != nil {
				t.Fatalf("unknown without a failure: %v", unknown)
			}
			part := read(tt.fails)
			missed := 0
			for name := range maps.Keys(whole) {
				if whole[name] == part[name] || strings.HasSuffix(name, "id") && !strings.HasSuffix(name, "_id") {
					continue
				}
				missed++
				if !slices.ContainsFunc(unknown, func(u string) bool { return u == name || strings.HasPrefix(name, u+".") }) {
					t.Errorf("%s is %s instead of %s, and not among the unknown fields %v", name, part[name], whole[name], unknown)
				}
			}
			if missed == 0 {
				t.Error("nothing is missing when the secondary request fails")
			}
		})
	}
}

// leaves returns the fields of an object, or of the first of a list, by name with dots between the parts.
func leaves(t *testing.T, object any) map[string]string {
	t.Helper()
	b, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if b[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
			t.Fatalf("got %s, %v; want a list that is not empty", b, err)
		}
		b = list[0]
	}
	out := map[string]string{}
	var visit func(prefix string, value json.RawMessage)
	visit = func(prefix string, value json.RawMessage) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(value, &fields) != nil || fields == nil {
			out[prefix] = string(value)
			return
		}
		for name, value := range fields {
			if name != "raw" {
				visit(strings.TrimPrefix(prefix+"."+name, "."), value)
			}
		}
	}
	visit("", b)
	return out
}

func TestMonitorsIgnoreFieldsThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		streams, failed := 0, 0
		client := site(t, map[string]string{"/helix/users": twitchUser, "/helix/streams": twitchStream}, func(path string) bool {
			mu.Lock()
			defer mu.Unlock()
			if path == "/helix/streams" {
				streams++
				return false
			}
			if streams == 3 {
				failed++
			}
			return streams == 3
		})
		e := watching(t, enginetest.Config{
			Providers: twitch.New(twitch.Config{ClientID: "id", ClientSecret: "secret", HTTP: client}),
		})
		if _, err := e.Client.Account().Monitors().Make(t.Context(), accounts.WatchRequest{
			Name: "ann", Operation: "live", Platform: platform.Twitch, Params: map[string]string{"handle": "ann"},
			Every: 15 * time.Minute,
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		changes, err := e.Client.Account().Changes(t.Context(), accounts.ChangesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{watch.Ready}, typesOf(changes.Data)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		mu.Lock()
		defer mu.Unlock()
		if streams < 5 || failed == 0 {
			t.Errorf("%d polls, %d failed requests; want 5 or more, and one or more", streams, failed)
		}
	})
}

// noting is a cache that notes what could not be read for its entries.
type noting struct {
	*cache.Memory
	mu      sync.Mutex
	unknown [][]string
}

func (n *noting) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	n.mu.Lock()
	n.unknown = append(n.unknown, e.Unknown)
	n.mu.Unlock()
	return n.Memory.Set(ctx, key, e, ttl)
}

func TestBatchEntriesNameFieldsThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	users := strings.Replace(twitchUser, `[`, `[{"id":"2","login":"bob"},`, 1)
	client := site(t, map[string]string{"/helix/users": users, "/helix/channels/followers": `{"total":5}`}, func(string) bool { return false })
	store := &noting{Memory: cache.NewMemory(cache.MemoryConfig{})}
	e := enginetest.New(t, enginetest.Config{
		Cache: store, Providers: twitch.New(twitch.Config{ClientID: "id", ClientSecret: "secret", HTTP: client}),
	})
	_, err := socialdata.Batch(t.Context(), e.Client, socialdata.ProfileRequest{Platform: platform.Twitch}, "ann", "bob")
	if err != nil {
		t.Fatal(err)
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	if diff := cmp.Diff([][]string{{"lang"}, {"lang"}}, store.unknown); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
}
