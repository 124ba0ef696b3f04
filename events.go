package socialdata

import (
	"context"
	"encoding/json"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// SearchEvent is one step of a fan-out search that is watched as it goes. Exactly one of Result and Meta is set, or
// neither, when a platform has come to its end.
type SearchEvent struct {
	Platform platform.ID          // of a transition; else ""
	State    schema.PlatformState // where it has come to
	Result   json.RawMessage      // one search result
	Meta     *schema.Meta         // the end: what all of it came to
}

// WatchSearch makes a fan-out search and hands every transition and every result to yield as it comes, and at last the
// meta, until yield returns false. The charges are those of [Client.SearchAll]; a caller who leaves pays
// for what has been handed over. Wait_s has no effect, and there is no order but that of arrival. Every error is a
// *[problem.Error], and yields nothing after it.
func (c *Client) WatchSearch(ctx context.Context, call Call, yield func(SearchEvent) bool) error {
	o := &opSearchAll.Operation
	if call.RequestID == "" {
		call.RequestID = NewRequestID()
	}
	if err := c.watch(ctx, o, call, yield); err != nil {
		return c.failed(ctx, o, call, err)
	}
	return nil
}

func (c *Client) watch(ctx context.Context, o *Operation, call Call, yield func(SearchEvent) bool) error {
	in, perr := bind(o.Params, call.Params)
	if perr != nil {
		return perr
	}
	if call.IdempotencyKey != "" {
		return problem.New(problem.InvalidRequest, "Idempotency-Key cannot be used with a stream of events: it cannot be given again")
	}
	s, err := c.planSearch(ctx, in)
	if err != nil {
		return err
	}
	s.first = false // nothing is held back from somebody who sees all of it
	j, err := c.startJob(ctx, s, call.RequestID, "")
	if err != nil {
		return err
	}
	defer func() { // a caller who stays to the end leaves nothing behind
		j.mu.Lock()
		defer j.mu.Unlock()
		c.leave(ctx, j)
	}()
	for _, held := range j.Held { // from the page before
		if !yield(SearchEvent{Result: held}) {
			return nil
		}
	}
	for {
		j.mu.Lock()
		c.collect(ctx, j) // what is handed over is paid for
		events, changed, done := j.transitions(), j.changed, j.pending() == 0
		j.mu.Unlock()
		for _, e := range events {
			if !yield(e) {
				return nil
			}
		}
		if done {
			return c.endWatch(ctx, j, call.RequestID, yield)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// transitions returns what has ended since the last look, with its results. The caller holds mu.
func (j *job) transitions() []SearchEvent {
	var out []SearchEvent
	for _, p := range j.Parts {
		if p.State == schema.Pending || p.Told {
			continue
		}
		before := j.told()
		p.Told = true
		out = append(out, SearchEvent{Platform: p.Platform, State: p.State})
		results, _ := j.fuse(before, []*jobPart{p}, false)
		for _, r := range results {
			out = append(out, SearchEvent{Result: r})
		}
	}
	return out
}

// endWatch says what all of it came to, or why nothing did.
func (c *Client) endWatch(ctx context.Context, j *job, requestID string, yield func(SearchEvent) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.any(schema.OK) && len(j.Held) == 0 {
		return j.allFailed()
	}
	next, err := c.nextSearch(ctx, j, "")
	if err != nil {
		c.log.ErrorContext(ctx, "a search goes without its cursor", "job", j.ID, "error", err)
	}
	a, err := c.jobAnswer(ctx, j, nil, requestID)
	if err != nil {
		return err
	}
	a.Meta.NextCursor = next
	yield(SearchEvent{Meta: &a.Meta})
	return nil
}
