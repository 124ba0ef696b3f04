package search

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Event is one step of a fan-out search that is watched as it goes. Exactly one of Result and Meta is set, or
// neither, when a platform has come to its end.
type Event struct {
	Platform platform.ID          // of a transition; else ""
	State    schema.PlatformState // where it has come to
	Result   json.RawMessage      // one search result
	Meta     *schema.Meta         // the end: what all of it came to
}

// Watch makes a fan-out search and hands every transition and every result to yield as it comes, and at last the meta,
// until yield returns false. A caller who leaves pays for what has been handed over.
func (s *Service) Watch(
	ctx context.Context, who account.Caller, plan *Plan, requestID string, yield func(Event) bool,
) error {
	plan.first = false // nothing is held back from somebody who sees all of it
	j, err := s.start(ctx, who, plan, requestID, "")
	if err != nil {
		return err
	}
	defer func() { // a caller who stays to the end leaves nothing behind
		j.mu.Lock()
		defer j.mu.Unlock()
		s.leave(ctx, j)
	}()
	for _, held := range j.Held { // from the page before
		if !yield(Event{Result: held}) {
			return nil
		}
	}
	for {
		j.mu.Lock()
		s.collect(ctx, j) // what is handed over is paid for
		events, changed, done := j.transitions(), j.changed, j.pending() == 0
		j.mu.Unlock()
		for _, e := range events {
			if !yield(e) {
				return nil
			}
		}
		if done {
			return s.endWatch(ctx, who, j, requestID, yield)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// transitions returns what has ended since the last look, with its results. The caller holds mu.
func (j *job) transitions() []Event {
	var out []Event
	for _, p := range j.Parts {
		if p.State == schema.Pending || p.Told {
			continue
		}
		before := j.told()
		p.Told = true
		out = append(out, Event{Platform: p.Platform, State: p.State})
		results, _ := j.fuse(before, []*jobPart{p}, false)
		for _, r := range results {
			out = append(out, Event{Result: r})
		}
	}
	return out
}

// endWatch says what all of it came to, or why nothing did.
func (s *Service) endWatch(ctx context.Context, who account.Caller, j *job, requestID string, yield func(Event) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.any(schema.OK) && len(j.Held) == 0 {
		return j.allFailed()
	}
	next, err := s.next(ctx, j, "")
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search goes without its cursor", "job", j.ID, "error", err)
	}
	a, err := s.jobAnswer(ctx, who, j, nil, requestID)
	if err != nil {
		return err
	}
	a.Meta.NextCursor = next
	yield(Event{Meta: &a.Meta})
	return nil
}
