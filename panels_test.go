package socialdata_test

import (
	"context"
	"fmt"
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
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// crowd returns a panel of n profiles.
func crowd(n int) accounts.WatchRequest {
	var handles []string
	for i := range n {
		handles = append(handles, fmt.Sprintf("member%04d", i))
	}
	return accounts.WatchRequest{
		Name: "crowd", Operation: "profile", Platform: platform.Mock, Each: map[string][]string{"handle": handles},
		Every: 24 * time.Hour,
	}
}

// counted returns the sandbox as an upstream that answers for up to 100 profiles in one request, and counts its requests.
func counted(together, alone *enginetest.Counter) []providers.Provider {
	chain := mock.New(mock.Config{Faults: true})
	p := &chain[0]
	one := p.Profile
	p.Batches.Profile = providers.Batch[schema.Profile]{
		Most: 100, Read: func(ctx context.Context, keys []string) (map[string]schema.Profile, error) {
			together.Add()
			found := map[string]schema.Profile{}
			for _, key := range keys {
				profile, err := one(ctx, key)
				if err != nil {
					return nil, err
				}
				found[key] = profile
			}
			return found, nil
		},
	}
	p.Profile = func(ctx context.Context, handle string) (schema.Profile, error) {
		alone.Add()
		return one(ctx, handle)
	}
	return chain
}

// covered waits until no member of a monitor is unread for longer than a minute, and returns it.
func covered(t *testing.T, c *socialdata.Client) schema.Monitor {
	t.Helper()
	time.Sleep(time.Minute) // of the bubble
	list, err := c.Account().Monitors().List(t.Context(), accounts.MonitorsRequest{})
	if err != nil || len(list.Data) != 1 {
		t.Fatalf("%d monitors, %v; want one", len(list.Data), err)
	}
	return list.Data[0]
}

// typesIn returns how many changes of each type are in the feed, and of how many members.
func typesIn(t *testing.T, c *socialdata.Client) (types map[string]int, members map[string]bool) {
	t.Helper()
	types, members = map[string]int{}, map[string]bool{}
	ofCrowd := accounts.ChangesRequest{Monitor: "crowd"}
	for _, change := range items(t, socialdata.Walk(t.Context(), c.Account().Changes, ofCrowd)) {
		if types[change.Type]++; change.Member != nil {
			members[*change.Member] = true
		}
	}
	return types, members
}

// TestAPanelIsReadWithFewRequests polls a panel of 1,000 profiles, and restarts the process before the next tick.
func TestAPanelIsReadWithFewRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, together, alone := watch.NewMemory(), &enginetest.Counter{}, &enginetest.Counter{}
		cfg := enginetest.Config{
			Credits: 5000, Providers: counted(together, alone),
			Options: []socialdata.Option{socialdata.WithWatches(store)},
		}
		e := watching(t, cfg)
		made, err := e.Client.Account().Monitors().Make(t.Context(), crowd(1000))
		if err != nil {
			t.Fatal(err)
		}
		if want := (schema.MonitorPrice{Least: 1000, Most: 1000}); made.PricePoll != want || made.Price.Most != 30_000 {
			t.Errorf("a poll costs %+v, a month %+v; want %+v and at most 30,000", made.PricePoll, made.Price, want)
		}
		m := covered(t, e.Client)
		if diff := cmp.Diff(&schema.MonitorCoverage{Members: 1000, Read: 1000}, m.Coverage); diff != "" {
			t.Errorf("coverage (-want +got):\n%s", diff)
		}
		if together.Count() != 10 || alone.Count() != 0 {
			t.Errorf("%d requests for several and %d for one; want 10 and 0", together.Count(), alone.Count())
		}
		sum := int64(0)
		for _, entry := range charged(t, e) {
			sum -= entry.Amount
		}
		if sum != 1000 || m.Credits != 1000 {
			t.Errorf("%d credits charged, and %d in the monitor; want those of a poll", sum, m.Credits)
		}
		types, members := typesIn(t, e.Client)
		if types[watch.Ready] != 1000 || len(members) != 1000 {
			t.Errorf("changes %v of %d members; want one ready of each of 1000", types, len(members))
		}
		if err := e.Client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		cfg.Options = append(cfg.Options, socialdata.WithKeys(e.Keys), socialdata.WithLedger(e.Ledger))
		second := watching(t, cfg)
		again := second.Open.As(e.Key)
		covered(t, again)
		if together.Count() != 10 {
			t.Errorf("after a restart, %d requests; want no more for the same tick", together.Count())
		}
		time.Sleep(24 * time.Hour)
		if m = covered(t, again); together.Count() != 20 || alone.Count() != 0 || m.Coverage.Read != 1000 {
			t.Errorf("then %d and %d requests, %+v; want 20, 0 and 1000 read", together.Count(), alone.Count(), m.Coverage)
		}
	})
}

