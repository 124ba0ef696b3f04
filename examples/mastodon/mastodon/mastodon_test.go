package mastodon_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"

	"team.example/program/mastodon"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	platforms, err := platform.Specified().With(mastodon.Platform)
	if err != nil {
		t.Fatal(err)
	}
	providertest.Run(t, providertest.Suite{
		Platforms: platforms,
		New:       func(c *http.Client) providers.Chain { return mastodon.New(mastodon.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann"),
			providertest.Posts("posts", "ann"),
			providertest.Post("post", "1201"),
			providertest.Comments("comments", "1201"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("closed server", "closed"), Want: providers.ErrUnsupported},
			{Call: providertest.Post("unknown post", "1999"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("bad cursor", "ann").From("x"), Want: providers.ErrCursor},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Ann", Want: "ann"},
			{Subject: providers.Handle, In: "https://mastodon.social/@Ann", Want: "ann"},
			{Subject: providers.Handle, In: "https://mastodon.social/@bob@elsewhere.example", Want: "bob@elsewhere.example"},
			{Subject: providers.Handle, In: "https://mastodon.social/@ann/1201", Want: "ann"},
			{Subject: providers.PostID, In: "https://mastodon.social/@ann/1201", Want: "1201"},
			{Subject: providers.Handle, In: "ann at home"},
			{Subject: providers.PostID, In: "ann"},
		},
		Drift: &providertest.Drift{},
	})
}

func TestReadsThroughAClient(t *testing.T) {
	t.Parallel()
	answer, err := os.ReadFile("testdata/account.json")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }))
	t.Cleanup(web.Close)
	client, err := socialdata.New(socialdata.WithPlatform(mastodon.Platform),
		socialdata.WithProviders(mastodon.New(mastodon.Config{BaseURL: web.URL})))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Profile(t.Context(), socialdata.ProfileRequest{Platform: "mastodon", Handle: "@Ann"})
	if err != nil || got.Data.Handle != "ann" || got.Data.Platform != "mastodon" || *got.Data.Followers != 12 {
		t.Errorf("the profile is %v, %v", got, err)
	}
}
