package linked_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// people is a platform with the given profiles, by handle.
func people(id platform.ID, ps ...schema.Profile) providers.Provider {
	return enginetest.Profiles(id, string(id), schema.Official, func(_ context.Context, handle string) (schema.Profile, error) {
		for _, p := range ps {
			if strings.EqualFold(p.Handle, handle) {
				return p, nil
			}
		}
		return schema.Profile{}, providers.NotFound("nobody")
	})
}

func person(page, handle, name, bio string, links ...string) schema.Profile {
	return schema.Profile{
		Common: schema.Common{ID: "id-" + handle, URL: page}, Handle: handle, DisplayName: &name, Bio: &bio, Links: links,
	}
}

func TestLinkedProfilesAreDerived(t *testing.T) {
	t.Parallel()
	e := enginetest.Of(t,
		people(platform.GitHub, person("https://github.com/salma", "salma", "Salma", "I write on https://x.com/salma_h. See also t.me/salma",
			"https://linktr.ee/salma", "https://github.com/salma", "https://example.com/blog", "https://www.youtube.com/@gone")),
		people(platform.X, person("https://x.com/salma_h", "salma_h", "Salma H", "My code: https://github.com/Salma")),
		people(platform.Linktree, person("https://linktr.ee/salma", "salma", "Salma", "", "https://bsky.app/profile/salma.dev", "https://x.com/salma_h")),
		people(platform.YouTube),
	)
	got, err := e.Client.Linked(t.Context(), socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "salma"})
	if err != nil {
		t.Fatal(err)
	}
	type link struct {
		Platform   platform.ID
		Handle     string
		Confidence float64
		Evidence   []string
	}
	var links []link
	for _, l := range got.Data {
		links = append(links, link{l.Platform, l.Handle, l.Confidence, l.Evidence})
		if l.Source != schema.Own {
			t.Errorf("%s: source is %s", l.URL, l.Source)
		}
	}
	want := []link{
		{platform.Linktree, "salma", 0.9, []string{"bio_link:https://linktr.ee/salma", "same_handle_and_name:salma"}},
		{platform.YouTube, "gone", 0.8, []string{"bio_link:https://www.youtube.com/@gone"}},
		{platform.X, "salma_h", 1, []string{"bio_link:https://x.com/salma_h", "linktree:X", "back_link:https://x.com/salma_h"}},
		{platform.Telegram, "salma", 0.86, []string{"bio_link:https://t.me/salma", "same_handle:salma"}},
		{platform.Bluesky, "salma.dev", 0.9, []string{"linktree:BLUESKY"}},
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("linked (-want +got):\n%s", diff)
	}
	if got.Meta.CreditsUsed != 1 {
		t.Errorf("it cost %d", got.Meta.CreditsUsed)
	}
	_, err = e.Client.Linked(t.Context(), socialdata.LinkedRequest{Platform: platform.GitHub, Handle: "nobody"})
	enginetest.WantProblem(t, err, problem.NotFound, "nobody")
}
