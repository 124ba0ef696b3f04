package upstreams_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func TestEveryEmptyCellHasAReason(t *testing.T) {
	t.Parallel()
	youtube := providers.Provider{
		Name: "youtube", Platform: platform.YouTube, Source: schema.Official,
		Posts: func(context.Context, string, string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{}, nil
		},
		Profile: enginetest.Answers(&enginetest.Counter{}),
	}
	page := youtube
	page.Name, page.Source, page.Notes = "youtube_own", schema.Own, map[providers.Op]string{providers.OpLive: "hides it"}
	page.Profile = nil
	e := enginetest.Of(t, mock.New(mock.Config{})[0], youtube.WithoutOps([]string{"api_key"}, providers.OpProfile), page)
	got, err := e.Client.Platforms(t.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, p := range got.Data {
		for _, o := range p.Operations {
			if o.Available == (o.Reason != nil) || o.Available != (len(o.Providers) > 0) {
				t.Errorf("%s %s: available %t, reason %v, providers %v", p.Platform, o.Operation, o.Available, o.Reason, o.Providers)
			}
			if p.Platform == platform.YouTube && o.Reason != nil {
				reasons[o.Operation] = *o.Reason
			}
			if p.Platform == platform.YouTube && o.Operation == "posts" {
				if diff := cmp.Diff([]string{"youtube", "youtube_own"}, o.Providers); diff != "" {
					t.Errorf("called providers (-want +got):\n%s", diff)
				}
			}
		}
	}
	for op, want := range map[string]string{
		"profile":   "the provider youtube is not configured: missing the setting api_key",
		"linked":    "the provider youtube is not configured: missing the setting api_key",
		"live":      "hides it",
		"followers": "only offered on tiktok and github",
		"comments":  "the upstream does not offer it (youtube, youtube_own)",
	} {
		if reasons[op] != want {
			t.Errorf("%s: %q, want %q", op, reasons[op], want)
		}
	}
	_, err = e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.YouTube, Handle: "a"})
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "does not offer Profile", "missing the setting api_key")
}
