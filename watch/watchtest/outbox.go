package watchtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// topics of endpoints and deliveries.
var outboxTopics = []struct {
	name string
	test func(t *testing.T, s watch.Store)
}{
	{"endpoints are made, changed and ended", testEndpoints},
	{"as many endpoints as an account may have", testEndpointsFull},
	{"the active endpoints of all accounts", testActive},
	{"another secret", testRekey},
	{"changes of the account are reported once", testTell},
	{"an endpoint gets the changes after it was made", testQueue},
	{"an endpoint gets the types and monitors that it names", testWants},
	{"changes are queued in parts", testQueueParts},
	{"deliveries are claimed fairly", testClaimDeliveries},
	{"one of many callers gets a delivery", testClaimDeliveriesConcurrently},
	{"the lease of a delivery expires", testDeliveryLeases},
	{"the result of an attempt", testAttempted},
	{"a disabled endpoint gets nothing until it is made again", testDisabled},
	{"deliveries are listed in pages", testDeliveries},
	{"a delivery is made again", testAgain},
	{"deliveries are removed with their changes", testDeliveriesSwept},
	{"deliveries of what holds a subject are erased", testDeliveriesErased},
}

func endpoint(account, name string) watch.Endpoint {
	return watch.Endpoint{
		Account: account, Name: name, URL: "https://example.com/" + name, Types: []string{}, Monitors: []string{},
		Secret: []byte("sealed " + name), CreatedAt: noon,
	}
}

func putEndpoint(t *testing.T, s watch.Store, e watch.Endpoint) watch.Endpoint {
	t.Helper()
	stored, _, err := s.PutEndpoint(t.Context(), e, 0)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// tellAll adds changes of a monitor to the feed, one for each id.
func tellAll(t *testing.T, s watch.Store, account string, ids ...string) {
	t.Helper()
	var all []schema.Change
	for _, id := range ids {
		all = append(all, change("m", id, noon))
	}
	if err := s.Tell(t.Context(), account, all); err != nil {
		t.Fatal(err)
	}
}

func queue(t *testing.T, s watch.Store, at time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Queue(t.Context(), at, 100); err != nil {
			t.Fatal(err)
		}
	}
}

