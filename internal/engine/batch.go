package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// keysAToken is how many keys count as one call in the rate limit (D79).
const keysAToken = 10

// batch is a call with many keys.
type batch struct {
	*Session
	*read.Queries

	row   *read.Row
	call  operation.Call
	quote credits.Quote // the maximum price
	most  int64         // the caller's limit for the price in credits; 0 is no limit

	parts []*read.Part // of the reads
}

// planBatch checks and prices a batch.
func (s *Session) planBatch(ctx context.Context, row *read.Row, call operation.Call) (*batch, error) {
	queries, err := s.reader.PlanMany(ctx, row, call)
	if err != nil {
		return nil, err
	}
	b := &batch{
		Session: s, Queries: queries, row: row, call: call, most: queries.Options.MaxCredits(),
		parts: make([]*read.Part, len(queries.Reads)),
	}
	for _, q := range b.Reads {
		b.quote.Base += q.Quote.Base
		b.quote.Enrich = q.Quote.Enrich // once
	}
	return b, nil
}

// readBatch makes a call with many keys, once for each idempotency key.
func (s *Session) readBatch(ctx context.Context, row *read.Row, call operation.Call) (*operation.Answer, error) {
	b, err := s.planBatch(ctx, row, call)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.NotFound {
		return nil, err
	}
	if keyErr := checkIdempotencyKey(call.IdempotencyKey); keyErr != nil {
		return nil, keyErr
	}
	if err != nil {
		return nil, err
	}
	if more := (len(b.Queries.Keys) - 1) / keysAToken; more > 0 && call.More != nil {
		if err := call.More(ctx, more); err != nil {
			return nil, err
		}
	}
	return s.idempotent(ctx, row, call, b.quote.Total(), nil,
		func(ctx context.Context, o once, over time.Time) (*operation.Answer, string, error) {
			answer, err := b.charge(ctx, over, o)
			return answer, "", err
		})
}

// charge answers the batch by the time over, and charges for the answer: in one step when all of it is in the cache,
// otherwise by holding the maximum price and settling the actual one.
func (b *batch) charge(ctx context.Context, over time.Time, o once) (*operation.Answer, error) {
	if err := account.Within(b.quote.Total(), b.most); err != nil {
		return nil, err
	}
	var missing []*read.Part
	for i, q := range b.Reads {
		part, ok := b.reader.Recalled(ctx, q)
		if !ok {
			part = &read.Part{Query: q, Context: ctx}
			missing = append(missing, part)
		}
		b.parts[i] = part
	}
	if missing != nil || b.quote.Enrich > 0 {
		return b.chargeRead(ctx, missing, over, o)
	}
	answer, _, err := b.answer(ctx)
	if err != nil {
		return nil, err
	}
	have := &ready{answer, b.due(b.price(true), answer)}
	if have.charge.Amount == 0 {
		answer.Meta.CreditsRemaining, err = b.who.Balance(ctx)
		return answer, err
	}
	paid, err := b.chargeHit(ctx, have, b.call.RequestID, o)
	if err == nil && paid.Meta.CreditsUsed > 0 && !paid.Replayed {
		b.who.Paid(ctx, b.found()-1) // chargeHit has given back the first one
	}
	return paid, err
}

// chargeRead holds the price, reads what is missing, and settles the price of the answer.
func (b *batch) chargeRead(
	ctx context.Context, missing []*read.Part, over time.Time, o once,
) (answer *operation.Answer, err error) {
	hold, err := b.who.Hold(ctx, b.quote.Total())
	if err != nil {
		return nil, err
	}
	charge := int64(0) // every early return below refunds the whole hold
	var tab *account.Tab
	defer func() {
		if answer == nil {
			answer = &operation.Answer{}
		}
		receipt, settleErr := b.settle(ctx, hold, b.call.RequestID, o, answer, b.due(charge, answer))
		if err == nil || charge > 0 { // a failed call that is free keeps its error
			err = errors.Join(err, settleErr)
		}
		b.close(ctx, tab, missing, receipt, err)
		if err != nil {
			answer = nil
		}
	}()
	if len(missing) > 0 {
		if tab, err = b.who.Open(ctx, b.reader.Sandbox(platform.ID(b.call.Platform)), len(missing)); err != nil {
			return nil, err
		}
		for i, p := range missing {
			p.Context = tab.Context(ctx, i) //nolint:fatcontext // each read has its own
		}
		b.reader.ReadMany(ctx, missing, time.Until(over))
		if err = ctx.Err(); err != nil { // a caller who has hung up pays nothing
			return nil, err
		}
		if err = b.failure(); err != nil {
			return nil, err
		}
	}
	rest, cancel := context.WithDeadline(ctx, over)
	defer cancel()
	answer, enriched, err := b.answer(rest)
	if err = errors.Join(err, ctx.Err()); err != nil { // a caller who has hung up meanwhile does not pay for a part
		return answer, err
	}
	charge = b.price(enriched)
	return answer, nil
}

// due returns the charge for the batch.
func (b *batch) due(amount int64, answer *operation.Answer) credits.Charge {
	return credits.Charge{
		Amount: amount, Operation: b.row.Name, Platform: b.call.Platform, Cache: string(answer.Meta.Cache),
	}
}

// close closes the tab of the missing reads with the outcome of each. Every cached key that was charged gives back an
// unpaid call.
func (b *batch) close(ctx context.Context, tab *account.Tab, missing []*read.Part, receipt credits.Receipt, err error) {
	if tab != nil {
		outcomes := make([]account.Outcome, len(missing))
		for i, p := range missing {
			outcomes[i] = outcome(receipt, errors.Join(err, p.Err))
		}
		tab.Close(ctx, outcomes...)
	}
	if err == nil && receipt.Charged > 0 && !receipt.Earlier {
		known := 0
		for _, p := range b.parts {
			if p.Err == nil && !slices.Contains(missing, p) {
				known++
			}
		}
		b.who.Paid(ctx, known)
	}
}

// found counts the reads that found an object.
func (b *batch) found() int {
	n := 0
	for _, p := range b.parts {
		if p.Err == nil {
			n++
		}
	}
	return n
}

// price returns the price of the answer: that of the reads that found an object, and of the enrichment once.
func (b *batch) price(enriched bool) int64 {
	n := int64(0)
	for _, p := range b.parts {
		if p.Err == nil {
			n += b.reader.Priced(p.Query, p.Entry).Base
		}
	}
	if enriched {
		n += b.quote.Enrich
	}
	return n
}

// failure returns the single problem of a batch in which every key has failed at the upstream: a timeout if all of them
// are.
func (b *batch) failure() error {
	var first, other error
	for _, key := range b.Queries.Keys {
		if key.Err != nil {
			return nil
		}
	}
	for _, p := range b.parts {
		if p.Err == nil {
			return nil
		}
		switch b.problem(p.Err).Code {
		case problem.UpstreamTimeout:
			first = p.Err
		case problem.PlatformUnavailable:
			if other == nil {
				other = p.Err
			}
		case problem.InternalError:
			return p.Err
		default:
			return nil
		}
	}
	if other != nil {
		return other
	}
	return first
}

// problem returns a key's error as the caller sees it: as for the read of the key alone.
func (b *batch) problem(err error) *problem.Error {
	p := problemOf(b.Row.Operation, operation.Call{Platform: b.call.Platform}, err)
	p.RequestID = b.call.RequestID
	if b.call.Explain != nil {
		p.Type = b.call.Explain(p.Code)
	}
	return p
}
