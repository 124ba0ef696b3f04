// Package watchtest is the test suite for implementations of [watch.Store].
//
//	func TestWatches(t *testing.T) {
//		watchtest.Run(t, func(t *testing.T) watch.Store { return openTemp(t).Watches() })
//	}
package watchtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Open returns a new, empty store. It cleans up through t.
type Open func(t *testing.T) watch.Store

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	topics := []struct {
		name string
		test func(t *testing.T, s watch.Store)
	}{
		{"put and read", testPut},
		{"accounts are apart", testAccounts},
		{"as many as an account may have", testFull},
		{"as many at once as an account may have", testFullConcurrently},
		{"another call starts over", testAnew},
		{"the position of the only reader", testProcessed},
		{"claims", testClaims},
		{"one of many callers gets a monitor", testClaimConcurrently},
		{"leases", testLeases},
		{"pause and end", testPause},
		{"commit", testCommit},
		{"the feed", testFeed},
		{"positions have no gaps under concurrent commits", testFeedConcurrently},
		{"the feed of a monitor", testMonitorFeed},
		{"samples", testSamples},
		{"sweep", testSweep},
		{"a feed is limited in bytes", testBytes},
		{"content is kept as long as its platform allows", testContent},
		{"stored data is counted", testKept},
		{"of an object that is gone, only that is kept", testGone},
		{"what holds a subject is erased", testErase},
		{"texts that cannot be stored", testTexts},
		{"sweeps and erasures beside polls and deliveries", testEverythingConcurrently},
	}
	for _, topic := range slices.Concat(topics, panelTopics, outboxTopics) {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			topic.test(t, open(t))
		})
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// monitor returns a monitor of an account that is due at noon.
func monitor(account, name string) watch.Monitor {
	m := watch.Monitor{
		Account: account, Name: name, Key: "key_" + account, CreatedAt: noon.Add(-time.Hour),
		Definition: watch.Definition{
			Ask:   watch.Ask{Operation: "posts", Platform: "mock", Params: map[string]string{"handle": "ann"}, List: true},
			Every: 15 * time.Minute, Pages: 2, Follow: 5, Fields: []string{"text"}, Alerts: []string{},
		},
	}
	m.NextAt = noon
	return m
}

