package socialdata_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// broadcast watches what changes every 20 seconds.
var broadcast = accounts.WatchRequest{
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
func told(t *testing.T, c *socialdata.Client, req accounts.WatchRequest, n int) []schema.Change {
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
			t.Errorf("the changes came after %v, want a minute at most", took)
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
		list, err := e.Client.Account().Monitors().List(t.Context(), accounts.MonitorsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		want := []schema.Monitor{{
			Name: "broadcast", Operation: "live", Platform: new("mock"), Params: map[string]string{"handle": "lively"},
			Every: "30s", Pages: 1, Fields: []string{}, Alerts: []string{}, State: watch.Active, Credits: int64(len(entries)),
			PricePoll: schema.MonitorPrice{Least: 1, Most: 1}, Price: schema.MonitorPrice{Least: 86400, Most: 86400},
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
			t.Errorf("after change %d come %d and %d; want the next two", got[1].Seq, later[0].Seq, later[1].Seq)
		}
	})
}

func TestMonitorsAreMadeChangedAndEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{}), t.Context()
		monitors := e.Client.Account().Monitors()
		posts := accounts.WatchRequest{
			Name: "posts", Operation: "posts", Platform: platform.Mock, Params: map[string]string{"handle": "lively"},
			Pages: 3, Follow: 5, Every: time.Hour,
		}
		made, err := monitors.Make(ctx, posts)
		if err != nil || !made.New {
			t.Fatalf("made: new %t, %v; want a new one", made.New, err)
		}
		if made.Price.Least != 720 || made.Price.Most != 2160 || made.Every != "1h" {
			t.Errorf("the price of a month is %+v, polls every %s; want 720 to 2160, every 1h", made.Price, made.Every)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		again, err := monitors.Make(ctx, posts)
		if err != nil || again.New || again.LastAt == nil || again.State != watch.Active {
			t.Errorf("the same again: new %t, %+v, %v; want the active one, with a poll", again.New, again, err)
		}
		paused, err := monitors.Pause(ctx, "posts")
		if err != nil || paused.State != watch.Paused || paused.NextAt != nil {
			t.Errorf("got %+v, %v; want it paused, without a next poll", paused, err)
		}
		n := len(charged(t, e))
		time.Sleep(3 * time.Hour)
		if more := len(charged(t, e)); more != n {
			t.Errorf("a paused monitor was charged for %d polls", more-n)
		}
		if resumed, err := monitors.Resume(ctx, "posts"); err != nil || resumed.State != watch.Active ||
			resumed.NextAt == nil {
			t.Errorf("got %+v, %v; want it active, with a next poll", resumed, err)
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
		kinds := typesOf(items(t, socialdata.Walk(ctx, e.Client.Account().Changes, accounts.ChangesRequest{Monitor: "posts"})))
		if len(kinds) < 2 || kinds[0] != watch.Ready || kinds[1] != watch.New {
			t.Errorf("changes of an ended monitor: got %v, want ready and then new ones", kinds)
		}
	})
}

func TestAnInvalidMonitorIsRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithMostMonitors(1)}})
	with := func(change func(*accounts.WatchRequest)) accounts.WatchRequest {
		r := broadcast
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name string
		req  accounts.WatchRequest
		code problem.Code
	}{
		{"no name", with(func(r *accounts.WatchRequest) { r.Name = "" }), problem.InvalidRequest},
		{"a bad name", with(func(r *accounts.WatchRequest) { r.Name = "A b" }), problem.InvalidRequest},
		{"no operation", with(func(r *accounts.WatchRequest) { r.Operation = "" }), problem.InvalidRequest},
		{"one that cannot be watched", with(func(r *accounts.WatchRequest) { r.Operation = "followers" }), problem.InvalidRequest},
		{"no platform", with(func(r *accounts.WatchRequest) { r.Platform = "" }), problem.InvalidRequest},
		{"an unknown platform", with(func(r *accounts.WatchRequest) { r.Platform = "myspace" }), problem.InvalidRequest},
		{"a platform that lacks it", with(func(r *accounts.WatchRequest) { r.Platform = platform.HackerNews }), problem.PlatformUnavailable},
		{"a search with a platform", with(func(r *accounts.WatchRequest) { r.Operation = "search_across" }), problem.InvalidRequest},
		{"no handle", with(func(r *accounts.WatchRequest) { r.Params = nil }), problem.InvalidRequest},
		{"an option", with(func(r *accounts.WatchRequest) {
			r.Params = map[string]string{"handle": "ann", "fresh": "true"}
		}), problem.InvalidRequest},
		{"too often", with(func(r *accounts.WatchRequest) { r.Every = time.Second }), problem.InvalidRequest},
		{"too seldom", with(func(r *accounts.WatchRequest) { r.Every = 1000 * time.Hour }), problem.InvalidRequest},
		{"pages of one thing", with(func(r *accounts.WatchRequest) { r.Pages = 2 }), problem.InvalidRequest},
		{"an invalid alert", with(func(r *accounts.WatchRequest) { r.Alerts = []string{"viewers"} }), problem.InvalidRequest},
	} {
		_, err := e.Client.Account().Monitors().Make(t.Context(), tt.req)
		if p := enginetest.WantProblem(t, err, tt.code); p.Detail == "" {
			t.Errorf("%s: no detail", tt.name)
		}
	}
	if _, err := e.Client.Account().Monitors().Make(t.Context(), broadcast); err != nil {
		t.Fatal(err)
	}
	_, err := e.Client.Account().Monitors().Make(t.Context(), with(func(r *accounts.WatchRequest) { r.Name = "second" }))
	enginetest.WantProblem(t, err, problem.InvalidRequest)
	_, err = e.Open.Account().Monitors().Make(t.Context(), broadcast)
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
		list, err := theirs.Account().Monitors().List(ctx, accounts.MonitorsRequest{})
		if err != nil || len(list.Data) != 0 {
			t.Errorf("monitors: %v, %v; want none", list, err)
		}
		changes, err := theirs.Account().Changes(ctx, accounts.ChangesRequest{})
		if err != nil || len(changes.Data) != 0 {
			t.Errorf("changes: %v, %v; want none", changes, err)
		}
		_, err = theirs.Account().Changes(ctx, accounts.ChangesRequest{Monitor: "broadcast"})
		enginetest.WantProblem(t, err, problem.NotFound)
		_, err = theirs.Account().History(ctx, accounts.HistoryRequest{Monitor: "broadcast", Field: "viewers"})
		enginetest.WantProblem(t, err, problem.NotFound)
		enginetest.WantProblem(t, theirs.Account().Monitors().End(ctx, "broadcast"), problem.NotFound)
	})
}

func TestChangesWaitsAndContinues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{}), t.Context()
		told(t, e.Client, broadcast, 1)
		req := accounts.ChangesRequest{Monitor: "broadcast", Wait: 25 * time.Second}
		var seqs []int64
		for len(seqs) < 4 {
			page, err := e.Client.Account().Changes(ctx, req)
			if err != nil || page.Meta.NextCursor == "" || page.Meta.CreditsUsed != 0 {
				t.Fatalf("got %+v, %v; want a cursor, for free", page, err)
			}
			for _, c := range page.Data {
				seqs = append(seqs, c.Seq)
			}
			req.Cursor = page.Meta.NextCursor
		}
		if diff := cmp.Diff([]int64{1, 2, 3, 4}, seqs); diff != "" {
			t.Errorf("numbers of the changes (-want +got):\n%s", diff)
		}
		last, err := e.Client.Account().Changes(ctx, accounts.ChangesRequest{})
		if err != nil || last.Meta.NextCursor != "" {
			t.Errorf("without a wait: got the cursor %q, %v; want none", last.Meta.NextCursor, err)
		}
		_, err = e.Client.Account().Changes(ctx, accounts.ChangesRequest{Type: "new", Page: socialdata.Page{Cursor: req.Cursor}})
		enginetest.WantProblem(t, err, problem.InvalidRequest)
	})
}

func TestHistoryReturnsTheNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, ctx := watching(t, enginetest.Config{Credits: 10_000}), t.Context()
		told(t, e.Client, broadcast, 1)
		time.Sleep(3 * time.Hour)
		raw, err := e.Client.Account().History(ctx, accounts.HistoryRequest{Monitor: "broadcast", Field: "viewers"})
		if err != nil || len(raw.Data) < 300 {
			t.Fatalf("%d numbers, %v; want one for each poll", len(raw.Data), err)
		}
		hours, err := e.Client.Account().History(ctx, accounts.HistoryRequest{Monitor: "broadcast", Field: "viewers", Step: "1h"})
		if err != nil || len(hours.Data) < 3 || len(hours.Data) > 4 {
			t.Fatalf("got %d hours, %v; want 3 or 4", len(hours.Data), err)
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
		time.Sleep(8 * time.Hour) // more than a page
		n := len(items(t, socialdata.Walk(ctx, e.Client.Account().History,
			accounts.HistoryRequest{Monitor: "broadcast", Field: "viewers"})))
		if n < 1200 {
			t.Errorf("got %d numbers of 11 hours, want 1,200 or more", n)
		}
	})
}

func TestMonitorsPauseWithoutCreditsAndRecover(t *testing.T) {
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
			t.Errorf("after a grant: got %v, want recovered first", got)
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
		page, err := e.Client.Account().Changes(t.Context(), accounts.ChangesRequest{Type: watch.Stopped})
		if err != nil || len(page.Data) != 1 {
			t.Errorf("changes: got %+v, %v; want one stopped", page, err)
		}
		for _, entry := range charged(t, e) {
			if entry.Key == key.ID && entry.At.Before(time.Now().Add(-24*time.Hour)) {
				t.Errorf("charged: %+v; want nothing for the revoked key", entry)
			}
		}
		list, err := e.Client.Account().Monitors().List(t.Context(), accounts.MonitorsRequest{})
		if err != nil || list.Data[0].State != watch.Stopped || list.Data[0].Problem == nil {
			t.Errorf("monitors: %+v, %v; want a stopped one with its problem", list, err)
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
				t.Errorf("got %+v, want only ready", change)
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
			t.Errorf("changes: got %v, want changed second", got)
		}
		list, err := c.Account().Monitors().List(t.Context(), accounts.MonitorsRequest{})
		if err != nil || len(list.Data) != 1 || list.Data[0].Name[:6] != "watch-" {
			t.Errorf("monitors: %+v, %v; want one named watch-…", list, err)
		}
	})
}

func TestASearchOfSeveralPlatformsIsWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		req := accounts.WatchRequest{
			Name: "tea", Operation: "search_across", Params: map[string]string{"query": "tea", "platforms": "mock"},
		}
		if got := typesOf(told(t, e.Client, req, 1)); got[0] != watch.Ready {
			t.Errorf("changes: got %v, want ready first", got)
		}
		if entries := charged(t, e); len(entries) == 0 || entries[0].Operation != "search" {
			t.Errorf("charged: %+v; want a search first", entries)
		}
	})
}

