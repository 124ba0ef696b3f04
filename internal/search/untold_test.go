package search_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// silent is a store of records that fails from the next write of a job after arm until speak.
type silent struct {
	records.Store
	mu     sync.Mutex
	armed  bool
	silent bool
	writes bool // the write is made, but not answered
}

func (s *silent) arm(writes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed, s.writes = true, writes
}

func (s *silent) speak() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed, s.silent = false, false
}

func (s *silent) Get(ctx context.Context, key string) (records.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		return records.Record{}, errDisk
	}
	return s.Store.Get(ctx, key)
}

func (s *silent) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.armed || jobs(r.Key) == nil {
		return s.Store.Put(ctx, r, ttl)
	}
	if s.silent = true; s.writes {
		_, _ = s.Store.Put(ctx, r, ttl)
	}
	return 0, errDisk
}

// TestAFailedPollIsReportedAgainOrRefunded silences the store of records during a poll that would return one credit,
// for longer than the time of a call.
func TestAFailedPollIsReportedAgainOrRefunded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		writes bool // the write of the poll is made
		again  string
		used   int64 // in the next poll
		left   int64
	}{
		"recorded, and polled again in this process":        {true, "here", 1, 998},
		"recorded, and polled again in another process":     {true, "elsewhere", 0, 999},
		"recorded, and never polled again":                  {true, "", 0, 999},
		"not recorded, and polled again in this process":    {false, "here", 1, 998},
		"not recorded, and polled again in another process": {false, "elsewhere", 1, 998},
		"recorded, and polled again after the refund":       {true, "late", 0, 999},
		"not recorded, and polled again later":              {false, "late", 1, 998},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := enginetest.New(t, enginetest.Config{})
				store := &silent{Store: e.Records}
				here := over(t, e, nil, store, twoPlatforms()...)
				elsewhere := over(t, e, nil, nil, twoPlatforms()...)
				id := searchAll(t, here, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
				time.Sleep(6 * time.Second)
				store.arm(tt.writes)
				if _, err := here.Job(t.Context(), socialdata.JobRequest{ID: id}); err == nil {
					t.Fatal("a poll is answered that cannot be noted")
				}
				store.speak()
				asks := map[string]*socialdata.Client{"here": here, "elsewhere": elsewhere, "late": here}[tt.again]
				if tt.again == "late" {
					time.Sleep(time.Minute)
				}
				if asks != nil {
					got := job(t, asks, id, 0)
					if got.Meta.CreditsUsed != tt.used || got.Meta.JobID != "" {
						t.Errorf("meta is %+v, want %d credits", got.Meta, tt.used)
					}
					if ids := strings.Join(enginetest.IDs(got.Data), " "); !strings.Contains(ids, "x0") ||
						!strings.Contains(ids, "x1") {
						t.Errorf("results are %s", ids)
					}
					if again := job(t, asks, id, 0); again.Meta.CreditsUsed != 0 {
						t.Errorf("%d credits are reported twice", again.Meta.CreditsUsed)
					}
				}
				time.Sleep(time.Minute)
				if e.Balance(t) != tt.left {
					t.Errorf("%d credits are left, want %d", e.Balance(t), tt.left)
				}
			})
		})
	}
}

// TestAPollThatIsOverwrittenIsReportedAgain has another process overwrite the record of a poll before the poll can read
// it.
func TestAPollThatIsOverwrittenIsReportedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		platforms := append(twoPlatforms(),
			slow(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), 7*time.Second))
		store := &silent{Store: e.Records}
		makes, asks := over(t, e, nil, nil, platforms...), over(t, e, nil, store, platforms...)
		id := searchAll(t, makes, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
		time.Sleep(5 * time.Second)
		store.arm(true)
		failed := make(chan error, 1)
		go func() {
			_, err := asks.Job(t.Context(), socialdata.JobRequest{ID: id})
			failed <- err
		}()
		time.Sleep(2 * time.Second) // the last part is noted
		store.speak()
		if err := <-failed; err == nil {
			t.Fatal("the poll is answered")
		}
		if got := job(t, asks, id, 0); got.Meta.CreditsUsed != 2 || got.Meta.JobID != "" {
			t.Errorf("meta is %+v", got.Meta)
		}
		time.Sleep(time.Minute)
		if e.Balance(t) != 997 {
			t.Errorf("%d credits are left", e.Balance(t))
		}
	})
}