func put(t *testing.T, s watch.Store, m watch.Monitor) watch.Monitor {
	t.Helper()
	stored, _, err := s.Put(t.Context(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func claim(t *testing.T, s watch.Store, at time.Time, n int) []watch.Claim {
	t.Helper()
	got, err := s.Claim(t.Context(), at, n, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// claimOne claims the only monitor that is due.
func claimOne(t *testing.T, s watch.Store, at time.Time) watch.Claim {
	t.Helper()
	got := claim(t, s, at, 10)
	if len(got) != 1 {
		t.Fatalf("%d monitors are due at %v; want 1", len(got), at)
	}
	return got[0]
}

// poll returns the result of a poll with n changes.
func poll(c watch.Claim, at time.Time, n int) watch.Poll {
	p := watch.Poll{Claim: c, Progress: c.Monitor.Progress}
	p.Progress.LastAt, p.Progress.NextAt = at, at.Add(15*time.Minute)
	p.Progress.Polls++
	for i := range n {
		p.Changes = append(p.Changes,
			change(c.Monitor.Name, fmt.Sprintf("%s-%d-%d", c.Monitor.Name, p.Progress.Polls, i), at))
	}
	return p
}

func change(monitor, id string, at time.Time) schema.Change {
	return schema.Change{
		ID: "chg_" + id, At: at, Monitor: new(monitor), Type: watch.New, Platform: new("mock"), Operation: new("posts"),
		Key: new(id), Object: json.RawMessage(`{"id":"` + id + `"}`), Fields: []schema.FieldChange{},
	}
}

func commit(t *testing.T, s watch.Store, p watch.Poll) {
	t.Helper()
	if err := s.Commit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func testPut(t *testing.T, s watch.Store) {
	t.Helper()
	m := monitor("ann", "posts")
	stored, made, err := s.Put(t.Context(), m, 10)
	if err != nil || !made {
		t.Fatalf("Put = %v, %v; want a new monitor", made, err)
	}
	want := m
	want.Baseline, want.State = 1, watch.Active
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("Put (-want +got):\n%s", diff)
	}
	got, err := s.Monitor(t.Context(), "ann", "posts")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Monitor (-want +got):\n%s", diff)
	}
	m.Every, m.Alerts, m.CreatedAt = time.Hour, []string{"likes:5"}, noon
	stored, made, err = s.Put(t.Context(), m, 10)
	want.Every, want.Alerts = m.Every, m.Alerts // CreatedAt does not change
	if err != nil || made {
		t.Fatalf("Put over a monitor = %v, %v", made, err)
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("Put over a monitor (-want +got):\n%s", diff)
	}
	got.Params["handle"] = "bob" // values are copied
	if again, err := s.Monitor(t.Context(), "ann", "posts"); err != nil || again.Params["handle"] != "ann" {
		t.Errorf("the returned value is shared with the store: %v, %v", again.Params, err)
	}
	if _, err := s.Monitor(t.Context(), "ann", "other"); !errors.Is(err, watch.ErrAbsent) {
		t.Errorf("an unknown monitor: %v; want ErrAbsent", err)
	}
}

func testAccounts(t *testing.T, s watch.Store) {
	t.Helper()
	for _, account := range []string{"ann", "bob"} {
		for _, name := range []string{"c", "a", "b"} {
			put(t, s, monitor(account, name))
		}
	}
	names := func(after string, limit int) (out []string) {
		t.Helper()
		got, err := s.Monitors(t.Context(), "ann", "", after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			out = append(out, m.Account+"/"+m.Name)
		}
		return out
	}
	for _, tt := range []struct {
		after string
		limit int
		want  []string
	}{
		{"", 0, []string{"ann/a", "ann/b", "ann/c"}},
		{"", 2, []string{"ann/a", "ann/b"}},
		{"b", 2, []string{"ann/c"}},
		{"c", 0, nil},
	} {
		if diff := cmp.Diff(tt.want, names(tt.after, tt.limit)); diff != "" {
			t.Errorf("Monitors behind %q (-want +got):\n%s", tt.after, diff)
		}
	}
	c := claim(t, s, noon, 10)
	for i := range c {
		commit(t, s, poll(c[i], noon, 1))
	}
	got, err := s.Changes(t.Context(), watch.Since{Account: "carl"})
	if err != nil || len(got) != 0 {
		t.Errorf("an account without monitors has the changes %v, %v", got, err)
	}
	if got, err = s.Changes(t.Context(), watch.Since{Account: "bob"}); err != nil || len(got) != 3 {
		t.Errorf("bob has %d changes, %v; want those of 3 monitors", len(got), err)
	}
}

func testFull(t *testing.T, s watch.Store) {
	t.Helper()
	for i := range 3 {
		if _, _, err := s.Put(t.Context(), monitor("ann", fmt.Sprint("m", i)), 3); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Put(t.Context(), monitor("ann", "m3"), 3); !errors.Is(err, watch.ErrFull) {
		t.Errorf("a fourth of three: %v; want ErrFull", err)
	}
	if _, made, err := s.Put(t.Context(), monitor("ann", "m0"), 3); err != nil || made {
		t.Errorf("an existing one: %v, %v", made, err)
	}
	if _, _, err := s.Put(t.Context(), monitor("bob", "m0"), 3); err != nil {
		t.Errorf("another account: %v", err)
	}
	if err := s.End(t.Context(), "ann", "m1"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(t.Context(), monitor("ann", "m3"), 3); err != nil {
		t.Errorf("in the place of one that was ended: %v", err)
	}
}

func testAnew(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "posts"))
	c := claimOne(t, s, noon)
	p := poll(c, noon, 1)
	p.Progress.Snapshot = watch.Snapshot{Key: "1", At: noon}
	p.Progress.Month, p.Progress.Credits = "2026-03", 7
	commit(t, s, p)
	late := claimOne(t, s, noon.Add(20*time.Minute))

	m := monitor("ann", "posts")
	m.Fields = []string{"text", "lang"}
	if got := put(t, s, m); got.Baseline != 1 || got.Polls != 1 || got.Snapshot.Key != "1" {
		t.Errorf("other fields change the baseline to %d, with %d polls", got.Baseline, got.Polls)
	}
	m.Params, m.NextAt = map[string]string{"handle": "bob"}, noon.Add(time.Hour)
	got := put(t, s, m)
	if got.Baseline != 2 || got.Polls != 0 || !got.Snapshot.At.IsZero() || !got.NextAt.Equal(m.NextAt) ||
		got.Credits != 7 {
		t.Errorf("another call: baseline %d, %d polls, next %v, %d credits", got.Baseline, got.Polls, got.NextAt,
			got.Credits)
	}
	if err := s.Commit(t.Context(), poll(late, noon.Add(20*time.Minute), 1)); !errors.Is(err, watch.ErrLease) {
		t.Errorf("a poll of the old call is committed: %v; want ErrLease", err)
	}
	if got := claim(t, s, noon.Add(30*time.Minute), 10); len(got) != 0 {
		t.Errorf("%d monitors are due before their time", len(got))
	}
	if c := claimOne(t, s, noon.Add(time.Hour)); c.Monitor.Baseline != 2 {
		t.Errorf("the claim is of the baseline %d", c.Monitor.Baseline)
	}
}

func testProcessed(t *testing.T, s watch.Store) {
	t.Helper()
	heard := func(seq int64) watch.Monitor {
		m := monitor("ann", "a")
		m.Processed, m.Params, m.Paused = seq, nil, false
		return m
	}
	if _, _, err := s.Put(t.Context(), heard(1), 0); !errors.Is(err, watch.ErrAbsent) {
		t.Fatalf("the position of an unknown monitor: %v; want ErrAbsent", err)
	}
	m := monitor("ann", "a")
	m.Caps.Day = new(int64(7))
	put(t, s, m)
	want, err := s.Pause(t.Context(), "ann", "a", true, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []int64{5, 3} { // it is never lowered
		put(t, s, heard(seq))
	}
	want.Processed = 5
	got, err := s.Monitor(t.Context(), "ann", "a")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("after both, %v (-want +got):\n%s", err, diff)
	}
	if got := put(t, s, m); got.Processed != 5 {
		t.Errorf("after another definition, %d has been processed; want 5", got.Processed)
	}
}

func testClaims(t *testing.T, s watch.Store) {
	t.Helper()
	for i := range 4 {
		m := monitor("ann", fmt.Sprint("m", i))
		m.NextAt = noon.Add(time.Duration(3-i) * time.Minute)
		put(t, s, m)
	}
	names := func(claims []watch.Claim) (out []string) {
		for _, c := range claims {
			out = append(out, c.Monitor.Name)
		}
		return out
	}
	first, err := s.Claim(t.Context(), noon.Add(time.Minute), 10, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m3", "m2"}, names(first)); diff != "" {
		t.Errorf("due a minute past noon (-want +got):\n%s", diff)
	}
	if !first[0].Due.Equal(noon) || first[0].Lease == "" || first[0].Lease == first[1].Lease {
		t.Errorf("claims %v and %v", first[0], first[1])
	}
	if diff := cmp.Diff([]string{"m1"}, names(claim(t, s, noon.Add(3*time.Minute), 1))); diff != "" {
		t.Errorf("at most one (-want +got):\n%s", diff)
	}
}

func testClaimConcurrently(t *testing.T, s watch.Store) {
	t.Helper()
	for i := range 20 {
		put(t, s, monitor("ann", fmt.Sprint("m", i)))
	}
	var mu sync.Mutex
	taken := map[string]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				got, err := s.Claim(context.WithoutCancel(t.Context()), noon, 3, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, c := range got {
					taken[c.Monitor.Name]++
				}
				all := len(taken)
				mu.Unlock()
				if len(got) == 0 || all == 20 {
					return
				}
			}
		})
	}
	wg.Wait()
	for name, n := range taken {
		if n != 1 {
			t.Errorf("%s was claimed %d times", name, n)
		}
	}
	if rest := claim(t, s, noon, 100); len(taken)+len(rest) != 20 {
		t.Errorf("%d monitors were claimed, and %d are left", len(taken), len(rest))
	}
}

func testLeases(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "posts"))
	lost := claimOne(t, s, noon)
	if got := claim(t, s, noon.Add(59*time.Second), 10); len(got) != 0 {
		t.Errorf("claimed again while the lease lasts")
	}
	second := claimOne(t, s, noon.Add(time.Minute))
	if !second.Due.Equal(lost.Due) {
		t.Errorf("the poll is due at %v for the one and at %v for the other", lost.Due, second.Due)
	}
	if err := s.Commit(t.Context(), poll(lost, noon.Add(time.Minute), 2)); !errors.Is(err, watch.ErrLease) {
		t.Errorf("commit of a lost lease: %v; want ErrLease", err)
	}
	commit(t, s, poll(second, noon.Add(time.Minute), 1))
	if err := s.Commit(t.Context(), poll(second, noon.Add(time.Minute), 1)); !errors.Is(err, watch.ErrLease) {
		t.Errorf("a second commit of one lease: %v; want ErrLease", err)
	}
	if got, err := s.Changes(t.Context(), watch.Since{Account: "ann"}); err != nil || len(got) != 1 {
		t.Errorf("%d changes, %v; want the one", len(got), err)
	}
}

