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

// jobPoll is how often a job is looked at that another process works on.
const jobPoll = 200 * time.Millisecond

// ErrNoJob says that there is no such job. It is the same whether a job is unknown, expired or another account's.
var ErrNoJob = problem.New(problem.NotFound, "there is no such job, or it has expired")

// Job answers what has come since the last answer to the job, or, once all of it has been told, the whole again.
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
		return nil, ErrNoJob // nobody has been told its id
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
	waits, cancel := context.WithDeadline(ctx, s.over(ctx).Add(-leastToAsk)) // for others that write
	defer cancel()
	err := s.change(waits, st, func(r *record) bool {
		mine := r.telling()
		used = mine.credits
		again := r.landed(slices.Concat(failed, tried))
		for _, t := range again {
			used += t.credits
		}
		fence := len(r.landed(failed)) < len(failed) // a write that is still on its way must not come after this one
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

// whole returns all results of a search but for what waits for the next page.
func (r *record) whole() []json.RawMessage {
	all := r.which(func(p part) bool { return p.Stage == paid })
	return slices.Concat(r.Front, encoded(r.without(r.fuse(nil, all))))
}

// forgetUntold takes back what no answer has told.
func (r *record) forgetUntold() {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Stage == paid && !p.Shown {
			p.Stage = found
		}
	}
}

// settleLate ends a job whose process has not: at the deadline, what is pending has failed, and what was found is
// charged with the hold that was noted.
func (s *Service) settleLate(ctx context.Context, st *state) {
	if st.running != nil || !st.open() || !s.past(st.Deadline) {
		return
	}
	// Decided within the change: what another process has found or paid meanwhile is not given up.
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

// look reports, after a moment, whether a job that another process is working on has ended. All who wait for one job share
// each look at it.
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

// Replay answers a search again that was answered under an idempotency key: all that answers have told of it so far,
// with the credits of the first one. Nothing new is told by it: that waits for who asks for the job.
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
