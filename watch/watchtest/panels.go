package watchtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/watch"
)

var panelTopics = []struct {
	name string
	test func(t *testing.T, s watch.Store)
}{
	{"the members of a panel", testMembers},
	{"as many members as an account may have", testMembersFull},
	{"members that are read together are claimed together", testClaimMembers},
	{"a panel is paused, resumed and ended with its members", testPausePanel},
	{"the coverage of a panel", testCoverage},
	{"a member is erased", testEraseMember},
	{"a panel survives kills", testKilledPanel},
}

// panel returns a panel of an account whose members are due at noon.
func panel(account, name string, members ...string) watch.Monitor {
	m := monitor(account, name)
	m.Operation, m.List, m.Follow, m.Pages, m.Fields = "profile", false, 0, 1, []string{}
	m.Params, m.Each, m.Together, m.Members = map[string]string{}, "handle", true, members
	return m
}

func membersOf(t *testing.T, s watch.Store, name string) []watch.Monitor {
	t.Helper()
	all, err := s.Monitors(t.Context(), "ann", name, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// numbered returns the names of n members.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("m%04d", i))
	}
	return names
}

// testMembers changes who the members of a panel are, and what is read of them.
func testMembers(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, monitor("ann", "single"))
	put(t, s, panel("bob", "panel", "a"))
	p := panel("ann", "panel", "a", "b", "c")
	stored := put(t, s, p)
	if stored.Each != "handle" || stored.Due() {
		t.Errorf("the panel is stored as %+v; want one that does not poll itself", stored)
	}
	for _, c := range claim(t, s, noon, 10) {
		commit(t, s, poll(c, noon, 0))
	}
	p.Members = []string{"c", "d", "b"}
	p.NextAt = noon.Add(time.Minute)
	put(t, s, p)
	polls := map[string]int64{}
	for _, m := range membersOf(t, s, "panel") {
		if m.Panel != "panel" || m.Name != "panel/"+m.Member() || m.Params["handle"] != m.Member() || m.Each != "" || !m.Due() {
			t.Errorf("a member is stored as %+v", m)
		}
		polls[m.Member()] = m.Polls
	}
	if diff := cmp.Diff(map[string]int64{"b": 1, "c": 1, "d": 0}, polls); diff != "" {
		t.Errorf("polls of the members (-want +got):\n%s", diff)
	}
	if c := claimOne(t, s, noon.Add(time.Minute)); c.Monitor.Member() != "d" {
		t.Errorf("%s is due; want the new member", c.Monitor.Name)
	}
	p.Operation = "live"
	put(t, s, p)
	for _, m := range membersOf(t, s, "panel") {
		if m.Operation != "live" || m.Polls != 0 {
			t.Errorf("with another operation, member %s has polled %s %d times", m.Member(), m.Operation, m.Polls)
		}
	}
	all := membersOf(t, s, "")
	if len(all) != 2 || all[0].Name != "panel" || all[1].Name != "single" {
		t.Errorf("the monitors of the account are %d; want the panel and the single one", len(all))
	}
	if more, err := s.Monitors(t.Context(), "ann", "panel", "panel/b", 1); err != nil || len(more) != 1 || more[0].Member() != "c" {
		t.Errorf("the member after b: %v, %v", more, err)
	}
	p = monitor("ann", "panel")
	put(t, s, p)
	if left := membersOf(t, s, "panel"); len(left) != 0 {
		t.Errorf("a panel that is a single monitor now has %d members", len(left))
	}
}

func testMembersFull(t *testing.T, s watch.Store) {
	t.Helper()
	for _, tt := range []struct {
		name    string
		members []string
		want    error
	}{
		{"a", numbered(watch.MembersOf), nil},
		{"b", numbered(watch.MembersOf + 1), watch.ErrMembersFull},
		{"b", numbered(watch.MembersOf), nil},
		{"a", numbered(watch.MembersOf + 1), watch.ErrMembersFull},
		{"c", nil, watch.ErrFull},
	} {
		if _, _, err := s.Put(t.Context(), panel("ann", tt.name, tt.members...), 2); !errors.Is(err, tt.want) {
			t.Errorf("panel %s with %d members: %v; want %v", tt.name, len(tt.members), err, tt.want)
		}
	}
	if all := membersOf(t, s, ""); len(all) != 2 {
		t.Errorf("%d monitors, want 2", len(all))
	}
}

