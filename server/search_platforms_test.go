package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// reaching is three platforms: one with a general search, one with a search within an account only, and one with a
// search for hashtags only.
func reaching(calls *enginetest.Counter) []providers.Provider {
	find := func(context.Context, providers.SearchQuery, string) (providers.Page[schema.SearchResult], error) {
		calls.Add()
		return providers.Page[schema.SearchResult]{}, nil
	}
	anything := enginetest.Searcher(platform.GitHub, find)
	within := enginetest.Searcher(platform.Telegram, find)
	within.Filters[providers.OpSearch]["handle"] = nil
	within.Required = map[providers.Op][]string{providers.OpSearch: {"handle"}}
	hashtags := enginetest.Searcher(platform.TikTok, find)
	hashtags.Searches = func(q providers.SearchQuery) error {
		if !strings.HasPrefix(q.Query, "#") {
			return providers.Unsupported("hashtags only, such as #coffee")
		}
		return nil
	}
	return []providers.Provider{anything, within, hashtags}
}

// TestASearchCallsOnlyPlatformsThatSupportIt makes searches over HTTP with exactly as many credits as they cost
// (D76).
func TestASearchCallsOnlyPlatformsThatSupportIt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		credits     int64
		code        problem.Code // "" for a success
		platforms   map[platform.ID]schema.PlatformState
	}{
		{"none named", "query=tea", 1, "", map[platform.ID]schema.PlatformState{"github": schema.OK}},
		{"none named, a hashtag", "query=%23tea", 2, "", map[platform.ID]schema.PlatformState{"github": schema.OK, "tiktok": schema.OK}},
		{"all named", "query=tea&platforms=telegram,github,tiktok", 1, "", map[platform.ID]schema.PlatformState{
			"github": schema.OK, "telegram": schema.Failed, "tiktok": schema.Failed,
		}},
		{"only one platform that cannot search for it", "query=tea&platforms=telegram", 9, problem.PlatformUnavailable, nil},
		{"only platforms that cannot search for it", "query=tea&platforms=telegram,tiktok", 9, problem.PlatformUnavailable, nil},
		{"a platform without search among them", "query=tea&platforms=telegram,kwai", 9, problem.PlatformUnavailable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls enginetest.Counter
			s := open(t, enginetest.Config{Providers: reaching(&calls), Credits: tt.credits})
			r := s.get(t, "/v1/search?"+tt.query)
			if tt.code != "" {
				p := r.wantProblem(t, tt.code, "search")
				if p.HTTPStatus() != 503 || calls.Count() > 0 || s.Balance(t) != tt.credits {
					t.Errorf("status %d after %d calls, %d credits are left", p.HTTPStatus(), calls.Count(), s.Balance(t))
				}
				return
			}
			if diff := cmp.Diff(tt.platforms, r.envelope(t).Meta.Platforms); diff != "" {
				t.Errorf("platforms (-want +got):\n%s", diff)
			}
			s.WantBalance(t, 0)
		})
	}
}

func TestOnePlatformSaysWhatItCannotSearchFor(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	s := open(t, enginetest.Config{Providers: reaching(&calls)})
	s.get(t, "/v1/telegram/search?query=tea").wantProblem(t, problem.InvalidRequest, `"handle"`, "GET /v1/telegram/search")
	s.get(t, "/v1/tiktok/search?query=tea").wantProblem(t, problem.PlatformUnavailable, "GET /v1/tiktok/search",
		"hashtags only")
	if calls.Count() > 0 {
		t.Errorf("%d calls reached the upstream", calls.Count())
	}
	for _, path := range []string{"/v1/telegram/search?query=tea&handle=a", "/v1/tiktok/search?query=%23tea"} {
		s.get(t, path).envelope(t)
	}
	var health schema.Health
	if err := json.Unmarshal(s.get(t, "/health").body, &health); err != nil {
		t.Fatal(err)
	}
	for _, id := range []platform.ID{platform.Telegram, platform.TikTok} {
		if got := health.Platforms[id]; got != schema.Healthy {
			t.Errorf("%s is %s: our own refusals do not count as its failures", id, got)
		}
	}
}

func TestPlatformsNameWhatASearchRequires(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{Providers: reaching(&enginetest.Counter{})})
	var got []schema.PlatformInfo
	if err := json.Unmarshal(s.get(t, "/v1/platforms").envelope(t).Data, &got); err != nil {
		t.Fatal(err)
	}
	required := map[platform.ID][]string{}
	for _, p := range got {
		for _, o := range p.Operations {
			if o.Required == nil {
				t.Errorf("%s %s: required is null", p.Platform, o.Operation)
			}
			if len(o.Required) > 0 {
				required[p.Platform] = append(required[p.Platform], o.Operation+" "+strings.Join(o.Required, ","))
			}
		}
	}
	want := map[platform.ID][]string{platform.Telegram: {"search handle"}}
	if diff := cmp.Diff(want, required); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
}