// TestAPartOfADeadProcessReportedByAFailedPollIsRefunded lets a process die after a charge under an idempotency key,
// and another one find that charge for a poll that fails.
func TestAPartOfADeadProcessReportedByAFailedPollIsRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		dying, store := &brittle{Store: e.Records}, &silent{Store: e.Records}
		ledger := &faulty{e.Ledger, func(c credits.Charge) error {
			if c.Platform == "x" {
				dying.set(jobs) // from now on no record can be written
			}
			return nil
		}}
		before, after := over(t, e, ledger, dying, twoPlatforms()...), over(t, e, nil, store, twoPlatforms()...)
		call := operation.Call{Params: url.Values{"query": {"coffee"}, "wait_s": {"1"}}, IdempotencyKey: "0123456789abcdef"}
		first, err := before.Do(t.Context(), socialdata.Operation("search_across"), call)
		if err != nil || first.Meta.JobID == "" || first.Meta.CreditsUsed != 1 {
			t.Fatalf("%+v, %v", first, err)
		}
		time.Sleep(20 * time.Second)
		e.Clock.Advance(time.Minute)
		if e.Balance(t) != 998 {
			t.Fatalf("%d credits are left", e.Balance(t))
		}
		store.arm(true)
		if _, err := after.Job(t.Context(), socialdata.JobRequest{ID: first.Meta.JobID}); err == nil {
			t.Fatal("a poll is answered that cannot be noted")
		}
		store.speak()
		time.Sleep(time.Minute)
		if e.Balance(t) != 999 {
			t.Errorf("%d credits are left of 1000, and 1 was reported", e.Balance(t))
		}
	})
}

// TestAFailedPollIsRefundedOnClose closes the engine immediately.
func TestAFailedPollIsRefundedOnClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &silent{Store: e.Records}
		c := over(t, e, nil, store, twoPlatforms()...)
		id := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second}).Meta.JobID
		time.Sleep(6 * time.Second)
		store.arm(true)
		if _, err := c.Job(t.Context(), socialdata.JobRequest{ID: id}); err == nil {
			t.Fatal("a poll is answered that cannot be noted")
		}
		store.speak()
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e.Balance(t) != 999 {
			t.Errorf("%d credits are left", e.Balance(t))
		}
	})
}

// stuck is a store of records with slow writes of jobs.
type stuck struct {
	records.Store
	mu   sync.Mutex
	long time.Duration
}

func (s *stuck) set(long time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.long = long
}

func (s *stuck) Put(ctx context.Context, r records.Record, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	long := s.long
	s.mu.Unlock()
	if jobs(r.Key) != nil {
		select {
		case <-time.After(long):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return s.Store.Put(ctx, r, ttl)
}

// TestAStoreOfRecordsThatHangsDoesNotBlockJobs lets the write for a late part hang: polls are answered meanwhile.
func TestAStoreOfRecordsThatHangsDoesNotBlockJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &stuck{Store: e.Records}
		c := over(t, e, nil, store, append(twoPlatforms(),
			slow(enginetest.Searcher(platform.YouTube, enginetest.Lists(10, enginetest.Some("y", 2)...)), 6*time.Second))...)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		store.set(4 * time.Second)
		asked := time.Now()
		for _, at := range []time.Duration{5500 * time.Millisecond, 6500 * time.Millisecond, 8 * time.Second} {
			time.Sleep(time.Until(asked.Add(at - time.Second)))
			began := time.Now()
			got := job(t, c, first.Meta.JobID, 0)
			if took := time.Since(began); took != 0 || got.Meta.CreditsUsed != 0 {
				t.Errorf("at %v a poll takes %v and tells %d credits", at, took, got.Meta.CreditsUsed)
			}
			wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Pending, platform.YouTube: schema.Pending},
				got.Meta.Platforms)
		}
		time.Sleep(time.Minute)
		store.set(0)
		e.Clock.Advance(time.Minute) // what could not be recorded as charged is settled at the deadline
		got := job(t, c, first.Meta.JobID, 0)
		if diff := gocmp.Diff([]string{"x0", "y0", "x1", "y1"}, enginetest.IDs(got.Data)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if got.Meta.CreditsUsed != 2 || got.Meta.JobID != "" || e.Balance(t) != 997 {
			t.Errorf("meta is %+v, %d credits left", got.Meta, e.Balance(t))
		}
	})
}

// TestPollsThatWaitForTheStoreEndInTime lets the write of a poll hang: others with results wait for it, but only
// for their own time.
func TestPollsThatWaitForTheStoreEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		store := &stuck{Store: e.Records}
		c := over(t, e, nil, store, append(twoPlatforms(), slow(enginetest.Searcher(platform.YouTube,
			enginetest.Lists(10, enginetest.Some("y", 2)...)), 14*time.Second))...)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: 1 * time.Second})
		time.Sleep(6 * time.Second)
		store.set(40 * time.Second)
		var polls sync.WaitGroup
		for range 5 {
			polls.Go(func() {
				began := time.Now()
				_, err := c.Job(t.Context(), socialdata.JobRequest{ID: first.Meta.JobID})
				enginetest.WantProblem(t, err, problem.PlatformUnavailable)
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("a poll fails after %v", took)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		polls.Wait()
		store.set(0)
		time.Sleep(2 * time.Minute)
	})
}
