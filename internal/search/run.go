package search

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

// start holds the whole price and starts every part.
func (s *Service) start(ctx context.Context, req Request, plan *Plan) (*job, error) {
	if !s.work.Begin() {
		return nil, errClosed
	}
	defer s.work.End()
	if err := account.Within(plan.Price(), plan.most); err != nil {
		return nil, err
	}
	plan.typed = req.Typed
	for i := range plan.parts {
		plan.parts[i].q.Typed = req.Typed
	}
	books, err := req.Who.Reserve(ctx, req.ID, req.IdempotencyKey, plan.items()...)
	if err != nil {
		return nil, err
	}
	tab, err := s.openTab(ctx, req.Who, plan)
	if err != nil {
		s.releaseAll(ctx, plan, books)
		return nil, err
	}
	ctx = tab.Context(ctx, 0)
	front, err := s.fetcher.recall(ctx, plan, req.Over)
	if err != nil {
		s.releaseAll(ctx, plan, books)
		tab.Close(ctx, account.Failed)
		return nil, err
	}
	j := newJob(state{record: plan.record(req, front), running: &running{
		plan: plan, books: books, tab: tab, changed: make(chan struct{}), asking: map[int]int{},
	}})
	j.state.Begun = s.cfg.Now()
	j.state.Deadline = j.state.Begun.Add(time.Until(req.Over))
	for i := range plan.parts {
		j.state.Parts[i].Due = j.state.running.due(plan.parts[i].platform, s.cfg.Row.Name, plan.parts[i].q.Quote.Base, false)
	}
	j.state.Fee.Due = books.Due(enrichment, credits.Charge{Amount: plan.enrichPrice(), Operation: s.cfg.All.Name})
	s.run(ctx, j, req.Over)
	return j, nil
}

// openTab opens the tab of a search. A search that the cache can answer needs no unpaid call.
func (s *Service) openTab(ctx context.Context, who account.Caller, plan *Plan) (*account.Tab, error) {
	sandbox := true
	for _, part := range slices.Concat(plan.parts, plan.held.pages) {
		sandbox = sandbox && s.cfg.Reader.Sandbox(part.platform)
	}
	tab, err := who.Open(ctx, sandbox, 1)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.RateLimited {
		for _, part := range slices.Concat(plan.parts, plan.held.pages) {
			if s.cfg.Reader.Recall(ctx, part.q) == nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return tab, err
}

// releaseAll releases the holds of a search that does not begin.
func (s *Service) releaseAll(ctx context.Context, plan *Plan, books account.Books) {
	for _, item := range plan.items() {
		due := books.Due(item.Name, credits.Charge{Operation: s.cfg.All.Name})
		if due.Hold.ID == "" {
			continue
		}
		if _, err := s.cfg.Accounts.Settle(ctx, due); err != nil {
			s.cfg.Log.WarnContext(ctx, "a hold of a search is not released", "part", item.Name, "error", err)
		}
	}
}

// items is what a search may be charged for.
func (p *Plan) items() []account.Item {
	items := make([]account.Item, 0, len(p.parts)+1)
	for _, part := range p.parts {
		items = append(items, account.Item{Name: string(part.platform), Amount: part.q.Quote.Base})
	}
	if fee := p.enrichPrice(); fee > 0 {
		items = append(items, account.Item{Name: enrichment, Amount: fee})
	}
	return items
}

// record is a search that begins: first the parts that are read, then those that have failed already.
func (p *Plan) record(req Request, front []json.RawMessage) record {
	r := record{
		ID: req.jobID(), Account: req.Who.Account(), Attempt: req.ID, Keyed: req.IdempotencyKey != "", Bound: p.bound,
		Recent: p.recent, First: p.first, Raw: p.raw, Enrich: p.enrich, Fresh: p.fresh, Seen: p.seen, Front: front,
		Fee: fee{Stage: pending},
	}
	if key := req.Who.Key(); key != nil {
		r.Key = key.ID
	}
	for _, part := range p.parts {
		r.Parts = append(r.Parts, newPart(part))
	}
	r.Parts = append(r.Parts, p.failed...)
	if p.enrichPrice() == 0 {
		r.Fee.Stage = failed
	}
	return r
}

func newPart(p searchPart) part { return part{Platform: p.platform, Stage: pending, From: p.from} }

// jobID returns a new id, or the one derived from the idempotency key.
func (r Request) jobID() string {
	rest := rand.Text()
	if r.IdempotencyKey != "" {
		rest = hashed("job", r.Who.Account(), r.IdempotencyKey)
	}
	return jobPrefix(r.Who.Account()) + rest[:idLength-markLength]
}

// The lengths of the part of a job's id after "job_", and of the mark of its account at the beginning of that.
const (
	idLength   = 26
	markLength = 5
)

// jobPrefix returns what the ids of an account's jobs begin with, so that they can be listed without reading all
// records. Other accounts may have the same.
func jobPrefix(account string) string { return "job_" + hashed("account", account)[:markLength] }

// hashed returns a hash of a key of records in the letters of [rand.Text].
func hashed(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(records.Key(kind, parts...)))
	return base32.StdEncoding.EncodeToString(sum[:])
}

// run starts every part. A part without a result at the end of the time fails, whatever its provider is still doing.
func (s *Service) run(ctx context.Context, j *job, over time.Time) {
	st := j.lock()
	defer j.unlock()
	id, plan := st.ID, st.running.plan
	if len(plan.parts) == 0 {
		st.running.tab.Close(ctx, account.Answered)
		return
	}
	s.jobs.enter(id, j)
	detached, cancel := context.WithDeadline(context.WithoutCancel(ctx), over)
	var all sync.WaitGroup
	for i := range plan.parts {
		all.Add(1)
		s.fork(func() {
			defer all.Done()
			s.runPart(detached, j, i)
		})
	}
	done := make(chan struct{})
	s.fork(func() {
		all.Wait()
		close(done)
	})
	s.fork(func() {
		defer cancel()
		s.finish(detached, id, j, done)
	})
}

// finish waits for the last part, or for the end of the time.
func (s *Service) finish(ctx context.Context, id string, j *job, done <-chan struct{}) {
	defer s.jobs.leave(id, j) // from now on it is answered from its record
	select {
	case <-done:
	case <-ctx.Done():
		s.cut(ctx, j)
	}
	j.closeTab(ctx)
}

// closeTab ends the tab of a search in which every part has ended. What was found will be paid for, unless the caller
// has hung up.
func (j *job) closeTab(ctx context.Context) {
	st := j.lock()
	outcome := account.Failed
	if st.any(paid) || st.any(found) && !st.left() {
		outcome = account.Charged
	}
	tab := st.running.tab
	j.unlock()
	tab.Close(context.WithoutCancel(ctx), outcome) // the end of the time does not mean that the caller has hung up
}

// fork runs work in the background; [Service.Close] waits for it.
func (s *Service) fork(work func()) {
	s.work.Fork()
	go func() {
		defer s.work.End()
		work()
	}()
}

// runPart makes one platform's search and records the result.
func (s *Service) runPart(ctx context.Context, j *job, i int) {
	st := j.lock()
	plan, id := st.running.plan, st.ID
	j.unlock()
	r, err := s.fetcher.readPart(ctx, plan, plan.parts[i].q, nil)
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "a platform of a search failed",
			"job", id, "platform", plan.parts[i].platform, "error", err)
	}
	st = j.lock()
	defer j.unlock()
	if st.Parts[i].Stage != pending { // it was abandoned
		return
	}
	if err == nil && st.left() {
		err = context.Canceled
	}
	s.endPart(ctx, st, i, r, err)
}

