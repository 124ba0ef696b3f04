package socialdata_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// broadcast watches what changes every 20 seconds.
var broadcast = socialdata.WatchRequest{
	Name: "broadcast", Operation: "live", Platform: platform.Mock, Params: map[string]string{"handle": "lively"},
	Every: 30 * time.Second,
}

// watching returns an engine with the clock of the synctest bubble in which the test runs.
func watching(t *testing.T, cfg enginetest.Config) *enginetest.Engine {
	t.Helper()
	cfg.Cache = cache.NewMemory(cache.MemoryConfig{})
	cfg.Options = append(cfg.Options, socialdata.WithClock(time.Now))
	return enginetest.New(t, cfg)
}

// told returns the types of the next n changes of a monitor.
func told(t *testing.T, c *socialdata.Client, req socialdata.WatchRequest, n int) []schema.Change {
	t.Helper()
	var out []schema.Change
	for change, err := range c.Watch(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, change); len(out) == n {
			break
		}
	}
	return out
}

func typesOf(changes []schema.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Type)
	}
	return out
}

// charged returns the charges of the account, call by call.
func charged(t *testing.T, e *enginetest.Engine) (entries []credits.Entry) {
	t.Helper()
	all, err := e.Ledger.Entries(t.Context(), credits.Query{Account: e.Key.Account, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		if entry.Kind == credits.Charged {
			entries = append(entries, entry)
		}
	}
	return entries
}

func TestWatchReportsChangesWithinAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		began := time.Now()
		got := told(t, e.Client, broadcast, 2)
		if diff := cmp.Diff([]string{watch.Ready, watch.Changed}, typesOf(got)); diff != "" {
			t.Fatalf("changes (-want +got):\n%s", diff)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("told after %v", took)
		}
		if fields := got[1].Fields; len(fields) != 1 || fields[0].Field != "title" {
			t.Errorf("changed: %+v; want the title", fields)
		}
		entries := charged(t, e)
		for _, entry := range entries {
			if entry.Amount != -1 || entry.Key != e.Key.ID || entry.Operation != "live" {
				t.Errorf("charged: %+v; want a call of live, for one credit", entry)
			}
		}
		list, err := e.Client.ListMonitors(t.Context(), socialdata.MonitorsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		want := []schema.Monitor{{
			Name: "broadcast", Operation: "live", Platform: new("mock"), Params: map[string]string{"handle": "lively"},
			Every: "30s", Pages: 1, Fields: []string{}, Alerts: []string{}, State: watch.Active, Credits: int64(len(entries)),
			Price: schema.MonitorPrice{Least: 86400, Most: 86400},
		}}
		if diff := cmp.Diff(want, list.Data,
			cmpopts.IgnoreFields(schema.Monitor{}, "CreatedAt", "NextAt", "LastAt")); diff != "" {
			t.Errorf("monitors (-want +got):\n%s", diff)
		}
	})
}

func TestWatchContinuesWhereItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := watch.NewMemory()
		first := watching(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithWatches(store)}})
		got := told(t, first.Client, broadcast, 2)
		time.Sleep(2 * time.Minute) // more is found, but not read
		if err := first.Client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := watching(t, enginetest.Config{Options: []socialdata.Option{
			socialdata.WithWatches(store), socialdata.WithKeys(first.Keys), socialdata.WithLedger(first.Ledger),
		}})
		later := told(t, second.Open.As(first.Key), broadcast, 2)
		if later[0].Seq != got[1].Seq+1 || later[1].Seq != got[1].Seq+2 {
			t.Errorf("after change %d come %d and %d", got[1].Seq, later[0].Seq, later[1].Seq)
		}
	})
}

func TestMonitorsAreMadeChangedAndEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{}), t.Context()
		monitors := e.Client.Monitors()
		posts := socialdata.WatchRequest{
			Name: "posts", Operation: "posts", Platform: platform.Mock, Params: map[string]string{"handle": "lively"},
			Pages: 3, Follow: 5, Every: time.Hour,
		}
		made, isNew, err := monitors.Make(ctx, posts)
		if err != nil || !isNew {
			t.Fatalf("made: %t, %v", isNew, err)
		}
		if made.Price.Least != 720 || made.Price.Most != 2160 || made.Every != "1h" {
			t.Errorf("the price of a month is %+v, polls every %s", made.Price, made.Every)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		again, isNew, err := monitors.Make(ctx, posts)
		if err != nil || isNew || again.LastAt == nil || again.State != watch.Active {
			t.Errorf("the same again: new %t, %+v, %v", isNew, again, err)
		}
		paused, err := monitors.Pause(ctx, "posts")
		if err != nil || paused.State != watch.Paused || paused.NextAt != nil {
			t.Errorf("paused: %+v, %v", paused, err)
		}
		n := len(charged(t, e))
		time.Sleep(3 * time.Hour)
		if more := len(charged(t, e)); more != n {
			t.Errorf("a paused monitor was charged for %d polls", more-n)
		}
		if resumed, err := monitors.Resume(ctx, "posts"); err != nil || resumed.State != watch.Active ||
			resumed.NextAt == nil {
			t.Errorf("resumed: %+v, %v", resumed, err)
		}
		time.Sleep(time.Second)
		if more := len(charged(t, e)); more <= n {
			t.Error("a resumed monitor that is due is not polled")
		}
		if err := monitors.End(ctx, "posts"); err != nil {
			t.Fatal(err)
		}
		enginetest.WantProblem(t, monitors.End(ctx, "posts"), problem.NotFound)
		_, err = monitors.Pause(ctx, "posts")
		enginetest.WantProblem(t, err, problem.NotFound)
		n = len(charged(t, e))
		time.Sleep(3 * time.Hour)
		if more := len(charged(t, e)); more != n {
			t.Errorf("an ended monitor was charged for %d polls", more-n)
		}
		var kinds []string
		for change, err := range socialdata.Walk(ctx, e.Client.Changes, socialdata.ChangesRequest{Monitor: "posts"}) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, change.Type)
		}
		if len(kinds) < 2 || kinds[0] != watch.Ready || kinds[1] != watch.New {
			t.Errorf("what it told stays: %v; want ready and then new ones", kinds)
		}
	})
}

func TestAnInvalidMonitorIsRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithMostMonitors(1)}})
	with := func(change func(*socialdata.WatchRequest)) socialdata.WatchRequest {
		r := broadcast
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name string
		req  socialdata.WatchRequest
		code problem.Code
	}{
		{"no name", with(func(r *socialdata.WatchRequest) { r.Name = "" }), problem.InvalidRequest},
		{"a bad name", with(func(r *socialdata.WatchRequest) { r.Name = "A b" }), problem.InvalidRequest},
		{"no operation", with(func(r *socialdata.WatchRequest) { r.Operation = "" }), problem.InvalidRequest},
		{"one that cannot be watched", with(func(r *socialdata.WatchRequest) { r.Operation = "followers" }), problem.InvalidRequest},
		{"no platform", with(func(r *socialdata.WatchRequest) { r.Platform = "" }), problem.InvalidRequest},
		{"an unknown platform", with(func(r *socialdata.WatchRequest) { r.Platform = "myspace" }), problem.InvalidRequest},
		{"a platform that lacks it", with(func(r *socialdata.WatchRequest) { r.Platform = platform.HackerNews }), problem.PlatformUnavailable},
		{"a search with a platform", with(func(r *socialdata.WatchRequest) { r.Operation = "search_across" }), problem.InvalidRequest},
		{"no handle", with(func(r *socialdata.WatchRequest) { r.Params = nil }), problem.InvalidRequest},
		{"an option", with(func(r *socialdata.WatchRequest) {
			r.Params = map[string]string{"handle": "ann", "fresh": "true"}
		}), problem.InvalidRequest},
		{"too often", with(func(r *socialdata.WatchRequest) { r.Every = time.Second }), problem.InvalidRequest},
		{"too seldom", with(func(r *socialdata.WatchRequest) { r.Every = 1000 * time.Hour }), problem.InvalidRequest},
		{"pages of one thing", with(func(r *socialdata.WatchRequest) { r.Pages = 2 }), problem.InvalidRequest},
		{"an invalid alert", with(func(r *socialdata.WatchRequest) { r.Alerts = []string{"viewers"} }), problem.InvalidRequest},
	} {
		_, _, err := e.Client.Monitors().Make(t.Context(), tt.req)
		if p := enginetest.WantProblem(t, err, tt.code); p.Detail == "" {
			t.Errorf("%s: no detail", tt.name)
		}
	}
	if _, _, err := e.Client.Monitors().Make(t.Context(), broadcast); err != nil {
		t.Fatal(err)
	}
	_, _, err := e.Client.Monitors().Make(t.Context(), with(func(r *socialdata.WatchRequest) { r.Name = "second" }))
	enginetest.WantProblem(t, err, problem.InvalidRequest)
	_, _, err = e.Open.Monitors().Make(t.Context(), broadcast)
	enginetest.WantProblem(t, err, problem.Unauthorized)
	for _, err := range e.Open.Watch(t.Context(), broadcast) {
		enginetest.WantProblem(t, err, problem.Unauthorized)
	}
}

