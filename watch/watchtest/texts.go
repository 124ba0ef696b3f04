package watchtest

import (
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// testTexts looks for texts that databases do not store, and stores those that an upstream has sent.
func testTexts(t *testing.T, s watch.Store) {
	t.Helper()
	of(t, s, "github")
	putEndpoint(t, s, endpoint("ann", "a"))
	for _, odd := range []string{"\x00", "a\x00", "\xff", "café\xe9"} {
		_, monitor := s.Monitor(t.Context(), "ann", odd)
		_, paused := s.Pause(t.Context(), "ann", odd, true, noon)
		_, samples := s.Samples(t.Context(), watch.Numbers{Account: "ann", Monitor: odd, Field: "likes"})
		_, endpoint := s.Endpoint(t.Context(), "ann", odd)
		_, again := s.Again(t.Context(), "ann", odd, 1, noon)
		for _, got := range []struct{ err, want error }{
			{monitor, watch.ErrAbsent},
			{paused, watch.ErrAbsent},
			{samples, watch.ErrAbsent},
			{s.End(t.Context(), "ann", odd), watch.ErrAbsent},
			{endpoint, watch.ErrNoEndpoint},
			{s.EndEndpoint(t.Context(), "ann", odd), watch.ErrNoEndpoint},
			{again, watch.ErrNoDelivery},
		} {
			if !errors.Is(got.err, got.want) {
				t.Errorf("%q is not found with the error %v; want %v", odd, got.err, got.want)
			}
		}
		for _, q := range []watch.Since{{Account: "ann", Monitor: odd}, {Account: "ann", Type: odd}} {
			if all, err := s.Changes(t.Context(), q); err != nil || len(all) != 0 {
				t.Errorf("Changes(%+v) = %v, %v; want none", q, all, err)
			}
		}
		numbers := watch.Numbers{Account: "ann", Monitor: "of-github", Field: odd}
		if all, err := s.Samples(t.Context(), numbers); err != nil || len(all) != 0 {
			t.Errorf("Samples of %q = %v, %v; want none", odd, all, err)
		}
		outgoing := watch.Outgoing{Account: "ann", Endpoint: odd}
		if all, err := s.Deliveries(t.Context(), outgoing); err != nil || len(all) != 0 {
			t.Errorf("Deliveries to %q = %v, %v; want none", odd, all, err)
		}
	}

	for i, kind := range []string{watch.New, watch.Gone} {
		at := noon.Add(time.Duration(i) * time.Hour)
		p := poll(claimOne(t, s, at), at, 0)
		c := about("of-github", "github", "1", kind, at)
		c.Key, c.Type = new("1\x00"), kind
		p.Changes = []schema.Change{c}
		commit(t, s, p)
	}
	if all, err := s.Changes(t.Context(), watch.Since{Account: "ann", Type: watch.Gone}); err != nil || len(all) != 2 {
		t.Errorf("of an object that is gone, %d changes keep only that, %v; want 2", len(all), err)
	}
	queue(t, s, noon)
	attempted(t, s, watch.Attempt{
		Sending: claimDeliveries(t, s, noon, 1, 1)[0], At: noon, Detail: "it answered \x00\xff", State: watch.Failed,
		Disable: "it answered \x00\xff",
	})
	if e, err := s.Endpoint(t.Context(), "ann", "a"); err != nil || e.State() != watch.Disabled {
		t.Errorf("the endpoint is %s, %v; want disabled", e.State(), err)
	}
}