func testPause(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "posts"))
	c := claimOne(t, s, noon)
	if m, err := s.Pause(t.Context(), "ann", "posts", true, time.Time{}); err != nil || !m.Paused {
		t.Fatalf("Pause = %v, %v", m.Paused, err)
	}
	commit(t, s, poll(c, noon, 1)) // a poll in progress is paid for, and reported
	if got := claim(t, s, noon.Add(time.Hour), 10); len(got) != 0 {
		t.Errorf("a paused monitor is polled")
	}
	m, err := s.Pause(t.Context(), "ann", "posts", false, noon.Add(2*time.Hour))
	if err != nil || m.Paused || !m.NextAt.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("resumed: %v, next %v, %v", m.Paused, m.NextAt, err)
	}
	c = claimOne(t, s, noon.Add(2*time.Hour))
	if err := s.End(t.Context(), "ann", "posts"); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), poll(c, noon.Add(2*time.Hour), 1)); !errors.Is(err, watch.ErrLease) {
		t.Errorf("commit of an ended monitor: %v; want ErrLease", err)
	}
	for name, err := range map[string]error{
		"End":   s.End(t.Context(), "ann", "posts"),
		"Pause": func() error { _, err := s.Pause(t.Context(), "ann", "posts", true, noon); return err }(),
		"Samples": func() error {
			_, err := s.Samples(t.Context(), watch.Numbers{Account: "ann", Monitor: "posts"})
			return err
		}(),
	} {
		if !errors.Is(err, watch.ErrAbsent) {
			t.Errorf("%s of an unknown monitor: %v; want ErrAbsent", name, err)
		}
	}
	if got, err := s.Changes(t.Context(), watch.Since{Account: "ann"}); err != nil || len(got) != 1 {
		t.Errorf("%d changes of an ended monitor, %v; want the one", len(got), err)
	}
}

