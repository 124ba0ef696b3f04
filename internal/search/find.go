package search

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// jobPoll is the interval at which the job of another process is read.
const jobPoll = 200 * time.Millisecond

// ErrNoJob means that there is no such job. It is the same for a job that is unknown, has expired or belongs to another
// account.
var ErrNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// finder finds the jobs of this process in memory and all others in the store, and waits for them.
type finder struct {
	store *store
	looks singleflight.Group // reads of jobs of other processes

	mu   sync.Mutex
	live map[string]*job // the searches that this process makes
}

// running returns the job with that id if this process makes it, or nil.
func (f *finder) running(id string) *job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live[id]
}

// enter and leave maintain the jobs that this process makes.
func (f *finder) enter(id string, j *job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[id] = j
}

func (f *finder) leave(id string, j *job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[id] == j {
		delete(f.live, id)
	}
}

// find returns a job of this account.
func (f *finder) find(ctx context.Context, who account.Caller, id string) (*job, error) {
	j := f.running(id)
	if j == nil {
		r, version, err := f.store.load(ctx, id)
		if err != nil {
			return nil, err
		}
		j = newJob(state{record: *r, version: version})
	}
	st := j.lock()
	defer j.unlock()
	if st.Account != who.Account() {
		return nil, ErrNoJob
	}
	return j, nil
}

// await waits until a job of this account has ended, or for d, and returns for how long it has waited.
func (f *finder) await(
	ctx context.Context, who account.Caller, id string, d time.Duration,
) (waited time.Duration, err error) {
	over := time.Now().Add(d)
	j, err := f.find(ctx, who, id)
	if err != nil {
		return 0, err
	}
	st := j.lock()
	done := !st.open() || f.store.past(st.Deadline)
	j.unlock()
	began := time.Now()
	for !done && time.Now().Before(over) {
		if j := f.running(id); j != nil {
			j.await(ctx, time.Until(over), settled)
			return time.Since(began), ctx.Err()
		}
		if done, err = f.look(operation.After(ctx), id, over); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// look reports, after a moment, whether a job of another process has ended. All callers that wait for the same job
// share a read of it.
func (f *finder) look(ctx context.Context, id string, over time.Time) (done bool, err error) {
	looked := f.looks.DoChan(id, func() (any, error) {
		time.Sleep(jobPoll)
		r, _, err := f.store.load(ctx, id)
		return err == nil && (!r.open() || f.store.past(r.Deadline)), err
	})
	timer := time.NewTimer(time.Until(over))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-timer.C:
		return false, nil
	case got := <-looked:
		done, _ = got.Val.(bool)
		return done, got.Err
	}
}

// awaitEnd waits until a search without an answer is over, at most until its deadline.
func (f *finder) awaitEnd(ctx context.Context, req Request, id string) error {
	ctx, cancel := context.WithDeadline(ctx, req.Over)
	defer cancel()
	for {
		j, err := f.find(ctx, req.Who, id)
		if err != nil {
			return err
		}
		st := j.lock()
		over := st.Answered || f.store.past(st.Deadline)
		j.unlock()
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(jobPoll):
		}
	}
}
