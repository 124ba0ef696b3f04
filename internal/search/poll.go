package search

import (
	"context"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// leastToTell is the part of a poll's time that is reserved for its own write, after waiting for those of other polls.
const leastToTell = 2 * time.Second

// Job returns what has been found since the last answer to the job or, once everything has been returned, all results
// again.
func (s *Service) Job(ctx context.Context, req Request, in operation.Args) (*operation.Answer, error) {
	who, id := req.Who, in.Get("id")
	waited, err := s.jobs.await(ctx, who, id, in.Seconds("wait_s", 0))
	if err != nil {
		return nil, err
	}
	ctx = operation.Extend(ctx, waited)
	j, err := s.jobs.find(ctx, who, id)
	if err != nil {
		return nil, err
	}
	st := j.lock()
	defer j.unlock()
	if s.settleLate(ctx, st); !st.Answered {
		return nil, ErrNoJob // the caller has no answer with its id yet
	}
	var balance int64
	st.away(func() { balance, err = who.Balance(ctx) })
	if err != nil {
		return nil, err
	}
	return s.tell(ctx, st, balance, req)
}

// tell returns the results and charges that no answer has reported yet. They are recorded as reported before they are
// returned, so that of two concurrent polls one reports them. If that write fails, it may have been made all the same,
// so the telling is kept in memory.
func (s *Service) tell(ctx context.Context, st *state, balance int64, req Request) (*operation.Answer, error) {
	failed := s.untold.take(st.ID)
	var tried []telling // of this poll, one for each write, which failed or was preceded by that of another process
	var results []ranked
	var used int64
	waits, cancel := context.WithDeadline(ctx, s.cfg.Accounts.Over(ctx).Add(-leastToTell)) // for other writes
	defer cancel()
	err := s.store.change(waits, st, func(r *record) bool {
		mine := r.telling()
		used = mine.credits
		again := r.landed(slices.Concat(failed, tried))
		for _, t := range again {
			used += t.credits
		}
		fence := len(r.landed(failed)) < len(failed) // forces a write, which an older one cannot follow
		if r.Complete {
			results = r.whole()
			return fence
		}
		for _, t := range again {
			r.unshow(t.parts)
		}
		news := len(r.unshown()) > 0 || used > 0 || !r.open()
		results = r.without(r.fuse(r.shown(), r.unshown()))
		r.tell(mine)
		tried = append(tried, mine)
		return news || fence
	})
	if err != nil {
		s.untold.keep(ctx, st.ID, append(failed, tried...))
		if ctx.Err() == nil && waits.Err() != nil {
			err = &account.UnavailableError{Store: "records", Err: err}
		}
		return nil, err
	}
	return s.answer(&st.record, results, used, balance, req), nil
}

// whole returns all results of a search, without those for the next page.
func (r *record) whole() []ranked {
	all := r.which(func(p part) bool { return p.Stage == paid })
	return slices.Concat(r.front(), r.without(r.fuse(nil, all)))
}

// forgetUntold removes what no answer has returned.
func (r *record) forgetUntold() {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == paid && !p.Shown {
			p.Stage = found
		}
	}
}

// settleLate ends a job whose process has not ended it: after the deadline, pending parts fail, and found parts are
// charged with the holds in the record.
func (s *Service) settleLate(ctx context.Context, st *state) {
	if st.running != nil || !st.open() || !s.store.past(st.Deadline) {
		return
	}
	// This is decided within the change, so that parts that another process has found or charged meanwhile are kept.
	if err := s.store.change(ctx, st, func(r *record) bool {
		given := r.any(pending)
		r.giveUp(pending, true)
		r.end(r.Deadline)
		return given
	}); err != nil {
		s.cfg.Log.ErrorContext(ctx, "late parts of a search are not abandoned", "job", st.ID, "error", err)
		return
	}
	s.holds.settle(ctx, st)
}

// Replay repeats the answer of a search with an idempotency key: everything that answers have returned so far, with the
// credits of the first one. New results are left for calls of Job.
func (s *Service) Replay(ctx context.Context, who account.Caller, id, requestID string) (*operation.Answer, error) {
	j, err := s.jobs.find(ctx, who, id)
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
	a := s.answer(&told, told.whole(), told.FirstTold, balance, Request{ID: requestID})
	a.Replayed, a.Meta.Cache, a.Meta.NextCursor = true, schema.Hit, st.Next.Cursor
	return a
}
