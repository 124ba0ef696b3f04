package search

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// All makes a fan-out search. It answers when all platforms have ended, or when the caller has waited long enough and
// there are results: the rest is then a job. With a key, c is made once; a repetition is answered from its record.
func (s *Service) All(ctx context.Context, req Request, plan *Plan, of calls.Request) (*operation.Answer, error) {
	req.Over = s.over(req)
	c, err := s.cfg.Calls.Begin(ctx, of)
	if err != nil {
		return nil, err
	}
	if c.Earlier {
		return s.replay(ctx, req, c)
	}
	r, err := s.start(ctx, req, plan, c)
	if err != nil {
		c.Fail(ctx, err)
		c.End()
		return nil, err
	}
	ends, failure := true, errCutOff
	defer func() {
		if ends {
			r.done(ctx)
		}
	}()
	defer func() {
		if failure != nil {
			c.Fail(ctx, failure)
		}
	}()
	r.ID = c.ID()
	if failure = r.first(ctx); failure != nil {
		return nil, failure
	}
	a, pending := r.answerFirst(ctx)
	if !pending {
		return a, nil
	}
	ends = false
	c.Answered()
	leave := s.running.enter(r.ID)
	go func() {
		ctx := callctx.After(context.WithoutCancel(ctx)) // no caller waits for it
		defer r.done(ctx)
		defer leave()
		r.continued(ctx)
	}()
	return a, nil
}

// errCutOff is the cause of the failure of a search that has panicked.
var errCutOff = errors.New("socialdata: the search was cut off")

// first waits for something to answer and pays for it, or returns why there is nothing.
func (r *run) first(ctx context.Context) error {
	waited := time.NewTimer(r.plan.wait)
	defer waited.Stop()
	for enough := r.plan.wait <= 0; ; {
		for r.any(pending) && (!enough || !r.any(found)) {
			select {
			case e := <-r.ends:
				r.end(ctx, e)
			case <-waited.C:
				enough = true
			case <-r.over.C:
				r.cut(ctx)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r.gather(ctx, 0)
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.any(found) {
			return r.allFailed()
		}
		err := r.pay(ctx)
		switch {
		case r.now.any(paid): // also if it is not stored what became of the enrichment: a repeat may have been told
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case calls.Gone(err), !r.any(pending) && errors.Is(err, calls.ErrUndecided):
			return err
		case !r.any(pending):
			return r.now.allFailed()
		}
		if !r.now.any(found) { // what was found cannot be paid: something else may be
			r.refuse()
			continue
		}
		select {
		case e := <-r.ends:
			r.end(ctx, e)
		case <-time.After(retryAfter):
		case <-r.over.C:
			r.cut(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refuse fails the parts that cannot be paid.
func (r *run) refuse() {
	for i := range r.Parts {
		if r.now.Parts[i].Stage == failed && r.Parts[i].Stage == found {
			r.Parts[i].fail(false)
		}
	}
}

// answerFirst makes the first answer, and reports whether the search continues as a job. What is paid for is answered:
// from here on, an internal error costs the caller at most a cursor, or what is pending.
func (r *run) answerFirst(ctx context.Context) (a *operation.Answer, goesOn bool) {
	s := r.service
	if r.now.open() && !r.keep(ctx) && !r.call.Promised() { // if something stays pending anyway, all of it does
		s.cfg.Log.ErrorContext(ctx, "a search cannot be stored: its parts that are not due are abandoned", "request_id", r.req.ID)
		r.giveUp(ctx)
	}
	next := s.next(ctx, r.now)
	a = s.answer(r.now, next, r.req)
	a.Fresh, a.Replayed = r.Fresh, r.call.Repeats()
	if a.Envelope == nil && !a.Pending && !r.now.any(failed) && !r.now.spoilt() { // a failed part may succeed the next time
		a.Seal(s.cfg.Row.TTL, next.Digest)
	}
	balance, err := r.req.Who.Balance(context.WithoutCancel(ctx))
	if err != nil { // a paid answer is returned all the same
		s.cfg.Log.ErrorContext(ctx, "the balance cannot be read", "request_id", r.req.ID, "error", err)
	}
	a.Meta.CreditsRemaining = balance
	return a, a.Pending
}

// keep stores the search, so that it can be continued, and reports whether it is stored with all that is paid.
func (r *run) keep(ctx context.Context) bool {
	if r.call.Recorded() {
		return r.call.Stored()
	}
	r.ID = calls.NewID(r.req.Who.Account())
	r.now.ID = r.ID
	body, err := schema.Marshal(r.record)
	if err == nil {
		err = r.call.Keep(ctx, r.ID, r.service.cfg.JobLife, body)
	}
	return err == nil
}

// next makes the cursor of the next page, once nothing is pending.
func (s *Service) next(ctx context.Context, r *record) nextPage {
	if r.open() {
		return nextPage{}
	}
	next, err := s.cursors.next(ctx, r)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a search is answered without a cursor", "job", r.ID, "error", err)
		return nextPage{}
	}
	return next
}

// answer makes an answer of the state of a search: everything that is paid for, and what has been charged for it. It has
// the id of a job while anything is pending.
func (s *Service) answer(r *record, next nextPage, req Request) *operation.Answer {
	results := r.fuse(nil, r.paid())
	a := &operation.Answer{Pending: r.open(), Meta: schema.Meta{
		RequestID: req.ID, CreditsUsed: r.charged(), NextCursor: next.Cursor,
	}}
	if req.Typed {
		a.Envelope = envelope(results)
	}
	if a.Envelope == nil {
		a.Data = list(results)
	}
	if a.Pending {
		a.Meta.JobID = r.ID
	}
	r.describe(&a.Meta, s.cfg.Now())
	return a
}

// envelope returns an envelope with copies of results, or nil when the value of one is not known.
func envelope(results []ranked) any {
	values := make([]schema.SearchResult, len(results))
	for i := range results {
		if values[i] = results[i].value; values[i].Object == nil {
			return nil
		}
	}
	return &schema.Envelope[[]schema.SearchResult]{Data: schema.CloneAll(values)}
}

// describe adds the state of each platform, the errors of those that failed, and the age of the oldest result.
func (r *record) describe(m *schema.Meta, now time.Time) {
	m.Platforms, m.Cache = map[platform.ID]schema.PlatformState{}, schema.Miss
	hits := true
	for i := range r.Parts {
		p := &r.Parts[i]
		m.Platforms[p.Platform] = p.Stage.public()
		if p.Stage == failed {
			if m.Errors == nil {
				m.Errors = map[platform.ID]schema.PlatformError{}
			}
			m.Errors[p.Platform] = p.why()
		}
		if p.Stage != paid {
			continue
		}
		hits = hits && p.Hit
		m.DataAgeS = max(m.DataAgeS, int64(now.Sub(p.FetchedAt).Seconds()))
	}
	if hits && r.any(paid) {
		m.Cache = schema.Hit
	}
}
