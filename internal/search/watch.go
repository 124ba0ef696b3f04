package search

import (
	"context"
	"slices"

	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Watch makes a fan-out search and yields every change of a platform's state and every result as it comes, and finally
// the meta, until yield returns false. A part is paid just before its first event, so that a caller who hangs up pays
// only for what was yielded. The enrichment is paid with the last part.
func (s *Service) Watch(ctx context.Context, req Request, plan *Plan, yield func(operation.Event) bool) error {
	req.Over = s.over(req)
	c, err := s.cfg.Calls.Begin(ctx, calls.Request{Who: req.Who, ID: req.ID})
	if err != nil {
		return err
	}
	r, err := s.start(ctx, req, plan, c)
	if err != nil {
		c.Fail(ctx, err)
		c.End()
		return err
	}
	defer r.done(ctx)
	defer r.giveUp(ctx) // a caller who stays to the end leaves nothing
	yielded := map[platform.ID]bool{}
	for len(yielded) < len(r.Parts) {
		i := slices.IndexFunc(r.Parts, func(p part) bool { return p.Stage != pending && !yielded[p.Platform] })
		if i < 0 {
			select {
			case e := <-r.ends:
				r.end(ctx, e)
			case <-r.over.C:
				r.cut(ctx)
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range r.show(ctx, i, yielded) {
			if !yield(e) {
				return nil
			}
		}
	}
	return r.endWatch(ctx, yield)
}

// show pays for a part that has ended, and returns its events, without results that were yielded before.
func (r *run) show(ctx context.Context, i int, yielded map[platform.ID]bool) []operation.Event {
	r.earn(i)
	if err := r.settle(ctx); err != nil {
		r.service.cfg.Log.WarnContext(ctx, "a part of a search is not paid", "request_id", r.req.ID, "error", err)
	}
	p := &r.now.Parts[i]
	if p.Stage == found { // the ledger's result is unknown: the part is not shown
		r.call.Drop(string(p.Platform))
		r.now = r.paidBy(r.call.Charges())
		p = &r.now.Parts[i]
	}
	out := []operation.Event{{Platform: p.Platform, State: p.Stage.public()}}
	if p.Stage == paid {
		before := slices.DeleteFunc(r.now.paid(), func(p part) bool { return !yielded[p.Platform] })
		for _, x := range r.now.fuse(before, []part{*p}) {
			out = append(out, operation.Event{Result: x.encoded()})
		}
	}
	yielded[p.Platform] = true
	return out
}

// endWatch yields the meta, or returns why there were no results.
func (r *run) endWatch(ctx context.Context, yield func(operation.Event) bool) error {
	if !r.now.any(paid) {
		return r.now.allFailed()
	}
	if err := r.payFee(ctx); err != nil {
		r.service.cfg.Log.WarnContext(ctx, "the enrichment of a search is not paid", "request_id", r.req.ID, "error", err)
	}
	r.giveUp(ctx) // if it is not known whether it was paid
	a, _ := r.answerFirst(ctx)
	meta := schema.Meta{
		RequestID: r.req.ID, CreditsUsed: r.now.charged(), CreditsRemaining: a.Meta.CreditsRemaining,
		NextCursor: a.Meta.NextCursor,
	}
	r.now.describe(&meta, r.service.cfg.Now())
	yield(operation.Event{Meta: &meta})
	return nil
}
