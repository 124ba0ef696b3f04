package search

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
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
	left := cmp.Or(req.Left, s.cfg.Timeout)
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
	front, err := s.recall(ctx, plan, left)
	if err != nil {
		s.releaseAll(ctx, plan, books)
		tab.Close(ctx, account.Failed)
		return nil, err
	}
	j := newJob(state{record: plan.record(req, front), running: &running{
		plan: plan, books: books, tab: tab, changed: make(chan struct{}), asking: map[int]bool{},
	}})
	j.state.Deadline = s.cfg.Now().Add(left)
	for i := range plan.parts {
		j.state.Parts[i].Due = j.state.running.due(plan.parts[i].platform, s.cfg.Row.Name, plan.parts[i].q.Quote.Base, false)
	}
	j.state.Fee.Due = books.Due(enrichment, credits.Charge{Amount: plan.enrichPrice(), Operation: s.cfg.All.Name})
	s.run(ctx, j, left)
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
		if _, err := s.cfg.Settle(ctx, due); err != nil {
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
	if r.IdempotencyKey == "" {
		return "job_" + rand.Text()
	}
	sum := sha256.Sum256([]byte(records.Key("job", r.Who.Account(), r.IdempotencyKey)))
	return "job_" + base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// run starts every part. A part without a result at the end of the time fails, whatever its provider is still doing.
func (s *Service) run(ctx context.Context, j *job, left time.Duration) {
	st := j.lock()
	defer j.unlock()
	id, plan := st.ID, st.running.plan
	if len(plan.parts) == 0 {
		st.running.tab.Close(ctx, account.Answered)
		return
	}
	s.enter(id, j)
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), left)
	var all sync.WaitGroup
	for i := range plan.parts {
		all.Add(1)
		s.fork(func() {
			defer all.Done()
			s.runPart(detached, j, i)
		})
	}
	over := make(chan struct{})
	s.fork(func() {
		all.Wait()
		close(over)
	})
	s.fork(func() {
		defer cancel()
		s.finish(detached, id, j, over)
	})
}

// finish waits for the last part, or for the end of the time.
func (s *Service) finish(ctx context.Context, id string, j *job, over <-chan struct{}) {
	defer s.leave(id, j) // from now on it is answered from its record
	select {
	case <-over:
	case <-ctx.Done():
		s.cut(ctx, j)
	}
	j.closeTab(ctx)
}

// closeTab ends the tab of a search in which every part has ended. What was found will be paid for, unless the caller
// is gone.
func (j *job) closeTab(ctx context.Context) {
	st := j.lock()
	outcome := account.Failed
	if st.any(paid) || st.any(found) && !st.running.left {
		outcome = account.Charged
	}
	tab := st.running.tab
	j.unlock()
	tab.Close(context.WithoutCancel(ctx), outcome) // the end of the time does not mean that the caller is gone
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
	r, err := s.readPart(ctx, plan, plan.parts[i].q, nil)
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "a platform of a search failed",
			"job", id, "platform", plan.parts[i].platform, "error", err)
	}
	st = j.lock()
	defer j.unlock()
	if st.Parts[i].Stage != pending { // it was abandoned
		return
	}
	if err == nil && st.running.left {
		err = context.Canceled
	}
	s.endPart(ctx, st, i, r, err)
}

// endPart records the result of a part. Nothing is charged before there is an answer, so that a caller without an
// answer pays nothing. After the first answer each part is recorded and paid as it ends.
func (s *Service) endPart(ctx context.Context, st *state, i int, r partResult, err error) {
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
		s.release(ctx, st, string(p.Platform), p.Due)
	}
	if st.running.left {
		s.withdrawFee(ctx, st)
	}
}

// endLate records a part that has ended after the first answer, charges it, and records the charge. What cannot be
// recorded is not charged.
func (s *Service) endLate(ctx context.Context, st *state, i int) {
	if err := s.note(ctx, st); err != nil {
		s.cfg.Log.ErrorContext(ctx, "a part of a search is not noted",
			"job", st.ID, "part", st.Parts[i].Platform, "error", err)
		if st.Parts[i].Stage == found {
			s.withdrawPart(ctx, st, i)
		}
	}
	s.settle(ctx, st)
	if err := s.note(ctx, st); err != nil { // the hold in the record shows what was charged
		s.cfg.Log.ErrorContext(ctx, "a charge of a search is not noted", "job", st.ID, "error", err)
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

// partResult is the result of one platform's search.
type partResult struct {
	data    []byte // the results, with raw and enrichment if requested
	list    []ranked
	entry   *cache.Entry
	state   schema.CacheState
	price   int64 // credits
	hasText bool  // something could be enriched
	spoilt  bool  // something with text could not be
}

func (p *part) found(r partResult) {
	p.Stage, p.Results, p.FetchedAt, p.Hit = found, r.data, r.entry.FetchedAt, r.state == schema.Hit
	p.HasText, p.Spoilt, p.list = r.hasText, r.spoilt, r.list
	if place, err := cursor.Place(r.entry.Next); err == nil && len(place) > 0 {
		p.Place = place
	}
}

// readPart makes one platform's search and adds raw and enrichment to its results. only, if it is not nil, selects the
// results to keep.
func (s *Service) readPart(
	ctx context.Context, plan *Plan, q *read.Query, only map[uint64]bool,
) (r partResult, err error) {
	defer upstreams.Rescue(ctx, s.cfg.Log, &err, "operation", q.Row.Name, "platform", q.Platform)
	r.entry, r.state, err = s.cfg.Reader.Lookup(ctx, q)
	if err != nil {
		return r, err
	}
	r.price = s.cfg.Reader.Priced(q, r.entry).Base
	if only != nil {
		r.entry = pick(r.entry, only)
	}
	r.data = []byte(r.entry.Data)
	if plan.raw {
		if r.data, err = read.Splice(r.data, "raw", r.entry.Raw); err != nil {
			return r, err
		}
	}
	if plan.enrich && !bytes.Equal(r.data, []byte("[]")) {
		s.enrich(ctx, q, &r)
	}
	r.list = rankedOf(r.data, 0) // here, because this runs concurrently for each platform
	return r, ctx.Err()
}

// enrich adds enrichment to results, and notes whether there was anything to enrich and whether all of it was.
func (s *Service) enrich(ctx context.Context, q *read.Query, r *partResult) {
	a := &operation.Answer{Data: r.data}
	outcome := s.cfg.Reader.Enrich(ctx, q, r.entry, a)
	r.spoilt, r.hasText = outcome == read.PartlyEnriched, outcome != read.NothingToEnrich
	r.data = a.Data
}