// TestEraseRemovesTheDataOfMonitors checks that erasures also erase from monitors, in memory and in a store that was
// passed in.
func TestEraseRemovesTheDataOfMonitors(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]socialdata.Option{
		"in memory": nil, "in a store": {socialdata.WithWatches(watch.NewMemory())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ctx := enginetest.New(t, enginetest.Config{Options: opts}), t.Context()
			e.Monitor(t)
			if _, err := e.Open.Operator().Erase(ctx,
				schema.EraseRequest{Platform: platform.Mock, Handle: "salma_haddad", Block: true}); err != nil {
				t.Fatal(err)
			}
			numbers, err := e.Client.Account().History(ctx, accounts.HistoryRequest{Monitor: "salma", Field: "followers"})
			if err == nil && len(numbers.Data) > 0 {
				t.Errorf("history: %+v; want none", numbers.Data)
			}
			changes, err := e.Client.Account().Changes(ctx, accounts.ChangesRequest{})
			if err != nil {
				t.Fatal(err)
			}
			stopped := slices.DeleteFunc(slices.Clone(changes.Data), func(c schema.Change) bool { return c.Type != watch.Stopped })
			if len(stopped) != 1 || stopped[0].Monitor == nil || *stopped[0].Monitor != "salma" || stopped[0].Detail == nil {
				t.Errorf("got %+v, want one stopped of salma with a detail", stopped)
			}
			for _, c := range changes.Data {
				if c.Key != nil || string(c.Object) != "null" && len(c.Object) > 0 {
					t.Errorf("got %+v, want neither key nor object after the erasure", c)
				}
			}
			list, err := e.Client.Account().Monitors().List(ctx, accounts.MonitorsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Data {
				if m.Params["handle"] == "salma_haddad" {
					t.Errorf("monitors: got %+v, want none of salma_haddad", m)
				}
			}
		})
	}
}

// TestEveryPollReadsTheUpstream checks that a poll is not answered by the read of the poll before it: a
// monitor would be charged for every second poll and see nothing new.
func TestEveryPollReadsTheUpstream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		req  accounts.WatchRequest
	}{
		{"every 30 seconds", broadcast},
		{"every 15 minutes", accounts.WatchRequest{
			Name: "posts", Operation: "posts", Platform: platform.Mock, Params: map[string]string{"handle": "ann"},
			Every: 15 * time.Minute, Pages: 1,
		}},
		{"a search of several platforms", accounts.WatchRequest{
			Name: "tea", Operation: "search_across", Params: map[string]string{"query": "tea", "platforms": "mock"},
			Every: 15 * time.Minute, Pages: 1,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sandbox := mock.New(mock.Config{})
				for i := range sandbox {
					p := sandbox[i]
					sandbox[i].Live = func(ctx context.Context, handle string) (schema.LiveStream, error) {
						time.Sleep(time.Second)
						return p.Live(ctx, handle)
					}
					sandbox[i].Posts = func(ctx context.Context, handle, cursor string) (providers.Page[schema.Post], error) {
						time.Sleep(time.Second)
						return p.Posts(ctx, handle, cursor)
					}
					sandbox[i].Search = func(
						ctx context.Context, q providers.SearchQuery, cursor string,
					) (providers.Page[schema.SearchResult], error) {
						time.Sleep(time.Second)
						return p.Search(ctx, q, cursor)
					}
				}
				e := watching(t, enginetest.Config{Providers: sandbox})
				if _, err := e.Client.Account().Monitors().Make(t.Context(), tt.req); err != nil {
					t.Fatal(err)
				}
				const polls = 10
				time.Sleep(polls * tt.req.Every)
				charges := e.Charges(t)
				if n := len(charges); n < polls || n > polls+1 { // the first poll is made at once
					t.Errorf("%d charges in %d intervals; want as many, or one more", n, polls)
				}
				for i, c := range charges {
					// The second poll may come soon after the first one, which is made at once.
					if want := enginetest.Charged(1, c.Operation, "mock", "MISS"); c != want && i != 1 {
						t.Errorf("poll %d: %+v; want %+v", i, c, want)
					}
				}
				logged, err := e.Open.Operator().Requests(t.Context(), e.Key.Account, accounts.RequestsRequest{}, 1000)
				if err != nil || len(logged) < polls {
					t.Errorf("%d calls are logged, %v; want %d or more", len(logged), err, polls)
				}
				for _, r := range logged {
					if r.Source != string(schema.FromMonitor) {
						t.Errorf("a poll is logged with the source %q; want %q", r.Source, schema.FromMonitor)
					}
				}
			})
		})
	}
}