// endPart records the result of a part. Nothing is charged before there is an answer, so that a caller without an
// answer pays nothing. After the first answer each part is recorded and paid as it ends.
func (s *Service) endPart(ctx context.Context, st *state, i int, r partResult, err error) {
	ctx = operation.After(ctx) // no caller waits for a part that ends
	p := &st.Parts[i]
	if err == nil {
		p.found(r)
		p.Due = st.running.due(p.Platform, s.cfg.Row.Name, r.price, p.Hit)
	} else {
		p.Why = new(s.cfg.Explain(p.Platform, err))
		p.Stage, p.TimedOut = failed, upstreams.OnlyTimeouts(err) || errors.Is(err, context.DeadlineExceeded)
	}
	st.end(s.cfg.Now())
	if st.Answered {
		s.endLate(ctx, st, i)
	}
	st.signal()
	if err != nil {
		id, due, left := st.ID, p.Due, st.left()
		st.away(func() { s.holds.release(ctx, id, due, left) })
	}
	if st.left() {
		s.holds.withdrawFee(ctx, st)
	}
}

// endLate records a part that has ended after the first answer, charges it, and records the charge. What cannot be
// recorded is not charged.
func (s *Service) endLate(ctx context.Context, st *state, i int) {
	if err := s.store.note(ctx, st); err != nil {
		s.cfg.Log.ErrorContext(ctx, "a part of a search is not stored",
			"job", st.ID, "part", st.Parts[i].Platform, "error", err)
		if st.Parts[i].Stage == found {
			s.holds.withdrawParts(ctx, st, i)
		}
	}
	s.holds.settle(ctx, st)
	if err := s.store.note(ctx, st); err != nil { // the hold in the record shows what was charged
		s.cfg.Log.ErrorContext(ctx, "a charge of a search is not stored", "job", st.ID, "error", err)
	}
}

// cut fails every part that is pending at the end of the time.
func (s *Service) cut(ctx context.Context, j *job) {
	st := j.lock()
	defer j.unlock()
	for i := range st.Parts {
		if st.Parts[i].Stage == pending {
			s.endPart(ctx, st, i, partResult{}, context.DeadlineExceeded)
		}
	}
}

func (p *part) found(r partResult) {
	p.Stage, p.Results, p.FetchedAt, p.Hit = found, r.data, r.entry.FetchedAt, r.state == schema.Hit
	p.HasText, p.Spoilt, p.list = r.hasText, r.spoilt, r.list
	if place, err := cursor.Place(r.entry.Next); err == nil && len(place) > 0 {
		p.Place = place
	}
}
