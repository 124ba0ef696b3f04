package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Session is an [Engine] bound to a caller. Every error of its methods is a *[problem.Error].
type Session struct {
	*Engine
	who account.Caller
}

// Key returns the caller's key, which is read-only; nil if the session is not bound to one.
func (s *Session) Key() *keys.Key { return s.who.Key() }

// Authenticate returns the session of the key with that secret. A missing, malformed, unknown or revoked key gives the
// same unauthorized problem.
func (s *Session) Authenticate(ctx context.Context, secret string) (Session, error) {
	who, err := s.accounts.Authenticate(ctx, secret)
	if err != nil {
		return Session{}, s.fail(ctx, nil, operation.Call{}, err)
	}
	return Session{s.Engine, who}, nil
}

// Admit counts one call in the rate limit of the session's key. The allowance is the state of the bucket in any case;
// when the bucket is empty the error is a rate_limited problem.
func (s *Session) Admit(ctx context.Context) (keys.Allowance, error) {
	allowance, err := s.who.Admit(ctx)
	if err != nil {
		p := s.fail(ctx, nil, operation.Call{}, err)
		s.remember(ctx, nil, operation.Call{RequestID: p.RequestID}, 0, nil, 0, p)
		return allowance, p
	}
	return allowance, nil
}

// AdmitMore counts n more calls in the rate limit of the session's key, for a call that has been admitted and counts as
// several. If the bucket has fewer, the error is a rate_limited problem, and none is taken.
func (s *Session) AdmitMore(ctx context.Context, n int) (keys.Allowance, error) {
	allowance, err := s.who.AdmitMore(ctx, n)
	if err != nil {
		return allowance, s.fail(ctx, nil, operation.Call{}, err)
	}
	return allowance, nil
}

// Do makes a call of the operation with o's name in the table.
func (s *Session) Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	var row *read.Row
	if o != nil {
		row = s.rows[o.Name]
	}
	ctx, call.RequestID = named(ctx, call.RequestID)
	if row == nil {
		return nil, s.fail(ctx, &operation.Operation{}, call, problem.New(problem.NotFound, "there is no such operation"))
	}
	begun := time.Now()
	var made *operation.Made
	if row.Redirects {
		target, to, instead, err := s.redirect(ctx, row, call, true)
		if err != nil {
			return s.report(ctx, row, call, begun, nil, err)
		}
		row, call, made = target, to, instead
	}
	answer, err := s.handle(ctx, row, call)
	if answer, err = s.report(ctx, row, call, begun, answer, err); err != nil {
		return nil, err
	}
	answer.Made = made
	return answer, nil
}

// Read makes a plain read of a row of the table for a caller in this process. The answer has an Envelope instead of
// Data, if the row can make one.
func (s *Session) Read(
	ctx context.Context, row *read.Row, on platform.ID, given operation.Pairs,
) (*operation.Answer, error) {
	call := operation.Call{Platform: string(on)}
	ctx, call.RequestID = named(ctx, "")
	begun := time.Now()
	if err := s.knowing(ctx, row); err != nil {
		return s.report(ctx, row, call, begun, nil, err)
	}
	q, err := s.reader.PlanPairs(ctx, row, on, given)
	if err != nil {
		return s.report(ctx, row, call, begun, nil, err)
	}
	q.Typed = true
	answer, err := s.charge(ctx, q, s.over(ctx), call.RequestID, once{})
	return s.report(ctx, row, call, begun, answer, err)
}

// report reports the result of a call to the observer and the request log, and translates its error into a problem.
func (s *Session) report(
	ctx context.Context, row *read.Row, call operation.Call, begun time.Time, answer *operation.Answer, err error,
) (*operation.Answer, error) {
	seen := observe.Call{Operation: row.Name, Platform: call.Platform, Duration: time.Since(begun)}
	if err != nil {
		p := s.fail(ctx, row.Operation, call, err)
		seen.Code = p.Code
		s.cfg.Observer.Call(seen)
		s.remember(ctx, row.Operation, call, seen.Duration, nil, 0, p)
		return nil, p
	}
	seen.Cache, seen.Credits, seen.Replayed = answer.Meta.Cache, answer.Meta.CreditsUsed, answer.Replayed
	s.cfg.Observer.Call(seen)
	s.remember(ctx, row.Operation, call, seen.Duration, &answer.Meta, chargedNow(row.Operation, answer), nil)
	return answer, nil
}

// chargedNow returns what this call itself was charged: CreditsUsed of a repeated call, or of a collected job, is an
// earlier charge.
func chargedNow(o *operation.Operation, a *operation.Answer) int64 {
	if a.Replayed || o.Price == operation.Free {
		return 0
	}
	return a.Meta.CreditsUsed
}

// named returns the id of a call, a new one for "", and a context with it.
func named(ctx context.Context, id string) (context.Context, string) {
	if id == "" {
		id = operation.NewRequestID()
	}
	return operation.WithRequestID(ctx, id), id
}

