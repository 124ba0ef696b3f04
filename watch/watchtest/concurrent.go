package watchtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// testFullConcurrently makes more monitors and endpoints than an account may have, all at once.
func testFullConcurrently(t *testing.T, s watch.Store) {
	t.Helper()
	const most, callers = 3, 8
	ctx := context.WithoutCancel(t.Context())
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			_, _, err := s.Put(ctx, monitor("ann", fmt.Sprint("m", i)), most)
			if err != nil && !errors.Is(err, watch.ErrFull) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			_, _, err := s.PutEndpoint(ctx, endpoint("ann", fmt.Sprint("e", i)), most)
			if err != nil && !errors.Is(err, watch.ErrEndpointsFull) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	monitors, err := s.Monitors(t.Context(), "ann", "", "", 0)
	if err != nil || len(monitors) != most {
		t.Errorf("%d monitors, %v; want %d", len(monitors), err, most)
	}
	if endpoints, err := s.Endpoints(t.Context(), "ann", "", 0); err != nil || len(endpoints) != most {
		t.Errorf("%d endpoints, %v; want %d", len(endpoints), err, most)
	}
}

// testEverythingConcurrently sweeps and erases while monitors are polled and their changes are delivered.
func testEverythingConcurrently(t *testing.T, s watch.Store) {
	t.Helper()
	const rounds, each = 15, 5
	accounts := []string{"ann", "bob"}
	ctx := context.WithoutCancel(t.Context())
	for _, account := range accounts {
		m := monitor(account, "posts")
		m.Follow = 0
		put(t, s, m)
		putEndpoint(t, s, endpoint(account, "a"))
		putEndpoint(t, s, endpoint(account, "b"))
	}
	at := func(round int) time.Time { return noon.Add(time.Duration(round) * time.Hour) }
	var wg sync.WaitGroup
	run := func(do func(round int) error) {
		wg.Go(func() {
			for i := range rounds {
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	run(func(round int) error {
		claims, err := s.Claim(ctx, at(round), 10, time.Minute)
		for _, c := range claims {
			p := poll(c, at(round), each)
			p.Samples = []watch.Sample{{Field: "likes", At: at(round), Value: 1}}
			if failed := s.Commit(ctx, p); !errors.Is(failed, watch.ErrLease) { // an erasure takes the lease
				err = errors.Join(err, failed)
			}
		}
		return err
	})
	for _, account := range accounts {
		run(func(round int) error {
			return s.Tell(ctx, account, []schema.Change{about("posts", "mock", "42", fmt.Sprint(account, round), at(round))})
		})
	}
	for range 2 {
		run(func(round int) error {
			_, err := s.Queue(ctx, noon, 7)
			sendings, failed := s.ClaimDeliveries(ctx, noon, 20, 5, time.Hour, nil)
			err = errors.Join(err, failed)
			for _, got := range sendings {
				a := watch.Attempt{Sending: got, At: noon, State: watch.Delivered}
				if round%3 == 0 {
					a.State = watch.Failed
					a.Tell = []schema.Change{change("", fmt.Sprint(got.Lease), at(round))}
				}
				if failed := s.Attempted(ctx, a); !errors.Is(failed, watch.ErrLease) { // its change was removed
					err = errors.Join(err, failed)
				}
			}
			return err
		})
		run(func(round int) error {
			_, err := s.Sweep(ctx, watch.Limits{
				Changes: at(round / 2), Bytes: 5000, Raw: at(round / 2), Samples: at(round / 2),
				Content: watch.Cuts{Rest: at(round)},
			})
			return err
		})
	}
	who := privacy.NewHasher(make([]byte, privacy.SecretLen)).Subject(platform.Mock, "", "42")
	run(func(int) error {
		_, err := s.Erase(ctx, who)
		return err
	})
	wg.Wait()
	for _, account := range accounts {
		last := int64(0)
		for _, c := range feedOf(t, s, account) {
			if c.Seq <= last {
				t.Errorf("the change at %d follows the one at %d", c.Seq, last)
			}
			last = c.Seq
		}
	}
}