func claimDeliveries(t *testing.T, s watch.Store, at time.Time, n, each int, full ...watch.EndpointRef) []watch.Sending {
	t.Helper()
	got, err := s.ClaimDeliveries(t.Context(), at, n, each, time.Minute, full)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// idsOf returns the ids of deliveries, in order.
func idsOf(all []watch.Sending) (out []string) {
	for i := range all {
		out = append(out, all[i].Delivery.ID())
	}
	slices.Sort(out)
	return out
}

func attempted(t *testing.T, s watch.Store, a watch.Attempt) {
	t.Helper()
	if err := s.Attempted(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// deliveries returns all of the account ann.
func deliveries(t *testing.T, s watch.Store) []watch.Delivery {
	t.Helper()
	got, err := s.Deliveries(t.Context(), watch.Outgoing{Account: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func testEndpoints(t *testing.T, s watch.Store) {
	t.Helper()
	e := endpoint("ann", "b")
	stored, made, err := s.PutEndpoint(t.Context(), e, 10)
	if err != nil || !made {
		t.Fatalf("PutEndpoint = %v, %v; want a new one", made, err)
	}
	if diff := cmp.Diff(e, stored); diff != "" {
		t.Errorf("PutEndpoint (-want +got):\n%s", diff)
	}
	next := endpoint("ann", "b")
	next.URL, next.Types, next.Monitors, next.Secret = "https://example.com/2", []string{"new"}, []string{"m"},
		[]byte("another")
	next.CreatedAt = noon.Add(time.Hour)
	stored, made, err = s.PutEndpoint(t.Context(), next, 10)
	e.URL, e.Types, e.Monitors = next.URL, next.Types, next.Monitors // Secret and CreatedAt stay
	if err != nil || made {
		t.Fatalf("PutEndpoint over an endpoint = %v, %v", made, err)
	}
	if diff := cmp.Diff(e, stored); diff != "" {
		t.Errorf("PutEndpoint over an endpoint (-want +got):\n%s", diff)
	}
	got, err := s.Endpoint(t.Context(), "ann", "b")
	if diff := cmp.Diff(e, got); diff != "" || err != nil {
		t.Errorf("Endpoint, %v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"c", "a"} {
		putEndpoint(t, s, endpoint("ann", name))
	}
	putEndpoint(t, s, endpoint("bob", "b"))
	for _, tt := range []struct {
		after string
		limit int
		want  []string
	}{{"", 0, []string{"a", "b", "c"}}, {"a", 1, []string{"b"}}, {"c", 0, nil}} {
		all, err := s.Endpoints(t.Context(), "ann", tt.after, tt.limit)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		if diff := cmp.Diff(tt.want, names); diff != "" || err != nil {
			t.Errorf("Endpoints behind %q, %v (-want +got):\n%s", tt.after, err, diff)
		}
	}
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	under := claimDeliveries(t, s, noon, 10, 10)
	if err := s.EndEndpoint(t.Context(), "ann", "a"); err != nil {
		t.Fatal(err)
	}
	for _, a := range under {
		err := s.Attempted(t.Context(), watch.Attempt{Sending: a, At: noon, State: watch.Delivered, Status: 200})
		if gone := a.Delivery.Endpoint == "a"; gone != errors.Is(err, watch.ErrLease) {
			t.Errorf("an attempt to %s: %v", a.Delivery.ID(), err)
		}
	}
	if got := deliveries(t, s); len(got) != 2 || got[0].Endpoint != "b" || got[1].Endpoint != "c" {
		t.Errorf("deliveries %v; want those to b and c", got)
	}
	if err := s.EndEndpoint(t.Context(), "ann", "a"); !errors.Is(err, watch.ErrNoEndpoint) {
		t.Errorf("EndEndpoint again: %v; want ErrNoEndpoint", err)
	}
	if _, err := s.Endpoint(t.Context(), "ann", "a"); !errors.Is(err, watch.ErrNoEndpoint) {
		t.Errorf("Endpoint of one that has ended: %v; want ErrNoEndpoint", err)
	}
}

func testEndpointsFull(t *testing.T, s watch.Store) {
	t.Helper()
	for i := range 2 {
		if _, _, err := s.PutEndpoint(t.Context(), endpoint("ann", fmt.Sprint("e", i)), 2); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.PutEndpoint(t.Context(), endpoint("ann", "e2"), 2); !errors.Is(err, watch.ErrEndpointsFull) {
		t.Errorf("a third of two: %v; want ErrEndpointsFull", err)
	}
	if _, made, err := s.PutEndpoint(t.Context(), endpoint("ann", "e0"), 2); err != nil || made {
		t.Errorf("an existing one: %v, %v", made, err)
	}
	if _, made, err := s.PutEndpoint(t.Context(), endpoint("bob", "e0"), 2); err != nil || !made {
		t.Errorf("one of another account: %v, %v", made, err)
	}
}

func testActive(t *testing.T, s watch.Store) {
	t.Helper()
	active := func() []watch.Endpoint {
		t.Helper()
		got, err := s.Active(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b watch.Endpoint) int {
			return strings.Compare(a.Account+" "+a.Name, b.Account+" "+b.Name)
		})
		return got
	}
	if got := active(); len(got) != 0 {
		t.Errorf("without endpoints there are %v", got)
	}
	chosen := endpoint("ann", "b")
	chosen.Types = []string{watch.CreditsLow}
	want := []watch.Endpoint{
		putEndpoint(t, s, endpoint("ann", "a")), putEndpoint(t, s, chosen), putEndpoint(t, s, endpoint("bob", "a")),
	}
	if diff := cmp.Diff(want, active()); diff != "" {
		t.Errorf("all are active (-want +got):\n%s", diff)
	}
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	for _, got := range claimDeliveries(t, s, noon, 10, 10) {
		attempted(t, s, watch.Attempt{
			Sending: got, At: noon, Status: 410, State: watch.Waiting, Next: noon, Disable: "it answered 410",
		})
	}
	if diff := cmp.Diff(want[1:], active(), cmpopts.IgnoreFields(watch.Endpoint{}, "Position")); diff != "" {
		t.Errorf("one is disabled (-want +got):\n%s", diff)
	}
	if err := s.EndEndpoint(t.Context(), "bob", "a"); err != nil {
		t.Fatal(err)
	}
	if got := active(); len(got) != 1 || got[0].Name != "b" {
		t.Errorf("one was ended: %v", got)
	}
}

func testRekey(t *testing.T, s watch.Store) {
	t.Helper()
	want := putEndpoint(t, s, endpoint("ann", "a"))
	got, err := s.Rekey(t.Context(), "ann", "a", []byte("second"), noon.Add(24*time.Hour))
	want.Before, want.BeforeUntil, want.Secret = want.Secret, noon.Add(24*time.Hour), []byte("second")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Rekey, %v (-want +got):\n%s", err, diff)
	}
	if got, err = s.Endpoint(t.Context(), "ann", "a"); err != nil || !cmp.Equal(want, got) {
		t.Errorf("Endpoint, %v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	if _, err := s.Rekey(t.Context(), "ann", "b", nil, noon); !errors.Is(err, watch.ErrNoEndpoint) {
		t.Errorf("Rekey of an unknown one: %v; want ErrNoEndpoint", err)
	}
}

func testTell(t *testing.T, s watch.Store) {
	t.Helper()
	own := change("", "own", noon)
	own.Monitor, own.Type = nil, watch.EndpointDisabled
	for range 2 {
		if err := s.Tell(t.Context(), "ann", []schema.Change{own, own}); err != nil {
			t.Fatal(err)
		}
	}
	tellAll(t, s, "ann", "next")
	got, err := s.Changes(t.Context(), watch.Since{Account: "ann"})
	if err != nil || len(got) != 2 || got[0].Seq != 1 || got[0].Monitor != nil || got[1].Seq != 2 {
		t.Errorf("changes %v, %v", got, err)
	}
}

func testQueue(t *testing.T, s watch.Store) {
	t.Helper()
	tellAll(t, s, "ann", "before")
	e := putEndpoint(t, s, endpoint("ann", "a"))
	tellAll(t, s, "ann", "1", "2")
	tellAll(t, s, "bob", "other")
	queue(t, s, noon)
	queue(t, s, noon.Add(time.Second))
	want := []watch.Delivery{
		{Account: "ann", Endpoint: "a", Seq: 3, Change: "chg_2", Type: "new", State: watch.Waiting, QueuedAt: noon, NextAt: noon},
		{Account: "ann", Endpoint: "a", Seq: 2, Change: "chg_1", Type: "new", State: watch.Waiting, QueuedAt: noon, NextAt: noon},
	}
	if diff := cmp.Diff(want, deliveries(t, s)); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	got, err := s.Endpoint(t.Context(), "ann", "a")
	e.Position = 3
	if diff := cmp.Diff(e, got); diff != "" || err != nil {
		t.Errorf("the endpoint, %v (-want +got):\n%s", err, diff)
	}
	if got := claimDeliveries(t, s, noon.Add(-time.Second), 10, 10); len(got) != 0 {
		t.Errorf("%d deliveries are due before their time", len(got))
	}
	sent := claimDeliveries(t, s, noon, 10, 10)
	if diff := cmp.Diff([]string{"a.2", "a.3"}, idsOf(sent)); diff != "" {
		t.Fatalf("claimed (-want +got):\n%s", diff)
	}
	wantChange := change("m", "1", noon)
	wantChange.Seq = 2
	if diff := cmp.Diff(wantChange, sent[0].Change); diff != "" {
		t.Errorf("what is sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(e, sent[0].Endpoint); diff != "" {
		t.Errorf("where it is sent (-want +got):\n%s", diff)
	}
	if got := sent[0]; got.Lease == "" || got.Lease == sent[1].Lease || !got.Until.Equal(noon.Add(time.Minute)) {
		t.Errorf("leases %q and %q until %v", got.Lease, sent[1].Lease, got.Until)
	}
}

func testWants(t *testing.T, s watch.Store) {
	t.Helper()
	for name, sel := range map[string][2][]string{
		"all": {}, "types": {{watch.Changed, watch.EndpointDisabled}, nil}, "monitors": {nil, {"m"}}, "both": {{watch.New}, {"other"}},
	} {
		e := endpoint("ann", name)
		e.Types, e.Monitors = sel[0], sel[1]
		putEndpoint(t, s, e)
	}
	changed, low := change("m", "2", noon), change("", "3", noon)
	changed.Type, low.Type, low.Monitor = watch.Changed, watch.EndpointDisabled, nil
	if err := s.Tell(t.Context(), "ann",
		[]schema.Change{change("m", "1", noon), changed, low, change("other", "4", noon)}); err != nil {
		t.Fatal(err)
	}
	queue(t, s, noon)
	want := []string{"all.1", "all.2", "all.3", "all.4", "both.4", "monitors.1", "monitors.2", "types.2", "types.3"}
	if diff := cmp.Diff(want, idsOf(claimDeliveries(t, s, noon, 100, 100))); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func testQueueParts(t *testing.T, s watch.Store) {
	t.Helper()
	e := endpoint("ann", "a")
	e.Types = []string{"none"}
	putEndpoint(t, s, e)
	putEndpoint(t, s, endpoint("ann", "b"))
	tellAll(t, s, "ann", "1", "2", "3", "4", "5")
	for i, want := range []int{2, 4, 5} {
		more, err := s.Queue(t.Context(), noon, 2)
		if err != nil || len(deliveries(t, s)) != want || more != (i < 2) {
			t.Errorf("after part %d there are %v, and more %v, %v", i, deliveries(t, s), more, err)
		}
	}
}

func testClaimDeliveries(t *testing.T, s watch.Store) {
	t.Helper()
	for _, name := range []string{"a", "b", "failing"} {
		putEndpoint(t, s, endpoint("ann", name))
	}
	tellAll(t, s, "ann", "1", "2", "3", "4", "5")
	queue(t, s, noon)
	for _, a := range claimDeliveries(t, s, noon, 10, 1, watch.EndpointRef{Account: "ann", Name: "a"},
		watch.EndpointRef{Account: "ann", Name: "b"}) {
		attempted(t, s, watch.Attempt{Sending: a, At: noon, State: watch.Waiting, Next: noon.Add(time.Hour)})
	}
	got := idsOf(claimDeliveries(t, s, noon, 100, 2, watch.EndpointRef{Account: "ann", Name: "b"},
		watch.EndpointRef{Account: "bob", Name: "a"}))
	if diff := cmp.Diff([]string{"a.1", "a.2", "failing.2"}, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	if got := claimDeliveries(t, s, noon, 3, 2); len(got) != 3 {
		t.Errorf("%d were claimed; want the 3 that were asked for", len(got))
	}
}

func testClaimDeliveriesConcurrently(t *testing.T, s watch.Store) {
	t.Helper()
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprint(i))
	}
	putEndpoint(t, s, endpoint("ann", "a"))
	tellAll(t, s, "ann", ids...)
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := map[string]int{}
	for range 6 {
		wg.Go(func() {
			for range 20 {
				ctx := context.WithoutCancel(t.Context())
				_, failed := s.Queue(ctx, noon, 7)
				got, err := s.ClaimDeliveries(ctx, noon, 3, 3, time.Hour, nil)
				if failed != nil || err != nil {
					t.Error(failed, err)
					return
				}
				mu.Lock()
				for _, id := range idsOf(got) {
					taken[id]++
				}
				all := len(taken)
				mu.Unlock()
				if all == 20 {
					return
				}
			}
		})
	}
	wg.Wait()
	for id, n := range taken {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
	queue(t, s, noon)
	if rest := claimDeliveries(t, s, noon, 100, 100); len(taken)+len(rest) != 20 {
		t.Errorf("%d were claimed, and %d are left", len(taken), len(rest))
	}
}

func testDeliveryLeases(t *testing.T, s watch.Store) {
	t.Helper()
	putEndpoint(t, s, endpoint("ann", "a"))
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	lost := claimDeliveries(t, s, noon, 1, 1)
	if got := claimDeliveries(t, s, noon.Add(59*time.Second), 1, 1); len(got) != 0 || len(lost) != 1 {
		t.Fatalf("claimed %v, and %v while the lease lasts", lost, got)
	}
	second := claimDeliveries(t, s, noon.Add(time.Minute), 1, 1)
	if len(second) != 1 || second[0].Delivery.Attempts != 0 {
		t.Fatalf("claimed %v; want the delivery whose lease expired", second)
	}
	late := watch.Attempt{
		Sending: lost[0], At: noon, State: watch.Delivered, Tell: []schema.Change{change("m", "late", noon)},
	}
	if err := s.Attempted(t.Context(), late); !errors.Is(err, watch.ErrLease) {
		t.Errorf("an attempt under a lost lease: %v; want ErrLease", err)
	}
	attempted(t, s, watch.Attempt{Sending: second[0], At: noon, State: watch.Delivered, Status: 204})
	late.Sending = second[0]
	if err := s.Attempted(t.Context(), late); !errors.Is(err, watch.ErrLease) {
		t.Errorf("a second attempt under one lease: %v; want ErrLease", err)
	}
	if got, err := s.Changes(t.Context(), watch.Since{Account: "ann"}); err != nil || len(got) != 1 {
		t.Errorf("%d changes, %v; want the one", len(got), err)
	}
}

func testAttempted(t *testing.T, s watch.Store) {
	t.Helper()
	putEndpoint(t, s, endpoint("ann", "a"))
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	want := deliveries(t, s)[0]
	for i, step := range []struct {
		a       watch.Attempt
		failing time.Time
	}{
		{watch.Attempt{At: noon, Status: 503, Detail: "it answered 503", State: watch.Waiting, Next: noon.Add(5 * time.Second)}, noon},
		{
			watch.Attempt{At: noon.Add(5 * time.Second), Detail: "no answer", State: watch.Waiting, Next: noon.Add(time.Minute)},
			noon,
		},
		{watch.Attempt{At: noon.Add(time.Minute), Status: 200, State: watch.Delivered}, time.Time{}},
	} {
		got := claimDeliveries(t, s, step.a.At, 10, 10)
		if len(got) != 1 || got[0].Delivery.Attempts != i {
			t.Fatalf("attempt %d: claimed %v", i, got)
		}
		step.a.Sending = got[0]
		attempted(t, s, step.a)
		want.Attempts, want.State, want.LastAt = i+1, step.a.State, step.a.At
		want.Status, want.Detail, want.NextAt = step.a.Status, step.a.Detail, step.a.Next
		if diff := cmp.Diff([]watch.Delivery{want}, deliveries(t, s)); diff != "" {
			t.Errorf("after attempt %d (-want +got):\n%s", i, diff)
		}
		e, err := s.Endpoint(t.Context(), "ann", "a")
		if err != nil || !e.FailingSince.Equal(step.failing) {
			t.Errorf("after attempt %d it is failing since %v, %v", i, e.FailingSince, err)
		}
	}
	if got := claimDeliveries(t, s, noon.Add(1000*time.Hour), 10, 10); len(got) != 0 {
		t.Errorf("what was delivered is claimed again: %v", got)
	}
}

func testDisabled(t *testing.T, s watch.Store) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		putEndpoint(t, s, endpoint("ann", name))
	}
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	for _, got := range claimDeliveries(t, s, noon, 10, 10) {
		a := watch.Attempt{Sending: got, At: noon, Status: 200, State: watch.Delivered}
		if got.Delivery.Endpoint == "a" {
			told := change("", "disabled", noon)
			told.Type, told.Monitor = watch.EndpointDisabled, nil
			a.Status, a.State, a.Next, a.Disable, a.Tell = 410, watch.Waiting, noon, "it answered 410", []schema.Change{told}
		}
		attempted(t, s, a)
	}
	e, err := s.Endpoint(t.Context(), "ann", "a")
	if err != nil || e.State() != watch.Disabled || e.Problem != "it answered 410" {
		t.Errorf("endpoint %+v, %v", e, err)
	}
	queue(t, s, noon)
	if diff := cmp.Diff([]string{"b.2"}, idsOf(claimDeliveries(t, s, noon, 10, 10))); diff != "" {
		t.Errorf("deliveries while it is disabled (-want +got):\n%s", diff)
	}
	if e = putEndpoint(t, s, endpoint("ann", "a")); e.State() != watch.Active || !e.FailingSince.IsZero() {
		t.Errorf("made again: %+v", e)
	}
	queue(t, s, noon)
	if diff := cmp.Diff([]string{"a.1", "a.2"}, idsOf(claimDeliveries(t, s, noon, 10, 10))); diff != "" {
		t.Errorf("deliveries when it is active again (-want +got):\n%s", diff)
	}
}

func testDeliveries(t *testing.T, s watch.Store) {
	t.Helper()
	for _, name := range []string{"a", "b", "b-2"} {
		putEndpoint(t, s, endpoint("ann", name))
	}
	putEndpoint(t, s, endpoint("bob", "a"))
	tellAll(t, s, "ann", "1", "2")
	tellAll(t, s, "bob", "1")
	queue(t, s, noon)
	for _, tt := range []struct {
		name string
		q    watch.Outgoing
		want []string
	}{
		{"all", watch.Outgoing{}, []string{"a.2", "b.2", "b-2.2", "a.1", "b.1", "b-2.1"}},
		{"so many", watch.Outgoing{Limit: 2}, []string{"a.2", "b.2"}},
		{"behind one", watch.Outgoing{Before: 2, After: "b", Limit: 2}, []string{"b-2.2", "a.1"}},
		{"to one", watch.Outgoing{Endpoint: "b"}, []string{"b.2", "b.1"}},
		{"to one, behind one", watch.Outgoing{Endpoint: "b", Before: 2, After: "b"}, []string{"b.1"}},
		{"to none", watch.Outgoing{Endpoint: "c"}, nil},
	} {
		tt.q.Account = "ann"
		got, err := s.Deliveries(t.Context(), tt.q)
		var ids []string
		for i := range got {
			ids = append(ids, got[i].ID())
		}
		if diff := cmp.Diff(tt.want, ids); diff != "" || err != nil {
			t.Errorf("%s, %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func testAgain(t *testing.T, s watch.Store) {
	t.Helper()
	putEndpoint(t, s, endpoint("ann", "a"))
	tellAll(t, s, "ann", "1")
	queue(t, s, noon)
	got := claimDeliveries(t, s, noon, 1, 1)[0]
	attempted(t, s, watch.Attempt{Sending: got, At: noon, Status: 500, Detail: "it answered 500", State: watch.Failed})
	again, err := s.Again(t.Context(), "ann", "a", 1, noon.Add(time.Hour))
	want := got.Delivery
	want.NextAt, want.LastAt, want.Status, want.Detail = noon.Add(time.Hour), noon, 500, "it answered 500"
	if diff := cmp.Diff(want, again); diff != "" || err != nil {
		t.Errorf("Again, %v (-want +got):\n%s", err, diff)
	}
	if got := claimDeliveries(t, s, noon.Add(time.Hour), 1, 1); len(got) != 1 || got[0].Delivery.Attempts != 0 {
		t.Errorf("claimed %v; want the delivery again", got)
	}
	for _, tt := range []struct {
		account, endpoint string
		seq               int64
	}{{"ann", "a", 2}, {"ann", "b", 1}, {"bob", "a", 1}} {
		if _, err := s.Again(t.Context(), tt.account, tt.endpoint, tt.seq, noon); !errors.Is(err, watch.ErrNoDelivery) {
			t.Errorf("Again of %v: %v; want ErrNoDelivery", tt, err)
		}
	}
}

func testDeliveriesSwept(t *testing.T, s watch.Store) {
	t.Helper()
	putEndpoint(t, s, endpoint("ann", "a"))
	old := change("m", "old", noon.Add(-time.Hour))
	if err := s.Tell(t.Context(), "ann", []schema.Change{old, change("m", "young", noon)}); err != nil {
		t.Fatal(err)
	}
	queue(t, s, noon)
	under := claimDeliveries(t, s, noon, 1, 1)
	if _, err := s.Sweep(t.Context(), watch.Limits{Changes: noon, Raw: noon, Samples: noon}); err != nil {
		t.Fatal(err)
	}
	if got := deliveries(t, s); len(got) != 1 || got[0].Change != "chg_young" {
		t.Errorf("deliveries after the sweep: %v", got)
	}
	err := s.Attempted(t.Context(), watch.Attempt{Sending: under[0], At: noon, State: watch.Delivered})
	if !errors.Is(err, watch.ErrLease) {
		t.Errorf("an attempt whose change has been removed: %v; want ErrLease", err)
	}
	if _, err := s.Sweep(t.Context(), watch.Limits{Changes: noon.Add(time.Hour), Raw: noon, Samples: noon}); err != nil {
		t.Fatal(err)
	}
	e := putEndpoint(t, s, endpoint("ann", "late"))
	if e.Position != 2 {
		t.Errorf("an endpoint of an empty feed is at %d; want 2", e.Position)
	}
}

func testDeliveriesErased(t *testing.T, s watch.Store) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		putEndpoint(t, s, endpoint("ann", name))
	}
	if err := s.Tell(t.Context(), "ann", []schema.Change{told("m", "p1", salmas), told("m", "p2", zoes)}); err != nil {
		t.Fatal(err)
	}
	queue(t, s, noon)
	h := privacy.NewHasher(bytes.Repeat([]byte{7}, privacy.SecretLen))
	subject := h.Subject(platform.Mock, "once", "")
	for _, dry := range []bool{true, false} {
		subject.DryRun = dry
		removed, err := s.Erase(t.Context(), subject)
		want := map[string]int{watch.ErasedChanges: 1, watch.ErasedDeliveries: 2}
		if diff := cmp.Diff(want, removed); diff != "" || err != nil {
			t.Errorf("erased, dry %v, %v (-want +got):\n%s", dry, err, diff)
		}
	}
	want := []watch.Delivery{{Endpoint: "a", Seq: 2}, {Endpoint: "b", Seq: 2}}
	if diff := cmp.Diff(want, deliveries(t, s), cmpopts.IgnoreFields(watch.Delivery{},
		"Account", "Change", "Type", "State", "Attempts", "QueuedAt", "NextAt", "LastAt", "Status", "Detail")); diff != "" {
		t.Errorf("deliveries that stay (-want +got):\n%s", diff)
	}
}
