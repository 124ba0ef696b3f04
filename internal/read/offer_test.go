package read_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// finder is a provider that searches objects of one kind.
func finder(name, kind string) providers.Provider {
	return providers.Provider{
		Name: name, Platform: platform.Bluesky, Source: schema.Official,
		Search: func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
			return providers.Page[schema.SearchResult]{}, nil
		},
		Filters: map[providers.Op]providers.Filters{providers.OpSearch: {"kind": {kind}}},
	}
}

func TestAKindThatNeedsASettingNamesIt(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, finder("people", "profile"), finder("account", "post").Without("app_password"))
	ask := func(kind schema.ResultKind) error {
		_, err := e.Client.Search(t.Context(), socialdata.SearchRequest{Platform: platform.Bluesky, Query: "tea", Kind: kind})
		return err
	}
	if err := ask(schema.ProfileResult); err != nil {
		t.Error(err)
	}
	enginetest.WantProblem(t, ask(schema.PostResult), problem.PlatformUnavailable, "account is not configured: missing the setting app_password")
	enginetest.WantProblem(t, ask(schema.TrackResult), problem.InvalidRequest, "profile")
}

func TestAPlatformHasTheFiltersOfAllItsProviders(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t, finder("account", "post"), finder("people", "profile"))
	got, err := e.Client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Data {
		for _, o := range p.Operations {
			if p.Platform != platform.Bluesky || o.Operation != "search" {
				continue
			}
			if diff := cmp.Diff([]string{"post", "profile"}, o.Filters["kind"]); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		}
	}
}