// handle makes a read from a platform, or calls the handler of one of the service's own operations.
func (s *Session) handle(ctx context.Context, row *read.Row, call operation.Call) (*operation.Answer, error) {
	if err := s.knowing(ctx, row); err != nil {
		return nil, err
	}
	if row.Service {
		return s.handlers[row.Name](ctx, s, row, call)
	}
	if row.Of != nil {
		return s.readBatch(ctx, row, call)
	}
	q, err := s.reader.Plan(ctx, row, call)
	return s.read(ctx, q, err, call)
}

// read makes a planned read, once for each idempotency key, unless planning failed. An invalid idempotency key is an
// invalid parameter: only an unknown path or platform is reported before it (D1).
func (s *Session) read(
	ctx context.Context, q *read.Query, planErr error, call operation.Call,
) (*operation.Answer, error) {
	if p, ok := errors.AsType[*problem.Error](planErr); ok && p.Code == problem.NotFound {
		return nil, planErr
	}
	if err := cmp.Or(checkIdempotencyKey(call.IdempotencyKey), planErr); err != nil {
		return nil, err
	}
	if call.IdempotencyKey == "" {
		return s.charge(ctx, q, s.over(ctx), call.RequestID, once{})
	}
	have, err := s.recall(ctx, q, call.RequestID)
	if err != nil {
		return nil, err
	}
	return s.idempotent(ctx, q.Row, call, q.Quote.Total(), have,
		func(ctx context.Context, o once, over time.Time) (*operation.Answer, string, error) {
			answer, err := s.charge(ctx, q, over, call.RequestID, o)
			return answer, "", err
		})
}

// charge answers q by the time over, and charges for the answer: in one step when it is in the cache, otherwise with a
// hold of the whole price.
func (s *Session) charge(
	ctx context.Context, q *read.Query, over time.Time, requestID string, o once,
) (*operation.Answer, error) {
	if err := account.Within(q.Quote.Total(), q.Most); err != nil {
		return nil, err
	}
	entry := s.reader.Recall(ctx, q)
	if whole(q, entry) {
		have, err := s.ready(ctx, q, entry, requestID)
		if err != nil {
			return nil, err
		}
		return s.chargeHit(ctx, have, requestID, o)
	}
	return s.chargeRead(ctx, q, entry, over, requestID, o)
}

// whole reports whether a cache entry, or nil, is the whole answer to q.
func whole(q *read.Query, entry *cache.Entry) bool {
	return entry != nil && !entry.NotFound && !q.Enrich
}

// recall returns the answer to q from the cache; nil when the cache does not have it, or when it costs more than the caller allows.
func (s *Session) recall(ctx context.Context, q *read.Query, requestID string) (*ready, error) {
	if account.Within(q.Quote.Total(), q.Most) != nil {
		return nil, nil //nolint:nilnil // charge refuses the call after its key is claimed
	}
	entry := s.reader.Recall(ctx, q)
	if !whole(q, entry) {
		return nil, nil //nolint:nilnil // the cache does not have the whole answer
	}
	return s.ready(ctx, q, entry, requestID)
}

// ready makes the answer to q from a cache entry that is the whole answer.
func (s *Session) ready(ctx context.Context, q *read.Query, entry *cache.Entry, requestID string) (*ready, error) {
	answer := &q.Blank
	answer.Meta.RequestID, answer.Meta.Cache = requestID, schema.Hit
	if err := s.reader.Fill(ctx, answer, entry, q); err != nil {
		return nil, err
	}
	return &ready{answer, credits.Charge{
		Amount: s.reader.Priced(q, entry).Total(), Operation: q.Row.Name, Platform: string(q.Platform),
		Cache: string(schema.Hit),
	}}, nil
}

// chargeHit charges for an answer that was in the cache.
func (s *Session) chargeHit(
	ctx context.Context, have *ready, requestID string, o once,
) (*operation.Answer, error) {
	if err := o.record(ctx, have.answer, have.charge); err != nil {
		return nil, err
	}
	receipt, err := s.who.Charge(ctx, requestID, o.key, have.charge)
	if err != nil {
		return nil, err
	}
	if receipt.Charged > 0 && !receipt.Earlier {
		s.who.Paid(ctx, 1)
	}
	answer := have.answer
	answer.Meta.CreditsUsed, answer.Meta.CreditsRemaining = receipt.Charged, receipt.Balance
	answer.Replayed = receipt.Earlier && o.key != "" // another call with the key has paid for it
	return answer, nil
}

// settle charges for an answer that was read, or releases its hold. After an error nothing is charged, unless it is
// [account.ErrUndecided].
func (s *Session) settle(
	ctx context.Context, hold credits.Hold, requestID string, o once, answer *operation.Answer, c credits.Charge,
) (credits.Receipt, error) {
	noteErr := o.record(ctx, answer, c)
	if noteErr != nil {
		c.Amount = 0
	}
	receipt, err := s.who.Settle(ctx, account.NewDue(hold, requestID, o.key, c))
	answer.Meta.CreditsUsed, answer.Meta.CreditsRemaining = receipt.Charged, receipt.Balance
	answer.Replayed = receipt.Earlier && o.key != "" // another call with the key has paid for it
	return receipt, errors.Join(noteErr, err)
}

