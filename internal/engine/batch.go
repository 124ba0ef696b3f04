package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
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

	parts     []*read.Part // of the reads; nil for one that is not made yet
	addresses []address    // of a batch of addresses, for each key; else nil
	lines     *bulkRead    // of a chunk of a bulk job; else nil
}

func newBatch(s *Session, row *read.Row, call operation.Call, queries *read.Queries) *batch {
	b := &batch{
		Session: s, Queries: queries, row: row, call: call, most: queries.Options.MaxCredits(),
		parts: make([]*read.Part, len(queries.Reads)),
	}
	for _, q := range b.Reads {
		b.quoteFor(q.Quote)
	}
	return b
}

// quoteFor adds the price of one read to that of the batch: an enrichment is paid once.
func (b *batch) quoteFor(one credits.Quote) {
	b.quote.Base += one.Base
	b.quote.Enrich = max(b.quote.Enrich, one.Enrich)
}

// planBatch checks and prices a batch.
func (s *Session) planBatch(ctx context.Context, row *read.Row, call operation.Call) (*batch, error) {
	if row.Of.Redirects {
		return s.planAddresses(ctx, row, call)
	}
	queries, err := s.reader.PlanMany(ctx, row, call)
	if err != nil {
		return nil, err
	}
	return newBatch(s, row, call, queries), nil
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
	of, err := s.request(ctx, row, call, b.quote.Total())
	if err != nil {
		return nil, err
	}
	return b.charge(ctx, of)
}

// charge answers the batch, and charges for the answer: at its known price when all of it is in the cache, otherwise by
// holding the maximum price.
func (b *batch) charge(ctx context.Context, of calls.Request) (*operation.Answer, error) {
	var made *calls.Call
	var unpaid *account.UnpaidCalls
	var missing []*read.Part
	answer, err := b.answered(ctx, b.row, b.call, of, func(c *calls.Call) (*operation.Answer, error) {
		made = c
		if err := account.Within(b.quote.Total(), b.most); err != nil {
			return nil, err
		}
		missing = b.recall(ctx)
		if missing == nil && b.quote.Enrich == 0 && !b.shorts() {
			answer, _, err := b.answer(ctx)
			if err != nil {
				return nil, err
			}
			return answer, c.Known(ctx, b.due(b.price(true), answer))
		}
		if err := c.Hold(ctx, calls.Item{Amount: b.quote.Total()}); err != nil {
			return nil, err
		}
		if b.shorts() {
			b.open(ctx)
			missing = append(missing, b.recall(ctx)...)
		}
		if len(missing) > 0 {
			sandbox := !slices.ContainsFunc(missing, func(p *read.Part) bool { return !b.reader.Sandbox(p.Query.Platform) })
			var err error
			if unpaid, err = b.who.Open(ctx, sandbox, len(missing)); err != nil {
				return nil, err
			}
		}
		return b.read(ctx, c, unpaid, missing)
	})
	b.close(ctx, made, unpaid, missing, err)
	return answer, err
}

// recall makes the parts that are not made yet, and returns those that the cache does not have.
func (b *batch) recall(ctx context.Context) (missing []*read.Part) {
	for i, q := range b.Reads {
		if b.parts[i] != nil {
			continue
		}
		part, ok := b.reader.Recalled(ctx, q)
		if !ok {
			part = &read.Part{Query: q, Context: ctx}
			missing = append(missing, part)
		}
		b.parts[i] = part
	}
	return missing
}

// read reads what is missing, and makes the price of the answer due.
func (b *batch) read(
	ctx context.Context, c *calls.Call, unpaid *account.UnpaidCalls, missing []*read.Part,
) (*operation.Answer, error) {
	over := b.over(ctx)
	if len(missing) > 0 {
		for i, p := range missing {
			p.Context = unpaid.Context(ctx, i) //nolint:fatcontext // each read has its own
		}
		b.reader.ReadMany(ctx, missing, time.Until(over))
		if err := ctx.Err(); err != nil { // a caller who has hung up pays nothing
			return nil, err
		}
		if err := b.failure(); err != nil {
			return nil, err
		}
	}
	rest, cancel := context.WithDeadline(ctx, over)
	defer cancel()
	answer, enriched, err := b.answer(rest)
	if err = errors.Join(err, ctx.Err()); err != nil { // a caller who has hung up meanwhile does not pay for a part
		return nil, err
	}
	c.Earn("", b.due(b.price(enriched), answer))
	return answer, nil
}

// due returns the charge for the batch.
func (b *batch) due(amount int64, answer *operation.Answer) credits.Charge {
	return credits.Charge{
		Amount: amount, Operation: b.row.Name, Platform: b.platform(), Cache: string(answer.Meta.Cache),
	}
}

// platform returns the platform of the batch; "" if its addresses are of several.
func (b *batch) platform() string {
	on := b.call.Platform
	for i, q := range b.Reads {
		switch {
		case i == 0:
			on = string(q.Platform)
		case on != string(q.Platform):
			return ""
		}
	}
	return on
}

// close settles the unpaid calls of the missing reads with the outcome of each. Every cached key that was charged gives back an
// unpaid call.
func (b *batch) close(ctx context.Context, c *calls.Call, unpaid *account.UnpaidCalls, missing []*read.Part, err error) {
	if unpaid != nil {
		outcomes := make([]account.Outcome, len(missing))
		for i, p := range missing {
			outcomes[i] = outcome(c, errors.Join(err, p.Err))
		}
		unpaid.Close(ctx, outcomes...)
	}
	if err == nil && c != nil && c.Charged() {
		known := 0
		for _, p := range b.parts {
			if p.Err == nil && !slices.Contains(missing, p) {
				known++
			}
		}
		b.who.Paid(ctx, known)
	}
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
		switch b.problem(p.Query.Row.Operation, string(p.Query.Platform), p.Err).Code {
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

// problem returns the error of a read of a key as the caller sees it: as for the read of the key alone.
func (b *batch) problem(o *operation.Operation, on string, err error) *problem.Error {
	p := problemOf(o, operation.Call{Platform: on}, err)
	p.RequestID = b.call.RequestID
	if b.call.Explain != nil {
		p.Type = b.call.Explain(p.Code)
	}
	return p
}