func testMonitorFeed(t *testing.T, s watch.Store) {
	t.Helper()
	set := func(name, hash, want string) {
		t.Helper()
		if m, err := s.SetFeed(t.Context(), "ann", name, hash); err != nil || m.Name != name || m.Feed != want {
			t.Errorf("SetFeed(%q, %q) = %q with %q, %v; want %q", name, hash, m.Name, m.Feed, err, want)
		}
	}
	of := func(hash, want string) {
		t.Helper()
		m, err := s.OfFeed(t.Context(), hash)
		if want == "" && !errors.Is(err, watch.ErrAbsent) || want != "" && (err != nil || m.Name != want || m.Account != "ann") {
			t.Errorf("OfFeed(%q) = %q, %v; want %q", hash, m.Name, err, want)
		}
	}
	put(t, s, monitor("ann", "posts"))
	put(t, s, monitor("ann", "reels"))
	put(t, s, monitor("bob", "posts"))
	of("a", "")
	set("posts", "a", "a")
	set("posts", "b", "a") // it has one
	set("reels", "c", "c")
	of("a", "posts")
	of("b", "")
	of("c", "reels")
	m := monitor("ann", "posts")
	m.Params = map[string]string{"handle": "other"}
	put(t, s, m) // another call starts the monitor over, and keeps its feed
	for _, c := range claim(t, s, noon, 10) {
		commit(t, s, poll(c, noon, 3))
	}
	of("a", "posts")
	got, err := s.Changes(t.Context(), watch.Since{Account: "ann", Monitor: "posts", Newest: true, Limit: 2})
	if err != nil || len(got) != 2 || got[0].Seq != got[1].Seq+1 {
		t.Errorf("the newest two changes are %v, %v", got, err)
	}
	set("posts", "", "")
	of("a", "")
	set("posts", "d", "d")
	of("d", "posts")
	if err := s.End(t.Context(), "ann", "posts"); err != nil {
		t.Fatal(err)
	}
	of("d", "")
	if _, err := s.SetFeed(t.Context(), "ann", "posts", "e"); !errors.Is(err, watch.ErrAbsent) {
		t.Errorf("SetFeed of a monitor that was ended: %v; want ErrAbsent", err)
	}
}

