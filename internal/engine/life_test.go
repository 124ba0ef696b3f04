package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// TestAnAnswerThatIsKeptForAnHourIsChargedOnce repeats a call after its answer has expired, but within the day in which
// the ledger knows its key.
func TestAnAnswerThatIsKeptForAnHourIsChargedOnce(t *testing.T) {
	t.Parallel()
	var calls enginetest.Counter
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{enginetest.Profiles(platform.GitHub, "github", schema.Official,
			enginetest.Answers(&calls))},
		Options: []socialdata.Option{socialdata.WithAnswerLife(time.Hour, 0)},
	})
	for _, tt := range []struct {
		after time.Duration
		calls int
	}{{0, 1}, {50 * time.Minute, 1}, {3 * time.Hour, 2}} {
		e.Clock.Advance(tt.after)
		if _, err := once(t.Context(), e.Client, onceKey, "octocat"); err != nil {
			t.Fatal(err)
		}
		if calls.Count() != tt.calls || e.Balance(t) != 999 {
			t.Errorf("after %v: %d upstream calls, want %d; %d credits are left", tt.after, calls.Count(), tt.calls,
				e.Balance(t))
		}
	}
}

func TestAJobIsStoredForItsConfiguredLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		find := enginetest.Lists(10, enginetest.Some("x", 2)...)
		late := enginetest.Searcher(platform.X, func(ctx context.Context, q providers.SearchQuery, token string) (
			providers.Page[schema.SearchResult], error,
		) {
			time.Sleep(3 * time.Second)
			return find(ctx, q, token)
		})
		e := enginetest.New(t, enginetest.Config{
			Providers: []providers.Provider{enginetest.Searcher(platform.TikTok,
				enginetest.Lists(10, enginetest.Some("t", 2)...)), late},
			Options: []socialdata.Option{socialdata.WithAnswerLife(0, 5*time.Minute)},
		})
		first, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "coffee", Wait: time.Second})
		if err != nil || first.Meta.JobID == "" {
			t.Fatalf("got %+v, %v; want a job", first, err)
		}
		time.Sleep(5 * time.Second)
		e.Clock.Advance(4 * time.Minute)
		if _, err := e.Client.Job(t.Context(), socialdata.JobRequest{ID: first.Meta.JobID}); err != nil {
			t.Error(err)
		}
		e.Clock.Advance(6 * time.Minute) // because that poll wrote the record again
		_, err = e.Client.Job(t.Context(), socialdata.JobRequest{ID: first.Meta.JobID})
		enginetest.WantProblem(t, err, problem.NotFound)
	})
}
