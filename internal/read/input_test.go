package read_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestInvisibleCharactersAreRemovedFromInput(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own,
		func(_ context.Context, handle string) (schema.Profile, error) {
			asked[handle] = true
			return enginetest.Profile(handle), nil
		}))
	for _, handle := range []string{
		"torvalds", "\u200ftorvalds", "torvalds\u200b", "\u2068torvalds\u2069", "\ufefftorvalds", "\u00a0torvalds", "tor\u200dvalds",
		"\u202etorvalds\u202c", "\u2060torvalds", "\u061ctorvalds",
	} {
		if _, err := e.Client.Profile(t.Context(), ask(handle)); err != nil {
			t.Errorf("%+q: %v", handle, err)
		}
	}
	if len(asked) != 1 || !asked["torvalds"] {
		t.Errorf("the upstream was asked for %v", asked)
	}
	_, err := e.Client.Profile(t.Context(), ask("\u200f\u200b"))
	enginetest.WantProblem(t, err, problem.InvalidRequest, "must not be empty")
}

func TestHandlesThatLeadElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.Of(t, enginetest.Profiles(platform.GitHub, "github", schema.Own, enginetest.Answers(&calls)))
	for _, handle := range []string{"@@Salma", "../x", "..", ".", "a/../b", "https://github.com/%2e%2e/x", "./a"} {
		_, err := e.Client.Profile(t.Context(), ask(handle))
		enginetest.WantProblem(t, err, problem.InvalidRequest, `"handle"`)
	}
	if calls.Count() != 0 {
		t.Errorf("%d calls reached the upstream", calls.Count())
	}
	for _, handle := range []string{"@Salma", "a.b", "...", "a..b"} {
		if _, err := e.Client.Profile(t.Context(), ask(handle)); err != nil {
			t.Errorf("%s: %v", handle, err)
		}
	}
}

func TestAnUnknownPlatformIsReportedBeforeABadIdempotencyKey(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("profile"), operation.Call{Platform: "myspace", IdempotencyKey: "short"})
	enginetest.WantProblem(t, err, problem.NotFound, "myspace")
}

func TestAProviderGetsTheIdentifierAsPasted(t *testing.T) {
	t.Parallel()
	asked := map[string]string{}
	p := enginetest.Profiles(platform.GitHub, "github", schema.Own, func(ctx context.Context, handle string) (schema.Profile, error) {
		asked[handle] = providers.AddressOf(ctx, providers.Handle, "none") + " " + providers.SpellingOf(ctx, providers.Handle, handle)
		return enginetest.Profile(handle), nil
	})
	p.Normalize = func(_ providers.Subject, value string) (string, error) {
		return strings.ToLower(strings.TrimPrefix(value, "https://example.com/")), nil
	}
	e := enginetest.Of(t, p)
	for _, handle := range []string{"ann", "Cat", "https://example.com/Bob#top"} {
		if _, err := e.Client.Profile(t.Context(), ask(handle)); err != nil {
			t.Errorf("%s: %v", handle, err)
		}
	}
	if diff := cmp.Diff(map[string]string{"ann": "none ann", "cat": "none Cat", "bob#top": "https://example.com/Bob Bob#top"}, asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestACountryBesideAnAddressIsAFilter names the country of ads in their advertiser's address, in the parameter, in both
// and in neither.
func TestACountryBesideAnAddressIsAFilter(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	e := enginetest.Of(t, providers.Provider{
		Name: "library", Platform: platform.Google, Source: schema.Official,
		Ads: func(_ context.Context, q providers.AdsQuery, _ string) (providers.Page[schema.Ad], error) {
			asked <- q.AdvertiserID + " " + q.Country
			return providers.Page[schema.Ad]{}, nil
		},
		Normalize: func(_ providers.Subject, value string) (string, error) {
			id, _, _ := strings.Cut(strings.TrimPrefix(value, "https://ads.example/"), "?")
			return id, nil
		},
		Country: func(_ providers.Subject, value string) string {
			_, in, _ := strings.Cut(value, "?in=")
			return in
		},
		Filters: map[providers.Op]providers.Filters{providers.OpAds: {"country": nil}},
	})
	for params, want := range map[string]string{
		"advertiser_id=AR1&country=DE":                             "AR1 DE",
		"advertiser_id=https://ads.example/AR2&country=DE":         "AR2 DE",
		"advertiser_id=https://ads.example/AR3%3Fin=SA":            "AR3 SA",
		"advertiser_id=https://ads.example/AR4%3Fin=SA&country=SA": "AR4 SA",
		"advertiser_id=https://ads.example/AR5":                    "AR5 ",
	} {
		values, err := url.ParseQuery(params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := socialdata.FrontEnd(e.Client).Do(t.Context(), socialdata.Operation("ads"), operation.Call{Platform: "google", Params: values}); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		if got := <-asked; got != want {
			t.Errorf("%s: the upstream was asked for %q, want %q", params, got, want)
		}
	}
}