func testCommit(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "posts"))
	c := claimOne(t, s, noon)
	p := poll(c, noon, 1)
	p.Progress.State, p.Progress.Code, p.Progress.Detail, p.Progress.Failures = watch.Failing, "upstream_timeout", "late",
		3
	p.Progress.Month, p.Progress.Credits = "2026-03", 12
	p.Progress.Snapshot = watch.Snapshot{
		Fields: map[string]json.RawMessage{"text": json.RawMessage(`"a <b> \u2028"`)}, Key: "1", At: noon,
		Reported: map[string]float64{"likes:5": 1.5},
	}
	commit(t, s, p)
	got, err := s.Monitor(t.Context(), "ann", "posts")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Progress, got.Progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func testFeed(t *testing.T, s watch.Store) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		put(t, s, monitor("ann", name))
	}
	for round := range 3 {
		at := noon.Add(time.Duration(round) * time.Hour)
		for _, c := range claim(t, s, at, 10) {
			p := poll(c, at, 2)
			p.Changes[1].Type = watch.Changed
			commit(t, s, p)
		}
	}
	all, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(all) != 12 {
		t.Fatalf("%d changes, %v; want 12", len(all), err)
	}
	for i := range all {
		if all[i].Seq != int64(i)+1 {
			t.Errorf("the change %d has the position %d", i, all[i].Seq)
		}
	}
	want := change("a", "a-1-0", noon)
	want.Seq = all[0].Seq
	if *all[0].Monitor == "b" {
		want = change("b", "b-1-0", noon)
		want.Seq = all[0].Seq
	}
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Errorf("the first change (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name string
		q    watch.Since
		want int
	}{
		{"of a monitor", watch.Since{Monitor: "a"}, 6},
		{"of a type", watch.Since{Type: watch.Changed}, 6},
		{"after a position", watch.Since{After: 10}, 2},
		{"from a time", watch.Since{From: noon.Add(time.Hour)}, 8},
		{"so many", watch.Since{Limit: 5}, 5},
		{"all of it", watch.Since{Monitor: "b", Type: watch.New, After: 1, From: noon.Add(2 * time.Hour), Limit: 5}, 1},
	} {
		tt.q.Account = "ann"
		if got, err := s.Changes(t.Context(), tt.q); err != nil || len(got) != tt.want {
			t.Errorf("%s: %d changes, %v; want %d", tt.name, len(got), err, tt.want)
		}
	}
	put(t, s, monitor("ann", "again"))
	c := claimOne(t, s, noon)
	p := poll(c, noon, 1)
	p.Changes = append(p.Changes, all[3])
	commit(t, s, p)
	if got, err := s.Changes(t.Context(), watch.Since{Account: "ann", After: 12}); err != nil || len(got) != 1 ||
		got[0].Seq != 13 {
		t.Errorf("a change that is already stored is added again: %v, %v", got, err)
	}
}

