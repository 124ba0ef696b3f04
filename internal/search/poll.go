package search

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// jobPoll is the interval at which the job of another process is read.
const jobPoll = time.Second

// ErrNoJob means that there is no such job. It is the same for a job that is unknown, has expired or belongs to another
// account.
var ErrNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// Job returns everything that the search of a job has found so far, and what it has charged so far. An answer is made
// from the stored record, in every process: what one answer says is true of all later ones.
func (s *Service) Job(ctx context.Context, req Request, in operation.Args) (*operation.Answer, error) {
	id := in.Get("id")
	waited, err := s.await(ctx, req, id, in.Seconds("wait_s", 0))
	if err != nil {
		return nil, err
	}
	ctx = callctx.Extend(ctx, waited)
	_, r, err := s.open(ctx, req, id)
	if err != nil {
		return nil, err
	}
	return s.collect(ctx, req, r)
}

// open returns the stored search of a job of the caller, which is finished if its process has left it.
func (s *Service) open(ctx context.Context, req Request, id string) (*calls.Call, *record, error) {
	c, err := s.cfg.Calls.Open(ctx, calls.RecordKey(id), req.Who.Account())
	if errors.Is(err, records.ErrAbsent) {
		return nil, nil, ErrNoJob
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := searchOf(c)
	return c, r, err
}

// searchOf returns the search in the record of a call, with what is paid.
func searchOf(c *calls.Call) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(c.Body(), r); err != nil {
		return nil, err
	}
	if len(r.Parts) == 0 { // another call has an idempotency key
		return nil, ErrNoJob
	}
	return r.paidBy(c.Charges()), nil
}

// replay repeats the answer of a search with an idempotency key, with what has been found and charged since.
func (s *Service) replay(ctx context.Context, req Request, c *calls.Call) (*operation.Answer, error) {
	r, err := searchOf(c)
	if err != nil {
		return nil, err
	}
	a, err := s.collect(ctx, req, r)
	if err != nil {
		return nil, err
	}
	a.Replayed, a.Meta.Cache = !c.Charged(), schema.Hit
	return a, nil
}

// collect answers with what is stored of a search.
func (s *Service) collect(ctx context.Context, req Request, r *record) (*operation.Answer, error) {
	balance, err := req.Who.Balance(ctx)
	if err != nil {
		return nil, err
	}
	a := s.answer(r, s.next(ctx, r), req)
	a.Meta.CreditsRemaining = balance
	return a, nil
}

// await waits until everything of a job of the caller is decided and stored, or for d, and returns for how long it has
// waited: at most d, even if the store needed longer.
func (s *Service) await(ctx context.Context, req Request, id string, d time.Duration) (waited time.Duration, err error) {
	for began := time.Now(); waited < d; waited = min(time.Since(began), d) {
		c, r, err := s.open(callctx.Extend(ctx, waited), req, id)
		if err != nil {
			return waited, err
		}
		if !r.open() || c.Over() {
			return waited, nil
		}
		rest := d - waited
		ended := s.running.of(id)
		if ended == nil {
			rest = min(rest, jobPoll)
		}
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-ended:
		case <-timer.C:
		}
		timer.Stop()
		if err != nil || ended != nil {
			return min(time.Since(began), d), err
		}
	}
	return waited, nil
}

// running are the jobs that this process makes, by their ids.
type running struct {
	mu sync.Mutex
	by map[string]chan struct{} // closed when a job has ended
}

// of returns a channel that is closed when the job has ended; nil if this process does not make it.
func (r *running) of(id string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[id]
}

// enter notes that this process makes a job until leave is called. If the record of a job is erased, and its search is
// repeated, two runs have the same id: then polls wait for the later one.
func (r *running) enter(id string) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := make(chan struct{})
	r.by[id] = ended
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(ended)
		if r.by[id] == ended {
			delete(r.by, id)
		}
	}
}