// chargeRead holds the price of q, reads what known does not have, and settles the price of the answer.
func (s *Session) chargeRead(
	ctx context.Context, q *read.Query, known *cache.Entry, over time.Time, requestID string, o once,
) (answer *operation.Answer, err error) {
	answer = &q.Blank
	answer.Meta.RequestID, answer.Fresh = requestID, q.Fresh
	hold, err := s.who.Hold(ctx, q.Quote.Total())
	if err != nil {
		return nil, err
	}
	charge := int64(0) // every early return below refunds the whole hold
	var tab *account.Tab
	defer func() {
		receipt, settleErr := s.settle(ctx, hold, requestID, o, answer, credits.Charge{
			Amount: charge, Operation: q.Row.Name, Platform: string(q.Platform), Cache: string(answer.Meta.Cache),
		})
		if err == nil || charge > 0 { // a failed call that is free keeps its error
			err = errors.Join(err, settleErr)
		}
		tab.Close(ctx, outcome(receipt, err))
		if err != nil {
			answer = nil
		}
	}()
	reading := ctx // a variable of its own: settling detaches ctx, which costs more below the context of the tab
	if known == nil && q.Row.Upstream() {
		if tab, err = s.who.Open(ctx, s.reader.Sandbox(q.Platform), 1); err != nil {
			return answer, err
		}
		reading = tab.Context(ctx, 0)
	}
	quote, err := s.reader.Answer(reading, q, known, time.Until(over), answer)
	if err != nil {
		return answer, err
	}
	charge = quote.Total()
	return answer, nil
}

// outcome returns the outcome of a call for the account's unpaid calls.
func outcome(r credits.Receipt, err error) account.Outcome {
	switch {
	case err != nil:
		return account.Failed
	case r.Charged > 0 && !r.Earlier:
		return account.Charged
	}
	return account.Answered
}

// Stream makes a call of the operation with o's name in the table, which must stream. It yields every change of a
// platform's state and every result as it comes, and finally the meta, until yield returns false.
func (s *Session) Stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	ctx, call.RequestID = named(ctx, call.RequestID)
	streamed, stream := s.streamed(), s.fanOut
	if o != nil && o.Name == "changes" && s.rows[o.Name] != nil {
		streamed, stream = s.rows[o.Name].Operation, s.follow
	}
	if o == nil || streamed == nil || o.Name != streamed.Name {
		return s.fail(ctx, &operation.Operation{}, call, problem.New(problem.NotFound, "there is no such stream"))
	}
	begun, meta := time.Now(), schema.Meta{}
	err := stream(ctx, streamed, call, func(e operation.Event) bool {
		if e.Meta != nil {
			meta = *e.Meta
		}
		return yield(e)
	})
	if err != nil {
		p := s.fail(ctx, streamed, call, err)
		s.remember(ctx, streamed, call, time.Since(begun), nil, 0, p)
		return p
	}
	s.remember(ctx, streamed, call, time.Since(begun), &meta, meta.CreditsUsed, nil)
	return nil
}

// fanOut yields what a search of several platforms finds.
func (s *Session) fanOut(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	in, err := call.Bind(o.Params)
	if err != nil {
		return err
	}
	if err := s.erased.Ready(ctx); err != nil {
		return err
	}
	if call.IdempotencyKey != "" {
		return problem.New(problem.InvalidRequest,
			"Idempotency-Key cannot be used with a stream of events: streams are not stored for replay")
	}
	plan, err := s.search.Plan(ctx, s.who, in)
	if err != nil {
		return err
	}
	return s.search.Watch(ctx, search.Request{Who: s.who, ID: call.RequestID}, plan, yield)
}

// fail translates err for the caller, and logs its code and the loggable part of its cause with the call's id. The
// detail may quote the request and is not logged. o is nil if the operation is not known.
func (s *Session) fail(ctx context.Context, o *operation.Operation, call operation.Call, err error) *problem.Error {
	if o == nil {
		o = &operation.Operation{Name: "authentication"}
	}
	p := problemOf(o, call, err)
	p.RequestID = cmp.Or(call.RequestID, operation.RequestID(ctx), operation.NewRequestID())
	attrs := []any{"request_id", p.RequestID, "operation", o.Name, "code", p.Code}
	if s.cfg.Platforms.Has(platform.ID(call.Platform)) {
		attrs = append(attrs, "platform", call.Platform)
	}
	if cause := p.Unwrap(); cause != nil && p.HTTPStatus() >= problem.InternalError.Status() {
		attrs = append(attrs, "error", cause)
	}
	if lacking, ok := errors.AsType[*providers.MissingError](err); ok {
		attrs = append(attrs, "missing", lacking.Qualified())
	}
	level := slog.LevelDebug
	if info, _ := s.upstreams.Platforms().Lookup(platform.ID(call.Platform)); p.Code == problem.InternalError &&
		!info.Sandbox {
		level = slog.LevelError
	}
	s.cfg.Log.Log(ctx, level, "call failed", attrs...)
	return p
}
