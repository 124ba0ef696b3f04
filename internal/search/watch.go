package search

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
)

// Watch makes a fan-out search and yields every change of a platform's state and every result as it comes, and finally
// the meta, until yield returns false. A part is charged just before its first event, so that a caller who hangs up
// pays only for what was yielded. The enrichment is charged with the last part.
func (s *Service) Watch(ctx context.Context, req Request, plan *Plan, yield func(operation.Event) bool) error {
	req.Over = s.over(req)
	plan.first = false // all results are yielded, so none is held back
	j, err := s.start(ctx, req, plan)
	if err != nil {
		return err
	}
	defer func() { // a caller who stays to the end leaves no record
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

// nextPart charges the next part that has ended and returns its events. If none has ended, it returns no events and a
// channel that is closed when one does.
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
			s.holds.settlePart(ctx, st, i)
		}
		if st.Parts[i].Stage == found { // the ledger's result is unknown: unless it is known now, the part is not shown
			s.holds.withdrawParts(ctx, st, i)
		}
		return st.events(i), st.running.changed
	}
	return nil, st.running.changed
}

// events returns the events of a part, without those that were yielded before.
func (st *state) events(i int) []operation.Event {
	p := &st.Parts[i]
	out := []operation.Event{{Platform: p.Platform, State: p.Stage.public()}}
	if p.Stage != paid {
		return out
	}
	for _, x := range st.fuse(st.shown(), []part{*p}) {
		out = append(out, operation.Event{Result: x.encoded()})
	}
	p.Shown = true
	return out
}

// endWatch yields the meta, or why there were no results.
func (s *Service) endWatch(ctx context.Context, req Request, j *job, yield func(operation.Event) bool) error {
	st := j.lock()
	s.holds.settleFee(ctx, st)
	if !st.any(paid) && len(st.Front) == 0 {
		defer j.unlock()
		return st.allFailed()
	}
	var next nextPage
	var err error
	r := st.clone()
	if st.away(func() { next, err = s.cursors.next(ctx, &r, nil) }); err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search is answered without a cursor", "job", st.ID, "error", err)
	}
	st.Complete = true
	a := s.answer(&st.record, nil, st.charged(), 0, Request{ID: req.ID})
	a.Meta.CreditsRemaining = s.balance(ctx, req.Who, st)
	j.unlock()
	a.Meta.NextCursor = next.Cursor
	yield(operation.Event{Meta: &a.Meta})
	return nil
}
