package search

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
)

// Watch makes a fan-out search and hands every transition and every result to yield as it comes, and at last the meta,
// until yield returns false. A part is charged just before its first event: a caller who leaves pays for what has been
// handed over. The enrichment is charged with the last part.
func (s *Service) Watch(ctx context.Context, req Request, plan *Plan, yield func(operation.Event) bool) error {
	plan.first = false // nothing is held back from somebody who sees all of it
	j, err := s.start(ctx, req, plan)
	if err != nil {
		return err
	}
	defer func() { // a caller who stays to the end leaves nothing behind
		st := j.lock()
		defer j.unlock()
		_ = s.abandon(ctx, st, nil)
	}()
	for _, front := range j.front() {
		if !yield(operation.Event{Result: front}) {
			return nil
		}
	}
	told := map[platform.ID]bool{}
	for len(told) < len(plan.parts)+len(plan.failed) {
		events, changed := s.nextPart(ctx, j, told)
		for _, e := range events {
			if !yield(e) {
				return nil
			}
		}
		if events != nil {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.endWatch(ctx, req, j, yield)
}

func (j *job) front() []json.RawMessage {
	st := j.lock()
	defer j.unlock()
	return st.Front
}

// nextPart charges the next part that has ended and returns its events; none when it is still to come, which changed
// tells.
func (s *Service) nextPart(
	ctx context.Context, j *job, told map[platform.ID]bool,
) (events []operation.Event, changed <-chan struct{}) {
	st := j.lock()
	defer j.unlock()
	if ctx.Err() != nil {
		return nil, st.running.changed
	}
	for i := range st.Parts {
		if id := st.Parts[i].Platform; st.Parts[i].Stage == pending || told[id] {
			continue
		} else {
			told[id] = true
		}
		if st.Parts[i].Stage == found {
			s.settlePart(ctx, st, i)
		}
		if st.Parts[i].Stage == found { // the ledger cannot say: unless it can now, it is not shown
			s.withdrawPart(ctx, st, i)
		}
		return st.events(i), st.running.changed
	}
	return nil, st.running.changed
}

// events returns what has come of a part, without what was handed over before.
func (st *state) events(i int) []operation.Event {
	p := &st.Parts[i]
	out := []operation.Event{{Platform: p.Platform, State: p.Stage.public()}}
	if p.Stage != paid {
		return out
	}
	for _, x := range st.fuse(st.shown(), []part{*p}) {
		out = append(out, operation.Event{Result: x.raw})
	}
	p.Shown = true
	return out
}

// endWatch says what all of it came to, or why nothing did.
func (s *Service) endWatch(ctx context.Context, req Request, j *job, yield func(operation.Event) bool) error {
	st := j.lock()
	s.settleFee(ctx, st)
	if !st.any(paid) && len(st.Front) == 0 {
		defer j.unlock()
		return st.allFailed()
	}
	var next nextPage
	var err error
	r := st.clone()
	if st.away(func() { next, err = s.next(ctx, &r, nil) }); err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search goes without its cursor", "job", st.ID, "error", err)
	}
	st.Complete = true
	a := s.answer(&st.record, nil, st.charged(), 0, req.ID)
	a.Meta.CreditsRemaining = s.balance(ctx, req.Who, st)
	j.unlock()
	a.Meta.NextCursor = next.Cursor
	yield(operation.Event{Meta: &a.Meta})
	return nil
}
