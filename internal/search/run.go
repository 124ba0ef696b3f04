package search

import (
	"context"
	"errors"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// enrichment is the name of the charge of the enrichment; those of the parts have the names of their platforms.
const enrichment = "enrichment"

const (
	// oneAttempt is for how long it is tried to pay while other parts are pending.
	oneAttempt = 2 * time.Second
	// retryAfter is the pause before it is tried again to pay, or to store what is paid.
	retryAfter = 200 * time.Millisecond
	// together is how long the end of other parts is waited for, so that they are stored in one write.
	together = 20 * time.Millisecond
)

// run is a search that this process makes. It belongs to one goroutine at a time.
type run struct {
	*record // what was found

	now     *record // the same with what is paid
	service *Service
	req     Request
	plan    *Plan
	call    *calls.Call
	unpaid  *account.UnpaidCalls
	ends    chan ended // of the parts
	cancel  context.CancelFunc
	over    *time.Timer // the end of the time for the parts
}

// ended is the result of a part.
type ended struct {
	part   int
	result partResult
	err    error
}

// start holds the whole price and starts every part. The caller must call done.
func (s *Service) start(ctx context.Context, req Request, plan *Plan, c *calls.Call) (*run, error) {
	if err := account.Within(plan.Price(), plan.most); err != nil {
		return nil, err
	}
	plan.typed = req.Typed
	for i := range plan.parts {
		plan.parts[i].q.Typed = req.Typed
	}
	if err := c.Hold(ctx, plan.items()...); err != nil {
		return nil, err
	}
	unpaid, err := s.openUnpaid(ctx, req.Who, plan)
	if err != nil {
		return nil, err
	}
	if !s.work.Begin() {
		unpaid.Close(ctx)
		return nil, errClosed
	}
	r := &run{
		record: plan.record(req), service: s, req: req, plan: plan, call: c, unpaid: unpaid,
		ends: make(chan ended, len(plan.parts)), over: time.NewTimer(time.Until(req.Over)),
	}
	r.Begun = s.cfg.Now()
	r.Deadline = r.Begun.Add(time.Until(req.Over))
	r.now = r.paidBy(c.Charges())
	detached, cancel := context.WithDeadline(context.WithoutCancel(unpaid.Context(ctx, 0)), req.Over)
	r.cancel = cancel
	for i := range plan.parts {
		s.work.Fork()
		go func() {
			defer s.work.End()
			result, err := s.fetcher.readPart(detached, plan, plan.parts[i].q)
			r.ends <- ended{i, result, err}
		}()
	}
	return r, nil
}

// openUnpaid reserves the unpaid calls of a search. A search that the cache can answer needs no unpaid call.
func (s *Service) openUnpaid(ctx context.Context, who account.Caller, plan *Plan) (*account.UnpaidCalls, error) {
	sandbox := true
	for _, part := range plan.parts {
		sandbox = sandbox && s.cfg.Reader.Sandbox(part.platform)
	}
	unpaid, err := who.Open(ctx, sandbox, 1)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.RateLimited {
		for _, part := range plan.parts {
			if s.cfg.Reader.Recall(ctx, part.q) == nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return unpaid, err
}

// items is what a search may be charged for.
func (p *Plan) items() []calls.Item {
	items := make([]calls.Item, 0, len(p.parts)+1)
	for _, part := range p.parts {
		items = append(items, calls.Item{Name: string(part.platform), Amount: part.q.Quote.Base})
	}
	if fee := p.enrichPrice(); fee > 0 {
		items = append(items, calls.Item{Name: enrichment, Amount: fee})
	}
	return items
}

// record is a search that begins: first the parts that are read, then those that have failed already.
func (p *Plan) record(req Request) *record {
	r := &record{Bound: p.bound, Recent: p.recent, Fresh: p.fresh, Seen: p.seen}
	if key := req.Who.Key(); key != nil {
		r.Key = key.ID
	}
	for _, planned := range p.parts {
		r.Parts = append(r.Parts, part{Platform: planned.platform, Stage: pending})
	}
	r.Parts = append(r.Parts, p.failed...)
	return r
}

// done ends a search: nothing of it is left to do in this process.
func (r *run) done(ctx context.Context) {
	defer r.service.work.End()
	r.cancel()
	r.over.Stop()
	r.call.End()
	outcome := account.Failed
	if r.now.any(paid) {
		outcome = account.Charged
	}
	r.unpaid.Close(ctx, outcome)
}

// end notes the result of a part.
func (r *run) end(ctx context.Context, e ended) {
	p := &r.Parts[e.part]
	if p.Stage != pending { // its time was over
		return
	}
	if e.err == nil {
		p.found(e.result)
	} else {
		p.Why = new(r.service.cfg.Explain(p.Platform, e.err))
		p.Stage, p.TimedOut = failed, upstreams.OnlyTimeouts(e.err) || errors.Is(e.err, context.DeadlineExceeded)
		r.service.cfg.Log.WarnContext(ctx, "a platform of a search failed", "platform", p.Platform, "error", e.err)
	}
	if r.Ended.IsZero() && !r.any(pending) {
		r.Ended = r.service.cfg.Now()
	}
}

func (p *part) found(r partResult) {
	p.Stage, p.Results, p.FetchedAt, p.Hit = found, r.data, r.entry.FetchedAt, r.state == schema.Hit
	p.HasText, p.Spoilt, p.list, p.price = r.hasText, r.spoilt, r.list, r.price
	if place, err := cursor.Place(r.entry.Next); err == nil && len(place) > 0 {
		p.Place = place
	}
}

// cut fails every part that is pending at the end of the time, whatever its provider is still doing.
func (r *run) cut(ctx context.Context) {
	for i := range r.Parts {
		if r.Parts[i].Stage == pending {
			r.end(ctx, ended{part: i, err: context.DeadlineExceeded})
		}
	}
}

// gather notes the results of parts that end within d.
func (r *run) gather(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for r.any(pending) {
		select {
		case e := <-r.ends:
			r.end(ctx, e)
			continue
		default:
		}
		select {
		case e := <-r.ends:
			r.end(ctx, e)
		case <-timer.C:
			return
		}
	}
}

// pay pays for what is found, and gives up what has failed. The enrichment is paid, or given up, once all parts are
// decided.
func (r *run) pay(ctx context.Context) error {
	for i := range r.Parts {
		r.earn(i)
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	return r.payFee(ctx)
}

// earn makes a part due that has found something, and gives up one that has failed.
func (r *run) earn(i int) {
	switch p := &r.Parts[i]; p.Stage {
	case found:
		r.call.Earn(string(p.Platform), credits.Charge{
			Amount: p.price, Operation: r.service.cfg.Row.Name, Platform: string(p.Platform), Cache: string(cached(p.Hit)),
		})
	case failed:
		r.call.Drop(string(p.Platform))
	case pending, paid:
	}
}

// payFee pays for the enrichment, or gives it up, once all parts are decided.
func (r *run) payFee(ctx context.Context) error {
	if r.now.partsOpen() || r.now.fee.Stage != pending {
		return nil
	}
	if r.now.feeIsEarned() {
		r.call.Earn(enrichment, credits.Charge{Amount: r.plan.enrichPrice(), Operation: r.service.cfg.All.Name})
	} else {
		r.call.Drop(enrichment)
	}
	return r.settle(ctx)
}

// settle pays for what is due: until the time of the call is over if nothing is pending any more.
func (r *run) settle(ctx context.Context) error {
	body, err := r.encoded()
	if err != nil {
		return err
	}
	if r.any(pending) || callctx.Of(ctx).Counts.IsZero() {
		err = r.call.PayOnce(ctx, oneAttempt, body, "")
	} else {
		err = r.call.Pay(ctx, body, "")
	}
	r.now = r.paidBy(r.call.Charges())
	return err
}

// encoded returns the search as it is stored, if it is.
func (r *run) encoded() ([]byte, error) {
	if !r.call.Recorded() {
		return nil, nil
	}
	return schema.Marshal(r.record)
}

func cached(hit bool) schema.CacheState {
	if hit {
		return schema.Hit
	}
	return schema.Miss
}

// names returns the names of everything that may still be paid.
func (r *run) names() []string {
	names := []string{enrichment}
	for i := range r.Parts {
		names = append(names, string(r.Parts[i].Platform))
	}
	return names
}

// giveUp gives up everything that is not paid, but what a stored record may call due: that stays pending.
func (r *run) giveUp(ctx context.Context) {
	r.cut(ctx)
	r.call.Drop(r.names()...)
	r.now = r.paidBy(r.call.Charges())
}

// continued pays for the parts that end after the first answer, until everything is decided and stored, or until the
// time of the search is over: then polls finish it.
func (r *run) continued(ctx context.Context) {
	for r.now.open() || !r.call.Stored() {
		var retry <-chan time.Time
		if r.now.any(found) || !r.now.partsOpen() {
			retry = time.After(retryAfter)
		}
		select {
		case e := <-r.ends:
			r.end(ctx, e)
			r.gather(ctx, together)
		case <-r.over.C:
			r.cut(ctx)
		case <-retry:
			if time.Until(r.req.Over) < -time.Second {
				return
			}
		}
		err := r.pay(ctx)
		if err != nil {
			r.service.cfg.Log.WarnContext(ctx, "a part of a search is not paid", "job", r.ID, "error", err)
		}
		if calls.Gone(err) {
			r.giveUp(ctx)
			return
		}
	}
}