// TestCreditsThatRunOutLeaveMembersUnread polls a panel with credits for a part of it.
func TestCreditsThatRunOutLeaveMembersUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{Credits: 60})
		if _, err := e.Client.Account().Monitors().Make(t.Context(), crowd(150)); err != nil {
			t.Fatal(err)
		}
		m := covered(t, e.Client)
		want := &schema.MonitorCoverage{Members: 150, Read: 60, Unread: 90}
		if diff := cmp.Diff(want, m.Coverage); diff != "" || m.State != watch.Starved || m.Credits != 60 {
			t.Errorf("the panel is %s with %d credits (-want +got):\n%s", m.State, m.Credits, diff)
		}
		if m.Problem == nil || m.Problem.Code != string(problem.InsufficientCredits) {
			t.Errorf("its problem is %+v; want %s", m.Problem, problem.InsufficientCredits)
		}
		types, _ := typesIn(t, e.Client)
		if diff := cmp.Diff(map[string]int{watch.Ready: 60, watch.Starved: 1}, types); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		if _, err := e.Ledger.Grant(t.Context(), e.Key.Account, 90, "more"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		if m = covered(t, e.Client); m.Coverage.Unread != 60 {
			t.Errorf("with credits for 90 of 150: %+v; want 60 unread", m.Coverage)
		}
		// The last of the unread ones are in a group with some that were read, whose polls begin at the same time.
		if _, members := typesIn(t, e.Client); len(members) < 125 { // by chance it would be some 114
			t.Errorf("%d members were ever read; want those unread for longest first", len(members))
		}
	})
}

func TestMembersThatFailAreNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		req := crowd(3)
		req.Each["handle"] = append(req.Each["handle"], "not_found", "upstream_error", "MEMBER0001", " member0002 ")
		if _, err := e.Client.Account().Monitors().Make(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		m := covered(t, e.Client)
		if m.Coverage.Read < 3 || m.Coverage.Read+m.Coverage.Failed != m.Coverage.Members || m.State != watch.Active {
			t.Errorf("the panel is %s with %+v; want it active, and every member read or failed", m.State, m.Coverage)
		}
		list, err := e.Client.Account().Monitors().List(t.Context(), accounts.MonitorsRequest{Panel: "crowd"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Data {
			if failed := *m.Member == "not_found" || *m.Member == "upstream_error"; failed != (m.Problem != nil) || m.Name != "crowd" {
				t.Errorf("member %s of %s has the problem %+v; want one: %t", *m.Member, m.Name, m.Problem, failed)
			}
		}
		history, err := e.Client.Account().History(t.Context(),
			accounts.HistoryRequest{Monitor: "crowd", Member: "member0000", Field: "followers"})
		if err != nil || len(history.Data) != 1 {
			t.Errorf("the history of a member: %v, %v; want one number", history, err)
		}
		time.Sleep(5 * 24 * time.Hour)
		types, _ := typesIn(t, e.Client)
		if types[watch.Failing] == 0 || types[watch.Failing] > 2 {
			t.Errorf("changes %v; want one for members that fail at the same time", types)
		}
	})
}

func TestInvalidPanelsAreRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	monitors := e.Client.Account().Monitors()
	for _, tt := range []struct {
		name   string
		change func(*accounts.WatchRequest)
		want   string
	}{
		{"no members", func(r *accounts.WatchRequest) { r.Each["handle"] = []string{} }, "from 1 to 1000"},
		{"too many members", func(r *accounts.WatchRequest) { *r = crowd(1001) }, "it has 1001"},
		{"two parameters", func(r *accounts.WatchRequest) { r.Each["id"] = []string{"1"} }, "one parameter"},
		{"an unknown parameter", func(r *accounts.WatchRequest) { r.Each = map[string][]string{"handel": {"a"}} }, "handel"},
		{"an option", func(r *accounts.WatchRequest) { r.Each = map[string][]string{"fresh": {"true"}} }, "fresh"},
		{"the parameter twice", func(r *accounts.WatchRequest) { r.Params = map[string]string{"handle": "a"} }, "leave one out"},
		{"a bad member", func(r *accounts.WatchRequest) { r.Each["handle"][1] = "a b" }, `"a b"`},
		{"a search of several platforms", func(r *accounts.WatchRequest) {
			*r = accounts.WatchRequest{Name: "s", Operation: "search_across", Each: map[string][]string{"query": {"a"}}}
		}, "one platform"},
		{"times that are too close", func(r *accounts.WatchRequest) { r.Cron = "*/5 * * * *" }, "least interval"},
	} {
		req := crowd(3)
		tt.change(&req)
		_, err := monitors.Make(t.Context(), req)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", tt.name, err, tt.want)
		}
	}
	req := crowd(3)
	req.DryRun, req.Cron = true, "0 9 * * * Europe/Berlin"
	m, err := monitors.Make(t.Context(), req)
	if err != nil || m.PricePoll.Most != 3 || m.Price.Most < 89 || m.Price.Most > 91 || m.Every != req.Cron {
		t.Errorf("estimated: %+v, %v; want 3 credits a poll, about 90 a month, and %s", m, err, req.Cron)
	}
	if list, err := monitors.List(t.Context(), accounts.MonitorsRequest{}); err != nil || len(list.Data) != 0 {
		t.Errorf("an estimate has made %d monitors, %v; want none", len(list.Data), err)
	}
}
