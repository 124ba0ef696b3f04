package search

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

const (
	jobTTL  = 15 * time.Minute // after completion
	jobPoll = 200 * time.Millisecond
)

// start holds the whole price and starts every part.
func (s *Service) start(ctx context.Context, who account.Caller, plan *Plan, requestID, idempotencyKey string) (*job, error) {
	j := &job{
		ID: "job_" + rand.Text(), Bound: plan.bound, Recent: plan.recent, First: plan.first, Seen: plan.seen,
		Account: who.Account(), Deadline: s.cfg.Now().Add(s.cfg.Timeout), changed: make(chan struct{}), plan: plan,
	}
	if err := s.takeOverflow(ctx, who, plan, j); err != nil {
		return nil, err
	}
	items := make([]account.Item, 0, len(plan.parts)+1)
	for _, p := range plan.parts {
		items = append(items, account.Item{Name: string(p.platform), Amount: p.q.Quote.Base})
		j.Parts = append(j.Parts, &jobPart{Platform: p.platform, State: schema.Pending, q: p.q})
	}
	for _, id := range plan.failed {
		j.Parts = append(j.Parts, &jobPart{Platform: id, State: schema.Failed})
	}
	var err error
	items = append(items, account.Item{Name: enrichment, Amount: plan.enrichPrice()})
	if j.books, err = who.Reserve(ctx, requestID, idempotencyKey, items...); err != nil {
		return nil, err
	}
	if len(plan.parts) == 0 {
		return j, nil
	}
	s.mu.Lock()
	s.live[j.ID] = j
	s.mu.Unlock()
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Timeout)
	var all sync.WaitGroup
	for i := range plan.parts {
		all.Add(1)
		s.wg.Go(func() {
			defer all.Done()
			s.runPart(detached, j, i)
		})
	}
	s.wg.Go(func() {
		all.Wait()
		cancel()
		s.mu.Lock()
		delete(s.live, j.ID) // from now on it is answered from the records
		s.mu.Unlock()
	})
	return j, nil
}

// runPart makes one platform's search and notes how it ended. Nothing is charged before there is an answer: a caller
// who gets none pays nothing. From the first answer on each part is paid as it ends.
func (s *Service) runPart(ctx context.Context, j *job, i int) {
	p := j.Parts[i]
	r, err := s.readPart(ctx, j.plan, p.q)
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		s.cfg.Log.WarnContext(ctx, "a platform of a search failed", "job", j.ID, "platform", p.Platform, "error", err)
	case j.left:
		err = context.Canceled
	default:
		p.State, p.Data, p.Next, p.FetchedAt, p.Hit = schema.OK, r.data, r.entry.Next, r.entry.FetchedAt, r.state == schema.Hit
		p.partial = !r.enriched
		if j.answered {
			s.collect(ctx, j)
		}
	}
	if err != nil {
		p.State, p.TimedOut = schema.Failed, read.OnlyTimeouts(err) || errors.Is(err, context.DeadlineExceeded)
		s.settlePart(ctx, j, p, 0)
	}
	if j.pending() == 0 {
		j.Ended = s.cfg.Now()
		if j.answered || j.left {
			s.closeBooks(ctx, j)
		}
	}
	close(j.changed)
	j.changed = make(chan struct{})
	s.keep(ctx, j)
}

// partResult is what one platform's search gave.
type partResult struct {
	data     []byte // the results, with raw and enrichment as asked
	entry    *cache.Entry
	state    schema.CacheState
	enriched bool // nothing failed to be enriched
}

// readPart makes one platform's search and gives its results their raw and enrichment.
func (s *Service) readPart(ctx context.Context, plan *Plan, q *read.Query) (r partResult, err error) {
	defer s.cfg.Reader.Rescue(ctx, q, &err) // nobody above could: this is a goroutine of its own
	r.entry, r.state, err = s.cfg.Reader.Lookup(ctx, q)
	if err != nil {
		return r, err
	}
	r.data, r.enriched = []byte(r.entry.Data), true
	if plan.raw {
		if r.data, err = read.Splice(r.data, "raw", r.entry.Raw); err != nil {
			return r, err
		}
	}
	if plan.enrich && !bytes.Equal(r.data, []byte("[]")) {
		a := &operation.Answer{Data: r.data}
		r.enriched = s.cfg.Reader.Enrich(ctx, q, r.entry, a) != read.PartlyEnriched
		r.data = a.Data
	}
	return r, nil
}

// keep stores a job whose id the caller knows. The caller holds mu.
func (s *Service) keep(ctx context.Context, j *job) {
	if !j.public {
		return
	}
	b, err := json.Marshal(j)
	if err == nil {
		end := j.Ended
		if end.IsZero() {
			end = j.Deadline
		}
		r := records.Record{Key: "job/" + j.ID, Value: b}
		_, err = s.cfg.Records.Put(context.WithoutCancel(ctx), r, end.Add(jobTTL).Sub(s.cfg.Now()))
	}
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "job not kept", "job", j.ID, "error", err)
	}
}