func testClaimMembers(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, panel("ann", "panel", numbered(250)...))
	apart := panel("ann", "apart", "x", "y", "z")
	apart.Together = false
	put(t, s, apart)
	count := func(claims []watch.Claim) map[string]int {
		n := map[string]int{}
		for _, c := range claims {
			n[c.Monitor.Panel]++
		}
		return n
	}
	first := slices.Concat(claim(t, s, noon, 10), claim(t, s, noon, 10), claim(t, s, noon, 10))
	if diff := cmp.Diff(map[string]int{"panel": watch.PanelClaim, "apart": 3}, count(first)); diff != "" {
		t.Fatalf("the first claim (-want +got):\n%s", diff)
	}
	if got := claim(t, s, noon, 10); len(got) != 0 {
		t.Errorf("%d more are claimed while the first are in progress", len(got))
	}
	left := watch.MostInProgress
	seen := map[string]bool{}
	for _, c := range first {
		seen[c.Monitor.Name] = true
		if c.Monitor.Panel == "panel" && left > 1 {
			left--
			continue
		}
		p := poll(c, noon, 0)
		p.Progress.Snapshot.At = noon
		commit(t, s, p)
	}
	second := claim(t, s, noon, 1)
	if diff := cmp.Diff(map[string]int{"panel": watch.PanelClaim}, count(second)); diff != "" {
		t.Errorf("when few are in progress (-want +got):\n%s", diff)
	}
	for _, c := range second {
		if seen[c.Monitor.Name] {
			t.Errorf("%s is claimed twice", c.Monitor.Name)
		}
		seen[c.Monitor.Name] = true
		p := poll(c, noon, 0)
		p.Progress.State = watch.Starved // it was not read
		commit(t, s, p)
	}
	// All are due at the same time again, and those that were not read come first.
	third := claim(t, s, noon.Add(15*time.Minute), 1)
	for _, c := range third {
		if !c.Monitor.Snapshot.At.IsZero() {
			t.Errorf("%s was read last time and is claimed before others that were not", c.Monitor.Name)
		}
	}
}

func testPausePanel(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, panel("ann", "panel", "a", "b"))
	at := noon.Add(time.Hour)
	for _, paused := range []bool{true, false} {
		if m, err := s.Pause(t.Context(), "ann", "panel", paused, at); err != nil || m.Paused != paused {
			t.Fatalf("Pause = %v, %v", m.Paused, err)
		}
		want := 2
		if paused {
			want = 0
		}
		if got := claim(t, s, at, 10); len(got) != want {
			t.Errorf("paused %v: %d members are due; want %d", paused, len(got), want)
		}
	}
	if err := s.End(t.Context(), "ann", "panel"); err != nil {
		t.Fatal(err)
	}
	if left := membersOf(t, s, "panel"); len(left) != 0 {
		t.Errorf("a panel that has ended has %d members", len(left))
	}
}

func testCoverage(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, panel("ann", "panel", "a", "b", "c", "d", "e"))
	at := noon.Add(time.Minute)
	for i, c := range claim(t, s, noon, 1) {
		p := poll(c, at, 0)
		p.Progress.Month, p.Progress.Credits = "2026-03", int64(i)
		switch c.Monitor.Member() {
		case "a":
			p.Progress.Snapshot.At = at
		case "b":
			p.Progress.Snapshot.At, p.Progress.Snapshot.Gone, p.Progress.Month = at, true, "2026-02"
		case "c":
			p.Progress.Code, p.Progress.Detail = string(problem.NotFound), "none"
		case "d":
			p.Progress.State, p.Progress.Code, p.Progress.Detail = watch.Starved, string(problem.NotFound), "none"
		case "e":
			continue
		}
		commit(t, s, p)
	}
	got, err := s.Coverage(t.Context(), "ann", "panel", "2026-03")
	if err != nil {
		t.Fatal(err)
	}
	want := watch.Coverage{
		Stages: map[string]int{
			watch.StageRead: 1, watch.StageGone: 1, watch.StageFailed: 1, watch.StageStarved: 1, watch.StageWaiting: 1,
		},
		Credits: 0 + 2 + 3, LastAt: at, NextAt: noon, Code: string(problem.NotFound), Detail: "none",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Coverage (-want +got):\n%s", diff)
	}
	if state := got.State(); state != watch.Starved {
		t.Errorf("the panel is %s; want starved", state)
	}
	if none, err := s.Coverage(t.Context(), "ann", "none", "2026-03"); err != nil || none.Members() != 0 {
		t.Errorf("of an unknown panel: %+v, %v", none, err)
	}
}

// testEraseMember erases one member of a panel, with what was stored and reported of it.
func testEraseMember(t *testing.T, s watch.Store) {
	t.Helper()
	put(t, s, panel("ann", "panel", "salma", "zoe"))
	for _, c := range claim(t, s, noon, 1) {
		p := poll(c, noon, 1)
		for i := range p.Changes {
			p.Changes[i].Monitor, p.Changes[i].Member = new("panel"), new(c.Monitor.Member())
			p.Changes[i].ID, p.Changes[i].Key = "chg_"+c.Monitor.Member(), new("9")
			p.Changes[i].Object = nil
		}
		commit(t, s, p)
	}
	who := privacy.NewHasher(bytes.Repeat([]byte{7}, privacy.SecretLen)).Subject(platform.Mock, "salma", "")
	var ended []string
	who.Ended = func(_, name string) { ended = append(ended, name) }
	removed, err := s.Erase(t.Context(), who)
	if err != nil || removed[watch.ErasedMonitors] != 1 || removed[watch.ErasedChanges] != 1 {
		t.Errorf("erased %v, %v; want a member and its change", removed, err)
	}
	if !slices.Contains(ended, "panel/salma") {
		t.Errorf("ended: %v", ended)
	}
	if left := membersOf(t, s, "panel"); len(left) != 1 || left[0].Member() != "zoe" {
		t.Errorf("members %v are left", left)
	}
	changes := feedOf(t, s, "ann")
	if len(changes) != 1 || *changes[0].Member != "zoe" {
		t.Errorf("changes %v are left", changes)
	}
}

