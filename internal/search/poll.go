package search

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// jobPoll is the interval at which the job of another process is read.
const jobPoll = 200 * time.Millisecond

// ErrNoJob means that there is no such job. It is the same for a job that is unknown, has expired or belongs to another
// account.
var ErrNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// Job returns what has been found since the last answer to the job or, once everything has been returned, all results
// again.
func (s *Service) Job(
	ctx context.Context, who account.Caller, requestID string, in operation.Args,
) (*operation.Answer, error) {
	id := in.Get("id")
	if err := s.awaitJob(ctx, who, id, in.Seconds("wait_s", 0)); err != nil {
		return nil, err
	}
	j, err := s.findJob(ctx, who, id)
	if err != nil {
		return nil, err
	}
	st := j.lock()
	defer j.unlock()
	if s.settleLate(ctx, st); !st.Answered {
		return nil, ErrNoJob // its id has not been given to the caller
	}
	var balance int64
	st.away(func() { balance, err = who.Balance(ctx) })
	if err != nil {
		return nil, err
	}
	return s.tell(ctx, st, balance, requestID)
}

// tell answers what no answer has told yet. It is noted as told before it is given: of two who ask at once, one is
// told. If that fails, it may have been noted all the same: what it would have told is kept in memory.
func (s *Service) tell(ctx context.Context, st *state, balance int64, requestID string) (*operation.Answer, error) {
	failed := s.untold.take(st.ID)
	var tried []telling // of this poll, each in a write that another process came before, or that failed
	var results []json.RawMessage
	var used int64
	waits, cancel := context.WithDeadline(ctx, s.over(ctx).Add(-leastToAsk)) // for other writes
	defer cancel()
	err := s.change(waits, st, func(r *record) bool {
		mine := r.telling()
		used = mine.credits
		again := r.landed(slices.Concat(failed, tried))
		for _, t := range again {
			used += t.credits
		}
		fence := len(r.landed(failed)) < len(failed) // a write that is still in progress must not succeed after this one
		if r.Complete {
			results = r.whole()
			return fence
		}
		for _, t := range again {
			r.unshow(t.parts)
		}
		news := len(r.unshown()) > 0 || used > 0 || !r.open()
		results = encoded(r.without(r.fuse(r.shown(), r.unshown())))
		r.tell(mine)
		tried = append(tried, mine)
		return news || fence
	})
	if err != nil {
		s.keepUntold(ctx, st.ID, append(failed, tried...))
		if ctx.Err() == nil && waits.Err() != nil {
			err = &account.UnavailableError{Store: "records", Err: err}
		}
		return nil, err
	}
	return s.answer(&st.record, results, used, balance, requestID), nil
}

// whole returns all results of a search, without those for the next page.
func (r *record) whole() []json.RawMessage {
	all := r.which(func(p part) bool { return p.Stage == paid })
	return slices.Concat(r.Front, encoded(r.without(r.fuse(nil, all))))
}

// forgetUntold removes what no answer has returned.
func (r *record) forgetUntold() {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == paid && !p.Shown {
			p.Stage = found
		}
	}
}

// settleLate ends a job whose process has not: after the deadline, what is pending has failed, and what was found is
// charged with the hold in the record.
func (s *Service) settleLate(ctx context.Context, st *state) {
	if st.running != nil || !st.open() || !s.past(st.Deadline) {
		return
	}
	// This is decided within the change, so that what another process has found or paid meanwhile is kept.
	if err := s.change(ctx, st, func(r *record) bool {
		given := r.any(pending)
		r.giveUp(pending, true)
		r.end(r.Deadline)
		return given
	}); err != nil {
		s.cfg.Log.ErrorContext(ctx, "what is late is not given up", "job", st.ID, "error", err)
		return
	}
	s.settle(ctx, st)
}

// awaitJob waits until a job of this account has ended, or for d.
func (s *Service) awaitJob(ctx context.Context, who account.Caller, id string, d time.Duration) error {
	over := time.Now().Add(d)
	j, err := s.findJob(ctx, who, id)
	if err != nil {
		return err
	}
	st := j.lock()
	done := !st.open() || s.past(st.Deadline)
	j.unlock()
	for !done && time.Now().Before(over) {
		if j := s.running(id); j != nil {
			j.await(ctx, time.Until(over), settled)
			return ctx.Err()
		}
		if done, err = s.look(ctx, id, over); err != nil {
			return err
		}
	}
	return nil
}

// look reports, after a moment, whether a job of another process has ended. All callers that wait for the same job
// share a read of it.
func (s *Service) look(ctx context.Context, id string, over time.Time) (done bool, err error) {
	looked := s.looks.DoChan(id, func() (any, error) {
		time.Sleep(jobPoll)
		r, _, err := s.load(ctx, id)
		return err == nil && (!r.open() || s.past(r.Deadline)), err
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

// findJob returns a job of this account.
func (s *Service) findJob(ctx context.Context, who account.Caller, id string) (*job, error) {
	j := s.running(id)
	if j == nil {
		r, version, err := s.load(ctx, id)
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

// Replay repeats the answer of a search with an idempotency key: everything that answers have returned so far, with the
// credits of the first one. It returns nothing new, which is left for calls of Job.
func (s *Service) Replay(ctx context.Context, who account.Caller, id, requestID string) (*operation.Answer, error) {
	j, err := s.findJob(ctx, who, id)
	if err != nil {
		return nil, err
	}
	balance, err := who.Balance(ctx)
	if err != nil {
		return nil, err
	}
	st := j.lock()
	defer j.unlock()
	if !st.Answered {
		return nil, ErrNoJob
	}
	return s.replay(ctx, st, balance, requestID), nil
}

func (s *Service) replay(ctx context.Context, st *state, balance int64, requestID string) *operation.Answer {
	s.settleLate(ctx, st)
	told := st.clone()
	told.forgetUntold()
	a := s.answer(&told, told.whole(), told.FirstTold, balance, requestID)
	a.Replayed, a.Meta.Cache, a.Meta.NextCursor = true, schema.Hit, st.Next.Cursor
	return a
}
