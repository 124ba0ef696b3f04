package search

import (
	"context"

	"github.com/socialdata/socialdata/operation"
)

// adopt continues the search that an earlier call with the same idempotency key has begun and whose process has died,
// from its record. It fails with [ErrNoJob] when there is none.
func (s *Service) adopt(ctx context.Context, req Request) (a *operation.Answer, kept string, err error) {
	id := req.jobID()
	if err := s.jobs.awaitEnd(ctx, req, id); err != nil {
		return nil, "", err
	}
	j, err := s.jobs.find(ctx, req.Who, id)
	if err != nil {
		return nil, "", err
	}
	st := j.lock()
	defer j.unlock()
	if st.Answered {
		return s.replay(ctx, st, s.balance(ctx, req.Who, st), req.ID), id, nil
	}
	if st.running != nil { // this process is still making it
		return nil, "", errTaken
	}
	// Something is open if another process still makes the search, or if it is not known yet what was charged.
	if s.settleLate(ctx, st); st.open() {
		return nil, "", errTaken
	}
	if !st.any(paid) {
		s.store.drop(ctx, st)
		return nil, "", ErrNoJob
	}
	return s.answerFirst(ctx, req, st)
}
