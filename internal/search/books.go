package search

import (
	"context"
	"sync"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/schema"
)

// collect charges for every part that has ended well, before an answer shows it, and for the enrichment when nothing is
// pending any more. A part that cannot be paid for has failed. The caller holds mu.
func (s *Service) collect(ctx context.Context, j *job) {
	ok := make([]bool, len(j.Parts))
	var wg sync.WaitGroup // side by side: a durable ledger then writes them in one transaction
	for i, p := range j.Parts {
		if p.State == schema.OK && !p.paid && p.q != nil {
			wg.Go(func() { ok[i] = s.settlePart(ctx, j, p, p.q.Quote.Base) })
		}
	}
	wg.Wait()
	for i, p := range j.Parts {
		switch {
		case p.State != schema.OK || p.paid || p.q == nil:
		case ok[i]:
			p.paid = true
			j.Settled += p.q.Quote.Base
		default:
			p.State, p.Data, p.Next = schema.Failed, nil, ""
		}
	}
	if j.pending() == 0 {
		s.closeBooks(ctx, j)
	}
}

// closeBooks charges for the enrichment, once for all parts, if all of it succeeded and anything was paid, and drops it
// otherwise. The caller holds mu.
func (s *Service) closeBooks(ctx context.Context, j *job) {
	if j.closed {
		return
	}
	j.closed = true
	fee, paid := j.plan.enrichPrice(), false
	for _, p := range j.Parts {
		paid = paid || p.paid
		if p.paid && p.partial {
			fee = 0
		}
	}
	if !paid {
		fee = 0
	}
	if s.settle(ctx, j, enrichment, credits.Charge{Amount: fee}) {
		j.Settled += fee
	}
}

// leave drops everything that is not paid: the caller has gone before there was an answer. The caller holds mu.
func (s *Service) leave(ctx context.Context, j *job) {
	j.left = true
	for _, p := range j.Parts {
		if p.State == schema.OK && !p.paid {
			p.State = schema.Failed
			s.settlePart(ctx, j, p, 0)
		}
	}
	if j.pending() == 0 {
		s.closeBooks(ctx, j)
	}
}

// enrichment is what the hold of the enrichment is called; those of the parts are called like their platforms.
const enrichment = "enrichment"

// settlePart settles the hold of a part and tells whether the ledger did. The caller holds mu.
func (s *Service) settlePart(ctx context.Context, j *job, p *jobPart, amount int64) bool {
	charge := credits.Charge{Amount: amount, Platform: string(p.Platform), Cache: string(schema.Miss)}
	charge.Operation = p.q.Row.Name
	if p.Hit {
		charge.Cache = string(schema.Hit)
	}
	return s.settle(ctx, j, string(p.Platform), charge)
}

func (s *Service) settle(ctx context.Context, j *job, item string, charge credits.Charge) bool {
	if charge.Operation == "" {
		charge.Operation = s.cfg.All.Name
	}
	if _, err := j.books.Settle(ctx, item, charge); err != nil {
		s.cfg.Log.ErrorContext(ctx, "a part of a search was not settled", "job", j.ID, "part", item, "error", err)
		return false
	}
	return true
}