func TestEachAccountSeesItsOwnMonitors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		other, _ := e.Account(t, "other", 100)
		theirs, ctx := e.Open.As(other), t.Context()
		told(t, e.Client, broadcast, 2)
		list, err := theirs.ListMonitors(ctx, socialdata.MonitorsRequest{})
		if err != nil || len(list.Data) != 0 {
			t.Errorf("monitors: %v, %v", list, err)
		}
		changes, err := theirs.Changes(ctx, socialdata.ChangesRequest{})
		if err != nil || len(changes.Data) != 0 {
			t.Errorf("changes: %v, %v", changes, err)
		}
		_, err = theirs.Changes(ctx, socialdata.ChangesRequest{Monitor: "broadcast"})
		enginetest.WantProblem(t, err, problem.NotFound)
		_, err = theirs.History(ctx, socialdata.HistoryRequest{Monitor: "broadcast", Field: "viewers"})
		enginetest.WantProblem(t, err, problem.NotFound)
		enginetest.WantProblem(t, theirs.Monitors().End(ctx, "broadcast"), problem.NotFound)
	})
}

func TestChangesWaitsAndContinues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{}), t.Context()
		told(t, e.Client, broadcast, 1)
		req := socialdata.ChangesRequest{Monitor: "broadcast", Wait: 25 * time.Second}
		var seqs []int64
		for len(seqs) < 4 {
			page, err := e.Client.Changes(ctx, req)
			if err != nil || page.Meta.NextCursor == "" || page.Meta.CreditsUsed != 0 {
				t.Fatalf("%+v, %v", page, err)
			}
			for _, c := range page.Data {
				seqs = append(seqs, c.Seq)
			}
			req.Cursor = page.Meta.NextCursor
		}
		if diff := cmp.Diff([]int64{1, 2, 3, 4}, seqs); diff != "" {
			t.Errorf("places (-want +got):\n%s", diff)
		}
		last, err := e.Client.Changes(ctx, socialdata.ChangesRequest{})
		if err != nil || last.Meta.NextCursor != "" {
			t.Errorf("who does not wait gets the cursor %q, %v", last.Meta.NextCursor, err)
		}
		_, err = e.Client.Changes(ctx, socialdata.ChangesRequest{Type: "new", Cursor: req.Cursor})
		enginetest.WantProblem(t, err, problem.InvalidRequest)
	})
}

func TestHistoryReturnsTheNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{Credits: 10_000}), t.Context()
		told(t, e.Client, broadcast, 1)
		time.Sleep(3 * time.Hour)
		raw, err := e.Client.History(ctx, socialdata.HistoryRequest{Monitor: "broadcast", Field: "viewers"})
		if err != nil || len(raw.Data) < 300 {
			t.Fatalf("%d numbers, %v; want one for each poll", len(raw.Data), err)
		}
		hours, err := e.Client.History(ctx, socialdata.HistoryRequest{Monitor: "broadcast", Field: "viewers", Step: "1h"})
		if err != nil || len(hours.Data) < 3 || len(hours.Data) > 4 {
			t.Fatalf("%d hours, %v", len(hours.Data), err)
		}
		least, most, last := raw.Data[0].Value, raw.Data[0].Value, 0.0
		for _, p := range raw.Data {
			if p.At.Before(hours.Data[0].At.Add(time.Hour)) {
				least, most, last = min(least, p.Value), max(most, p.Value), p.Value
			}
		}
		want := schema.HistoryPoint{At: raw.Data[0].At.Truncate(time.Hour), Value: last, Min: least, Max: most}
		if diff := cmp.Diff(want, hours.Data[0]); diff != "" {
			t.Errorf("the first hour (-want +got):\n%s", diff)
		}
		n := 0
		time.Sleep(8 * time.Hour) // more than a page
		for _, err := range socialdata.Walk(ctx, e.Client.History,
			socialdata.HistoryRequest{Monitor: "broadcast", Field: "viewers"}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < 1200 {
			t.Errorf("%d numbers in 11 hours", n)
		}
	})
}

