package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"

	"team.example/program/mastodon"
)

func TestTheProgramServesMastodonBesideEveryOtherPlatform(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"SOCIALDATA_MASTODON_BASE_URL": "https://social.example"}
	all, err := chains(cli.Environment{HTTP: &http.Client{}, Lookup: func(name string) (string, bool) {
		value, ok := settings[name]
		return value, ok
	}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := socialdata.New(socialdata.WithPlatform(mastodon.Platform), socialdata.WithProviders(all...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(platform.All()) + 1; len(got.Data) != want {
		t.Errorf("there are %d platforms, want %d", len(got.Data), want)
	}
	at := slices.IndexFunc(got.Data, func(p schema.PlatformInfo) bool { return p.Platform == "mastodon" })
	if at < 0 {
		t.Fatal("mastodon is missing")
	}
	var served []string
	for _, o := range got.Data[at].Operations {
		if o.Available {
			served = append(served, o.Operation)
		}
	}
	for _, want := range []string{"profile", "posts", "post", "comments", "search"} {
		if !slices.Contains(served, want) {
			t.Errorf("%s is not served: %v", want, served)
		}
	}
	found, err := client.Resolve(t.Context(), socialdata.ResolveRequest{URL: "https://social.example/@ann/1201"})
	if err != nil || len(found.Data) == 0 || found.Data[0].Platform != "mastodon" {
		t.Errorf("the address of a post leads to %v, %v", found, err)
	}
}
