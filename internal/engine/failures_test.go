package engine_test

import (
	"context"
	"fmt"
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

// TestAFailedPlatformHasAnError checks that a platform that failed has an error (D93), the same as for its search
// alone, and never with text of the upstream.
func TestAFailedPlatformHasAnError(t *testing.T) {
	t.Parallel()
	fails := func(err error) enginetest.Find {
		return func(context.Context, providers.SearchQuery, string) (page providers.Page[schema.SearchResult], _ error) {
			return page, err
		}
	}
	e := enginetest.Of(t,
		enginetest.Searcher(platform.GitHub, enginetest.Lists(10, enginetest.Some("g", 2)...)),
		enginetest.Searcher(platform.Bluesky, fails(fmt.Errorf("host-of-ours: %w", providers.ErrTimeout))),
		enginetest.Searcher(platform.Reddit, fails(fmt.Errorf("balance of the vendor is 0: %w", providers.ErrUnavailable))))
	req := socialdata.SearchAcrossRequest{
		Query: "coffee", Platforms: []platform.ID{platform.GitHub, platform.Bluesky, platform.Reddit, platform.Salla},
	}
	check := func(name string, m schema.Meta) {
		t.Helper()
		codes := map[platform.ID]problem.Code{}
		for id, why := range m.Errors {
			codes[id] = why.Code
			if !strings.Contains(why.Detail, string(id)) || strings.Contains(why.Detail, "vendor") ||
				strings.Contains(why.Detail, "host") {
				t.Errorf("%s: %s says %q", name, id, why.Detail)
			}
		}
		if diff := cmp.Diff(map[platform.ID]problem.Code{
			platform.Bluesky: problem.UpstreamTimeout, platform.Reddit: problem.PlatformUnavailable,
			platform.Salla: problem.PlatformUnavailable,
		}, codes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	got, err := e.Client.SearchAcross(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	check("the answer", got.Meta)
	err = e.Client.WatchSearch(t.Context(), req, func(ev socialdata.SearchEvent) bool {
		if ev.Meta != nil {
			check("the end of a stream", *ev.Meta)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	req.Platforms = req.Platforms[:1]
	if got, err = e.Client.SearchAcross(t.Context(), req); err != nil || got.Meta.Errors != nil {
		t.Errorf("a search in which none failed has %v, %v", got, err)
	}
}

// TestAJobHasTheErrorOfAFailedPlatform checks that a platform that was late has its error in the job.
func TestAJobHasTheErrorOfAFailedPlatform(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	late := enginetest.Searcher(platform.Bluesky, func(
		context.Context, providers.SearchQuery, string,
	) (page providers.Page[schema.SearchResult], _ error) {
		return page, providers.ErrUnavailable
	})
	e := enginetest.Of(t, enginetest.Searcher(platform.GitHub, enginetest.Lists(10, enginetest.Some("g", 2)...)),
		enginetest.Late(late, release))
	got, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{
		Query: "coffee", Platforms: []platform.ID{platform.GitHub, platform.Bluesky}, Wait: 1,
	})
	if err != nil || got.Meta.JobID == "" || got.Meta.Errors != nil {
		t.Fatalf("got %v, %v; want a job without errors", got, err)
	}
	close(release)
	rest, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: got.Meta.JobID, Wait: 20e9})
	if err != nil || rest.Meta.Errors[platform.Bluesky].Code != problem.PlatformUnavailable {
		t.Errorf("the job is %v, %v; want platform_unavailable of Bluesky", rest, err)
	}
}
