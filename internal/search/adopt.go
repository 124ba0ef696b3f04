package search

import (
	"cmp"
	"context"
	"time"

	"github.com/socialdata/socialdata/operation"
)

// adopt continues the search that an earlier call with the same idempotency key has begun and whose process has died,
// from its record. It fails with [ErrNoJob] when there is none.
func (s *Service) adopt(ctx context.Context, req Request) (a *operation.Answer, kept string, err error) {
	id := req.jobID()
	if err := s.awaitEnd(ctx, req, id); err != nil {
		return nil, "", err
	}
	j, err := s.findJob(ctx, req.Who, id)
	if err != nil {
		return nil, "", err
	}
	st := j.lock()
	defer j.unlock()
	if st.Answered {
		return s.replay(ctx, st, s.balance(ctx, req.Who, st), req.ID), id, nil
	}
	if st.running != nil && !st.running.left { // this process is about to answer it
		return nil, "", errTaken
	}
	if s.settleLate(ctx, st); st.open() { // its process is alive, or the ledger cannot say yet what was charged
		return nil, "", errTaken
	}
	if !st.any(paid) {
		s.drop(ctx, st)
		return nil, "", ErrNoJob
	}
	return s.answerFirst(ctx, req, st)
}

// awaitEnd waits until a search without an answer is over, at most until its deadline.
func (s *Service) awaitEnd(ctx context.Context, req Request, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(req.Left, s.cfg.Timeout))
	defer cancel()
	for {
		j, err := s.findJob(ctx, req.Who, id)
		if err != nil {
			return err
		}
		st := j.lock()
		over := st.Answered || s.past(st.Deadline)
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