func testFeedConcurrently(t *testing.T, s watch.Store) {
	t.Helper()
	const monitors, each = 12, 3
	for i := range monitors {
		put(t, s, monitor("ann", fmt.Sprint("m", i)))
	}
	var wg sync.WaitGroup
	for _, c := range claim(t, s, noon, monitors) {
		wg.Go(func() {
			if err := s.Commit(context.WithoutCancel(t.Context()), poll(c, noon, each)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(got) != monitors*each {
		t.Fatalf("%d changes, %v; want %d", len(got), err, monitors*each)
	}
	for i := range got {
		if got[i].Seq != int64(i)+1 {
			t.Errorf("the change %d has the position %d", i, got[i].Seq)
		}
	}
}

func testSamples(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "one"))
	var want []watch.Sample
	for i := range 5 {
		at := noon.Add(time.Duration(i) * 20 * time.Minute)
		c := claimOne(t, s, at)
		p := poll(c, at, 0)
		p.Samples = []watch.Sample{{Field: "likes", At: at, Value: float64(i) + 0.5}, {Field: "views", At: at, Value: 1e15}}
		want = append(want, p.Samples[0])
		commit(t, s, p)
	}
	q := watch.Numbers{Account: "ann", Monitor: "one", Field: "likes"}
	for _, tt := range []struct {
		name         string
		since, until time.Time
		limit        int
		want         []watch.Sample
	}{
		{"all", time.Time{}, time.Time{}, 0, want},
		{"from and before", want[1].At, want[3].At, 0, want[1:3]},
		{"so many", time.Time{}, time.Time{}, 2, want[:2]},
	} {
		q.Since, q.Until, q.Limit = tt.since, tt.until, tt.limit
		got, err := s.Samples(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func testSweep(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "one"))
	day := 24 * time.Hour
	for i := range 8 { // two each day
		at := noon.Add(time.Duration(i) * day / 2)
		c := claimOne(t, s, at)
		p := poll(c, at, 1)
		p.Samples = []watch.Sample{{Field: "likes", At: at, Value: float64(i)}}
		commit(t, s, p)
	}
	for more := true; more; {
		var err error
		l := watch.Limits{Changes: noon.Add(2 * day), Raw: noon.Add(3 * day), Samples: noon.Add(day)}
		if more, err = s.Sweep(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(got) != 4 || got[0].At.Before(noon.Add(2*day)) || got[0].Seq != 5 {
		t.Errorf("%d changes are left, the first %v, %v", len(got), got, err)
	}
	samples, err := s.Samples(t.Context(), watch.Numbers{Account: "ann", Monitor: "one", Field: "likes"})
	if err != nil {
		t.Fatal(err)
	}
	// At noon and at midnight, when a day begins: the last of each day is the one at noon.
	var values []float64
	for _, v := range samples {
		values = append(values, v.Value)
	}
	if diff := cmp.Diff([]float64{2, 4, 6, 7}, values); diff != "" {
		t.Errorf("samples after the sweep (-want +got):\n%s", diff)
	}
}
