package socialdata_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/stats"
)

// TestStatsEqualThoseOfThePosts compares the answer with the numbers of the same posts, and its price with theirs.
func TestStatsEqualThoseOfThePosts(t *testing.T) {
	t.Parallel()
	for pages := range 4 {
		e := enginetest.New(t, enginetest.Config{})
		req := socialdata.StatsRequest{Platform: platform.Mock, Handle: "@ann", Pages: pages}
		got, err := e.Client.Stats(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		read := socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann", Page: socialdata.Page{Pages: max(1, pages)}}
		posts, err := e.Client.Posts(t.Context(), read)
		if err != nil {
			t.Fatal(err)
		}
		want := stats.Of(posts.Data, nil)
		want.Platform, want.Handle = platform.Mock, "ann"
		if diff := cmp.Diff(want, got.Data); diff != "" {
			t.Errorf("%d pages (-want +got):\n%s", pages, diff)
		}
		if got.Meta.CreditsUsed != int64(max(1, pages)) || got.Meta.NextCursor != "" || posts.Meta.Cache != schema.Hit {
			t.Errorf("%d pages: %+v, then %+v; want a credit a page, and then a hit", pages, got.Meta, posts.Meta)
		}
		if c := e.Charges(t); len(c) != 2 || c[0] != enginetest.Charged(int64(max(1, pages)), "stats", "mock", "MISS") {
			t.Errorf("charges %+v; want one of the stats and one of the posts", c)
		}
		estimate, err := e.Client.Estimate(t.Context(), socialdata.EstimateRequest{Of: "/v1/mock/stats?handle=ann&pages=3"})
		if err != nil || estimate.Data.Credits.Most != 3 {
			t.Errorf("estimate %+v, %v; want 3 credits at most", estimate, err)
		}
	}
}

func TestStatsAreRefusedLikePosts(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	front := socialdata.FrontEnd(e.Client)
	o := socialdata.Operation("stats")
	for words, code := range map[string]problem.Code{
		"platform=nowhere handle=ann": problem.NotFound, "platform=mock": problem.InvalidRequest,
		"platform=mock handle=ann since=2026-11-01": problem.InvalidRequest, "platform=mock handle=ann pages=11": problem.InvalidRequest,
		"platform=mock handle=ann fields=nothing": problem.InvalidRequest,
	} {
		call := enginetest.Call()
		for word := range strings.FieldsSeq(words) {
			name, value, _ := strings.Cut(word, "=")
			if call.Params.Set(name, value); name == "platform" {
				call.Platform = value
				call.Params.Del(name)
			}
		}
		_, err := front.Do(t.Context(), o, call)
		enginetest.WantProblem(t, err, code)
	}
	if n := len(e.Charges(t)); n != 0 {
		t.Errorf("%d calls were charged; want none", n)
	}
	// With the same idempotency key, posts are another request.
	req := socialdata.StatsRequest{Platform: platform.Mock, Handle: "ann"}
	req.IdempotencyKey = "order-4711-of-salma"
	if _, err := e.Client.Stats(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	again, err := e.Client.Stats(t.Context(), req)
	if err != nil || len(e.Charges(t)) != 1 || again.Data.Posts == 0 {
		t.Errorf("again: %+v, %v; want stats that are charged once", again, err)
	}
	posts := socialdata.PostsRequest{Platform: platform.Mock, Handle: "ann"}
	posts.IdempotencyKey = req.IdempotencyKey
	_, err = e.Client.Posts(t.Context(), posts)
	enginetest.WantProblem(t, err, problem.InvalidRequest)
}

func TestStatsHaveTheGrowthOfAMonitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		profile := accounts.WatchRequest{
			Name: "lively", Operation: "profile", Platform: platform.Mock, Params: map[string]string{"handle": "@lively"},
			Every: 6 * time.Hour,
		}
		if _, err := e.Client.Account().Monitors().Make(t.Context(), profile); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * 24 * time.Hour)
		synctest.Wait()
		got, err := e.Client.Stats(t.Context(), socialdata.StatsRequest{Platform: platform.Mock, Handle: "lively"})
		if err != nil {
			t.Fatal(err)
		}
		g := got.Data.Growth
		if g == nil || g.Monitor != "lively" || g.Points < 4 || g.Change != g.After-g.Before || g.AWeek == nil ||
			got.Data.RateByFollowers.Value == nil {
			t.Errorf("growth %+v, rate %+v; want both, of the monitor lively", g, got.Data.RateByFollowers)
		}
		other, err := e.Client.Stats(t.Context(), socialdata.StatsRequest{Platform: platform.Mock, Handle: "ann"})
		if err != nil || other.Data.Growth != nil || other.Data.RateByFollowers.Value != nil {
			t.Errorf("an account without a monitor: %+v, %v; want neither growth nor rate", other, err)
		}
	})
}