func TestAMonitorThatCannotPayIsStarvedAndRecovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{Credits: 2})
		for change, err := range e.Client.Watch(t.Context(), broadcast) {
			if err != nil {
				t.Fatal(err)
			}
			if change.Type == watch.Starved {
				break
			}
		}
		if n := len(charged(t, e)); n != 2 {
			t.Errorf("charged %d times; want 2, which is all that there was", n)
		}
		if _, err := e.Ledger.Grant(t.Context(), e.Key.Account, 5, "more"); err != nil {
			t.Fatal(err)
		}
		if got := typesOf(told(t, e.Client, broadcast, 1)); got[0] != watch.Recovered {
			t.Errorf("after a grant: %v", got)
		}
	})
}

func TestARevokedKeyStopsItsMonitors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		second, key, err := e.Keys.CreateKey(t.Context(), keys.NewKey{Account: e.Key.Account, Environment: keys.Live})
		if err != nil || second == "" {
			t.Fatal(err)
		}
		told(t, e.Open.As(key), broadcast, 1)
		if _, err := e.Keys.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		page, err := e.Client.Changes(t.Context(), socialdata.ChangesRequest{Type: watch.Stopped})
		if err != nil || len(page.Data) != 1 {
			t.Errorf("told: %+v, %v; want one stopped", page, err)
		}
		for _, entry := range charged(t, e) {
			if entry.Key == key.ID && entry.At.Before(time.Now().Add(-24*time.Hour)) {
				t.Errorf("charged: %+v", entry)
			}
		}
		list, err := e.Client.ListMonitors(t.Context(), socialdata.MonitorsRequest{})
		if err != nil || list.Data[0].State != watch.Stopped || list.Data[0].Problem == nil {
			t.Errorf("monitors: %+v, %v", list, err)
		}
	})
}

// TestWatchEndsWithItsContext checks that the monitor continues when the context of a caller who watches ends.
func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var last error
		for change, err := range e.Client.Watch(ctx, broadcast) {
			if last = err; err == nil && change.Type != watch.Ready {
				t.Errorf("told: %+v", change)
			}
		}
		enginetest.WantProblem(t, last, problem.UpstreamTimeout)
	})
}

func TestAClientWithoutAccountsIsOneAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background()) //nolint:errcheck // the test looks at changes
		req := broadcast
		req.Name = "" // a name derived from the call
		if got := typesOf(told(t, c, req, 2)); got[1] != watch.Changed {
			t.Errorf("told: %v", got)
		}
		list, err := c.Monitors().List(t.Context(), socialdata.MonitorsRequest{})
		if err != nil || len(list.Data) != 1 || list.Data[0].Name[:6] != "watch-" {
			t.Errorf("monitors: %+v, %v", list, err)
		}
	})
}

func TestASearchOfSeveralPlatformsIsWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		req := socialdata.WatchRequest{
			Name: "tea", Operation: "search_across", Params: map[string]string{"query": "tea", "platforms": "mock"},
		}
		if got := typesOf(told(t, e.Client, req, 1)); got[0] != watch.Ready {
			t.Errorf("told: %v", got)
		}
		if entries := charged(t, e); len(entries) == 0 || entries[0].Operation != "search" {
			t.Errorf("charged: %+v", entries)
		}
	})
}

// TestEraseReachesWhatMonitorsKeep checks that erasures also erase from monitors, in memory and in a store that was
// passed in.
func TestEraseReachesWhatMonitorsKeep(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]socialdata.Option{
		"in memory": nil, "in a store": {socialdata.WithWatches(watch.NewMemory())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ctx := enginetest.New(t, enginetest.Config{Options: opts}), t.Context()
			e.Monitor(t)
			if _, err := e.Open.Erase(ctx,
				socialdata.EraseRequest{Platform: platform.Mock, Handle: "salma_haddad", Block: true}); err != nil {
				t.Fatal(err)
			}
			numbers, err := e.Client.History(ctx, socialdata.HistoryRequest{Monitor: "salma", Field: "followers"})
			if err == nil && len(numbers.Data) > 0 {
				t.Errorf("history: %+v", numbers.Data)
			}
			changes, err := e.Client.Changes(ctx, socialdata.ChangesRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes.Data {
				if c.Key != nil || string(c.Object) != "null" && len(c.Object) > 0 {
					t.Errorf("told: %+v", c)
				}
			}
			list, err := e.Client.ListMonitors(ctx, socialdata.MonitorsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Data {
				if m.Params["handle"] == "salma_haddad" {
					t.Errorf("monitors: %+v", m)
				}
			}
		})
	}
}
