package socialdata_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

const mastodon platform.ID = "mastodon"

// fediverse serves a platform that the specification does not have.
func fediverse() providers.Provider {
	p := enginetest.Profiles(mastodon, "fediverse", schema.Official,
		func(_ context.Context, handle string) (schema.Profile, error) {
			return enginetest.Profile(handle), nil
		})
	p.Search = enginetest.Lists(10, enginetest.Some("a", 2)...)
	p.Posts = func(_ context.Context, _, _ string) (providers.Page[schema.Post], error) {
		return providers.Page[schema.Post]{Items: []schema.Post{enginetest.Post("a")}}, nil
	}
	p.Routes = providers.Routes(mastodon, "api/{name}")
	p.Forward = func(context.Context, string, url.Values) (json.RawMessage, error) {
		return json.RawMessage(`{"a":1}`), nil
	}
	return p
}

func withMastodon(t *testing.T, opts ...socialdata.Option) *enginetest.Engine {
	t.Helper()
	return enginetest.New(t, enginetest.Config{
		Providers: append(mock.New(mock.Config{}), fediverse()),
		Options: append([]socialdata.Option{
			socialdata.WithPlatform(platform.Info{ID: mastodon, Name: "Mastodon", BaseCredits: 3, Meaning: "posts are toots"}),
		}, opts...),
	})
}

func TestACustomPlatformIsReadLikeAnyOther(t *testing.T) {
	t.Parallel()
	e := withMastodon(t)
	ctx := t.Context()
	profile, err := e.Client.Profile(ctx, socialdata.ProfileRequest{Platform: mastodon, Handle: "salma"})
	if err != nil || profile.Data.Platform != mastodon || profile.Meta.CreditsUsed != 3 {
		t.Fatalf("the profile is %v, %v; want one of mastodon for 3 credits", profile, err)
	}
	posts, err := e.Client.Posts(ctx,
		socialdata.PostsRequest{Platform: mastodon, Handle: "salma", ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic}})
	if err != nil || len(posts.Data) != 1 || posts.Data[0].Author.Platform != mastodon {
		t.Errorf("the posts are %v, %v; want one, whose author is on mastodon", posts, err)
	}
	found, err := e.Client.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "coffee"})
	if err != nil || found.Meta.Platforms[mastodon] != schema.OK || len(found.Data) != 2 {
		t.Errorf("the search is %v, %v; want two results, and mastodon ok", found, err)
	}
	raw, err := e.Client.Raw(ctx, socialdata.RawRequest{Provider: "fediverse", Path: "api/salma"})
	if err != nil || raw.Meta.CreditsUsed != 3 {
		t.Errorf("the raw read is %v, %v; want 3 credits", raw, err)
	}
	_, err = e.Client.Profile(ctx, socialdata.ProfileRequest{Platform: "mastodno", Handle: "salma"})
	enginetest.WantProblem(t, err, problem.NotFound, "did you mean mastodon?")
	_, err = e.Client.Reels(ctx, socialdata.ReelsRequest{Platform: mastodon, Handle: "salma"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "mastodon does not offer Reels")
	if state := enginetest.Health(t, e.Client).Platforms[mastodon]; state != schema.Healthy {
		t.Errorf("its health is %q; want %q", state, schema.Healthy)
	}
	usage, err := e.Client.Account().Usage(ctx, accounts.UsageRequest{Platform: mastodon})
	if err != nil || len(usage.Data) < 3 {
		t.Errorf("its charges are %v, %v; want 3 or more", usage, err)
	}
}

func TestACustomPlatformIsListed(t *testing.T) {
	t.Parallel()
	e := withMastodon(t, prices(mastodon, 5))
	all, err := e.Client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all.Data, func(p schema.PlatformInfo) bool { return p.Platform == mastodon })
	if len(all.Data) != len(platform.All())+1 || i < 0 {
		t.Fatalf("got %d platforms, mastodon at index %d; want %d with it", len(all.Data), i, len(platform.All())+1)
	}
	if p := all.Data[i]; p.Name != "Mastodon" || p.BaseCredits != 5 || *p.Meaning != "posts are toots" ||
		len(p.RawRoutes) != 1 {
		t.Errorf("it is listed as %v; want its name, price, meaning and one raw route", p)
	}
	other := enginetest.New(t, enginetest.Config{}).Client
	if socialdata.FrontEnd(other).PlatformTable().Has(mastodon) || !socialdata.FrontEnd(e.Client).PlatformTable().Has(mastodon) {
		t.Error("mastodon is in the table of another client, or not in that of its own")
	}
	_, err = other.Profile(t.Context(), socialdata.ProfileRequest{Platform: mastodon, Handle: "salma"})
	enginetest.WantProblem(t, err, problem.NotFound)
}

func TestLinkedProfilesOnUnknownPlatformsAreLeftOut(t *testing.T) {
	t.Parallel()
	p := fediverse()
	p.Linked = func(context.Context, string, string) (providers.Page[schema.LinkedProfile], error) {
		var out providers.Page[schema.LinkedProfile]
		for _, on := range []platform.ID{mastodon, platform.GitHub, "myspace"} {
			out.Items = append(out.Items, schema.LinkedProfile{
				Common: schema.Common{Platform: on, ID: "1", URL: "https://example.com/salma"}, Handle: "salma_" + string(on),
				Confidence: 1, Evidence: []string{"bio_link:https://example.com"},
			})
		}
		return out, nil
	}
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{p},
		Options:   of(socialdata.WithPlatform(platform.Info{ID: mastodon, BaseCredits: 1})),
	})
	linked, err := e.Client.Linked(t.Context(), socialdata.LinkedRequest{Platform: mastodon, Handle: "salma"})
	if err != nil {
		t.Fatal(err)
	}
	var got []platform.ID
	for _, l := range linked.Data {
		got = append(got, l.Platform)
	}
	slices.Sort(got)
	if !slices.Equal(got, []platform.ID{platform.GitHub, mastodon}) {
		t.Errorf("linked on %v, want no platform that does not exist", got)
	}
}
