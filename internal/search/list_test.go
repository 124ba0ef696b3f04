package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// listed returns the jobs of an account as an operator sees them.
func listed(t *testing.T, c *socialdata.Client, account string, limit int) (jobs []observe.Job, of int) {
	t.Helper()
	jobs, of, err := c.Operator().Jobs(t.Context(), account, limit)
	if err != nil {
		t.Fatal(err)
	}
	return jobs, of
}

func TestAJobIsListedUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		req := socialdata.SearchAcrossRequest{Query: "secret coffee", Wait: time.Second}
		req.Enrich = socialdata.Arabic
		id := searchAll(t, e.Client, req).Meta.JobID
		want := observe.Job{
			ID: id, Account: e.Key.Account, Key: e.Key.ID, Begun: enginetest.Start,
			Deadline: enginetest.Start.Add(14 * time.Second), State: observe.JobRunning, Held: 5, Charged: 1,
			Parts: []observe.JobPart{
				{Platform: platform.TikTok, State: schema.OK, Charged: 1},
				{Platform: platform.X, State: schema.Pending, Held: 1},
				{Platform: platform.YouTube, State: schema.Pending, Held: 1},
			},
		}
		check := func(when string) {
			t.Helper()
			got, of := listed(t, e.Open, e.Key.Account, 10)
			if len(got) == 1 {
				slices.SortFunc(got[0].Parts, func(a, b observe.JobPart) int {
					return strings.Compare(string(a.Platform), string(b.Platform))
				})
			}
			if diff := gocmp.Diff([]observe.Job{want}, got); diff != "" || of != 1 {
				t.Errorf("%s, of %d (-want +got):\n%s", when, of, diff)
			}
			if b, err := json.Marshal(got); err != nil || strings.Contains(string(b), "coffee") {
				t.Errorf("%s, the query is shown: %s, %v", when, b, err)
			}
		}
		check("in progress")
		close(onX)
		close(onYouTube)
		synctest.Wait()
		want.State, want.Ended, want.Held, want.Charged = observe.JobReady, enginetest.Start, 0, 6
		want.Parts[1] = observe.JobPart{Platform: platform.X, State: schema.OK, Charged: 1}
		want.Parts[2] = observe.JobPart{Platform: platform.YouTube, State: schema.OK, Charged: 1}
		check("decided")
		e.Clock.Advance(15 * time.Minute)
		if got, of := listed(t, e.Open, "", 10); len(got) != 0 || of != 0 {
			t.Errorf("expired jobs are listed: %+v of %d", got, of)
		}
	})
}

func TestAJobWhoseProcessHasDiedIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, onX, onYouTube := pendingWorld(t, enginetest.Config{})
		searchAll(t, e.Client, socialdata.SearchAcrossRequest{Wait: time.Second})
		for _, tt := range []struct {
			after time.Duration
			state observe.JobState
			held  int64
		}{
			{0, observe.JobRunning, 2},
			{16 * time.Second, observe.JobLate, 2},
			{2 * time.Minute, observe.JobLate, 0}, // the ledger has released the holds
		} {
			e.Clock.Advance(tt.after)
			got, _ := listed(t, e.Open, "", 10)
			if len(got) != 1 || got[0].State != tt.state || got[0].Held != tt.held {
				t.Errorf("after %v: %+v, want %s with %d credits held", tt.after, got, tt.state, tt.held)
			}
		}
		close(onX)
		close(onYouTube)
	})
}

func TestJobsAreListedByAccountNewestFirst(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	other, _ := e.Account(t, "another", 100)
	var first []string // of the first account's jobs, newest first
	for i := range 4 {
		for _, c := range []*socialdata.Client{e.Client, e.Client.As(other)} {
			req := socialdata.SearchAcrossRequest{Query: "coffee", Platforms: ids{platform.Mock}}
			req.IdempotencyKey = fmt.Sprint("an-order-of-coffee-", i)
			searchAll(t, c, req)
		}
		mine, of := listed(t, e.Open, e.Key.Account, 100)
		if len(mine) != i+1 || of != i+1 || gocmp.Diff(first, jobIDs(mine[1:])) != "" {
			t.Fatalf("after %d searches: %v of %d, before %v", i+1, jobIDs(mine), of, first)
		}
		first = jobIDs(mine)
		e.Clock.Advance(time.Minute)
	}
	if all, of := listed(t, e.Open, "", 100); len(all) != 8 || of != 8 {
		t.Errorf("%d jobs of %d are listed, want those of both accounts", len(all), of)
	}
	if some, of := listed(t, e.Open, other.Account, 3); len(some) != 3 || of != 4 || some[0].Account != other.Account {
		t.Errorf("%d jobs of %d are listed, want 3 of 4 of the other account: %+v", len(some), of, some)
	}
	if none, of := listed(t, e.Open, "acct_none", 3); len(none) != 0 || of != 0 {
		t.Errorf("an account without jobs has %+v of %d", none, of)
	}
}

func jobIDs(jobs []observe.Job) (out []string) {
	for _, j := range jobs {
		out = append(out, j.ID)
	}
	return out
}