// profiles is an upstream of profiles, each of which has another name at each tick. It charges each read once.
type profiles struct {
	mu      sync.Mutex
	charged map[string]int // by the names of reads
	reads   map[string]int
	slow    chan struct{} // one member waits for it
}

// Watched implements [watch.Reader].
func (p *profiles) Watched(ctx context.Context, r watch.Read) (watch.Page, error) {
	handle := r.Params["handle"]
	p.mu.Lock()
	p.reads[handle]++
	p.charged[r.Once]++
	p.mu.Unlock()
	switch handle {
	case "m0001":
		return watch.Page{}, problem.New(problem.UpstreamTimeout, "late")
	case "m0002":
		select {
		case <-p.slow:
		case <-ctx.Done():
			return watch.Page{}, ctx.Err()
		}
	}
	return watch.Page{Data: []byte(`{"platform":"mock","id":"` + handle + `","handle":"` + handle + `"}`), Credits: 1}, nil
}

// Together implements [watch.Reader].
func (p *profiles) Together(ctx context.Context, _ int) context.Context { return ctx }

// dying is a store of a process that is killed after some calls of it.
type dying struct {
	watch.Store

	mu   sync.Mutex
	left int
}

var errDead = errors.New("killed")

func (d *dying) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
	return d.left >= 0
}

func (d *dying) Claim(ctx context.Context, now time.Time, n int, lease time.Duration) ([]watch.Claim, error) {
	d.mu.Lock()
	dead := d.left < 0
	d.mu.Unlock()
	if dead {
		return nil, errDead
	}
	claims, err := d.Store.Claim(ctx, now, n, lease)
	if len(claims) > 0 && !d.alive() { // it has claimed, and dies before it reads
		return nil, errDead
	}
	return claims, err
}

func (d *dying) Commit(ctx context.Context, p watch.Poll) error {
	if !d.alive() {
		return errDead
	}
	err := d.Store.Commit(ctx, p)
	if !d.alive() { // it has committed, and dies before it knows
		return errDead
	}
	return err
}

// testKilledPanel polls a panel once with processes that are killed at different points. Each member is read, charged
// and reported once for the tick, one that fails and one that hangs among them.
func testKilledPanel(t *testing.T, s watch.Store) {
	t.Helper()
	const n = 230
	p := panel("ann", "panel", numbered(n)...)
	p.Every = 31 * 24 * time.Hour
	put(t, s, p)
	up := &profiles{charged: map[string]int{}, reads: map[string]int{}, slow: make(chan struct{})}
	var clock struct {
		sync.Mutex
		now time.Time
	}
	clock.now = noon
	now := func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return clock.now
	}
	ready := func() (members map[string]int) {
		members = map[string]int{}
		for _, c := range feedOf(t, s, "ann") {
			if c.Type == watch.Ready {
				members[*c.Member]++
			}
		}
		return members
	}
	for i, left := range []int{0, 1, 2, 41, 101, 150} {
		process := &dying{Store: s, left: left}
		r := watch.Start(watch.Config{Store: process, Reader: up, Now: now, Look: time.Millisecond, Lease: time.Minute})
		await.Until(t, "the process to be killed", func() bool {
			process.mu.Lock()
			defer process.mu.Unlock()
			return process.left < 0
		})
		if i == 3 && len(ready()) == 0 {
			t.Error("the news of the others wait for the member that hangs")
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Lock()
		clock.now = clock.now.Add(2 * time.Minute) // the leases of the killed process expire
		clock.Unlock()
	}
	close(up.slow)
	r := watch.Start(watch.Config{Store: s, Reader: up, Now: now, Look: time.Millisecond, Lease: time.Minute})
	await.Until(t, "the baselines of all members", func() bool { return len(ready()) == n-1 })
	await.Until(t, "all members to be polled", func() bool {
		c, err := s.Coverage(t.Context(), "ann", "panel", "2026-03")
		return err == nil && c.Stages[watch.StageRead] == n-1 && c.Stages[watch.StageFailed] == 1
	})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for member, times := range ready() {
		if times != 1 {
			t.Errorf("%s is reported %d times", member, times)
		}
	}
	if len(up.charged) != n {
		t.Errorf("%d reads are charged; want %d, each once for the tick", len(up.charged), n)
	}
	repeated := 0
	for _, times := range up.reads {
		if times > 1 {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("no read was repeated: the processes were killed too early")
	}
	for _, m := range membersOf(t, s, "panel") {
		if number, _ := strconv.Atoi(m.Member()[1:]); number != 1 && (m.Polls != 1 || !m.NextAt.After(noon)) {
			t.Errorf("%s was polled %d times, and is due at %v", m.Member(), m.Polls, m.NextAt)
		}
	}
}
