package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/internal/upstreams"
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
	who    account.Caller
	source schema.CallSource
}

// As returns s bound to the caller with key.
func (s Session) As(key *keys.Key) Session {
	s.who = s.accounts.Caller(key)
	return s
}

// From returns s with the source of its calls in the request log.
func (s Session) From(source schema.CallSource) Session {
	s.source = source
	return s
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
	return Session{s.Engine, who, s.source}, nil
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
		call.Typed = false // the caller cannot know its type
	}
	answer, err := s.handle(ctx, row, call)
	if answer, err = s.report(ctx, row, call, begun, answer, err); err != nil {
		return nil, err
	}
	answer.Made = made
	row.View(&call).Show(answer)
	return answer, nil
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
	seen.Cache, seen.Replayed = answer.Meta.Cache, answer.Replayed
	if !answer.Replayed && row.Price != operation.Free { // else CreditsUsed is the charge of an earlier call
		seen.Credits = answer.Meta.CreditsUsed
	}
	s.cfg.Observer.Call(seen)
	s.remember(ctx, row.Operation, call, seen.Duration, &answer.Meta, seen.Credits, nil)
	return answer, nil
}

// named returns the id of a call, a new one for "", and a context with it.
func named(ctx context.Context, id string) (context.Context, string) {
	if id == "" {
		id = callctx.NewID()
	}
	return callctx.Begin(ctx, id), id
}

// handle makes a read from a platform, or calls the handler of one of the service's own operations.
func (s *Session) handle(ctx context.Context, row *read.Row, call operation.Call) (*operation.Answer, error) {
	switch row.Name {
	case "me", "usage", "requests", "platforms", "resolve", "health":
	default: // it shows stored data: who is erased or blocked must be known
		if err := s.erased.Ready(ctx); err != nil {
			return nil, err
		}
	}
	if do := s.handlers[row.Name]; do != nil {
		return do(ctx, s, row, call)
	}
	if row.Of != nil {
		return s.readBatch(ctx, row, call)
	}
	q, err := s.reader.Plan(ctx, row, call)
	return s.read(ctx, row, q, err, call)
}

// read makes a planned read, once for each idempotency key, unless planning failed.
func (s *Session) read(
	ctx context.Context, row *read.Row, q *read.Query, planErr error, call operation.Call,
) (*operation.Answer, error) {
	of, err := s.ready(ctx, row, q, planErr, call)
	if err != nil {
		return nil, err
	}
	q.Typed = call.Typed && call.IdempotencyKey == "" // a stored answer is encoded
	if q.Several() {
		return s.chargePages(ctx, row, q, call, of, nil)
	}
	return s.charge(ctx, q, call, of)
}

// ready returns the call of a read of row that has been planned. An invalid idempotency key is an invalid parameter:
// only an unknown path or platform is reported before it (D1). Each page counts as a call in the rate limit.
func (s *Session) ready(
	ctx context.Context, row *read.Row, q *read.Query, planErr error, call operation.Call,
) (calls.Request, error) {
	if p, ok := errors.AsType[*problem.Error](planErr); ok && p.Code == problem.NotFound {
		return calls.Request{}, planErr
	}
	if err := cmp.Or(checkIdempotencyKey(call.IdempotencyKey), planErr); err != nil {
		return calls.Request{}, err
	}
	if q.Pages > 1 && call.More != nil {
		if err := call.More(ctx, q.Pages-1); err != nil {
			return calls.Request{}, err
		}
	}
	return s.request(ctx, row, call, q.Total())
}

// charge answers q, and charges for the answer: at its known price when it is in the cache, otherwise with a hold of the
// whole price.
func (s *Session) charge(
	ctx context.Context, q *read.Query, call operation.Call, of calls.Request,
) (*operation.Answer, error) {
	var made *calls.Call
	var unpaid *account.UnpaidCalls
	answer, err := s.answered(ctx, q.Row, call, of, func(c *calls.Call) (*operation.Answer, error) {
		made = c
		if err := account.Within(q.Quote.Total(), q.Most); err != nil {
			return nil, err
		}
		entry := s.reader.Recall(ctx, q)
		if entry != nil && !entry.NotFound && !q.Enrich {
			return s.recall(ctx, c, q, entry, call.RequestID)
		}
		if err := c.Hold(ctx, calls.Item{Amount: q.Quote.Total()}); err != nil {
			return nil, err
		}
		reading := ctx
		if entry == nil && q.Row.Upstream() {
			var err error
			if unpaid, err = s.who.Open(ctx, s.reader.Sandbox(q.Platform), 1); err != nil {
				return nil, err
			}
			reading = unpaid.Context(ctx, 0)
		}
		answer := &operation.Answer{}
		answer.Meta.RequestID, answer.Fresh = call.RequestID, q.Fresh
		quote, err := s.reader.Answer(reading, q, entry, time.Until(s.over(ctx)), answer)
		if err == nil {
			c.Earn("", charged(q, quote.Total(), answer))
		}
		return answer, err
	})
	if unpaid != nil {
		unpaid.Close(ctx, outcome(made, err))
	} else if err == nil && made != nil && made.Charged() && answer.Meta.Cache == schema.Hit {
		s.who.Paid(ctx, 1)
	}
	return answer, err
}

// recall makes the answer to q from a cache entry that is the whole answer.
func (s *Session) recall(
	ctx context.Context, c *calls.Call, q *read.Query, entry *cache.Entry, requestID string,
) (*operation.Answer, error) {
	answer := &operation.Answer{}
	answer.Meta.RequestID, answer.Meta.Cache = requestID, schema.Hit
	if err := s.reader.Fill(ctx, answer, entry, q); err != nil {
		return nil, err
	}
	return answer, c.Known(ctx, charged(q, s.reader.Priced(q, entry).Total(), answer))
}

// charged returns the charge for the answer to q.
func charged(q *read.Query, amount int64, answer *operation.Answer) credits.Charge {
	return credits.Charge{
		Amount: amount, Operation: q.Row.Name, Platform: string(q.Platform), Cache: string(answer.Meta.Cache),
	}
}

// Stream makes a call of the operation with o's name in the table, which must stream. It yields every change of a
// platform's state and every result as it comes, and finally the meta, until yield returns false.
func (s *Session) Stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	ctx, call.RequestID = named(ctx, call.RequestID)
	streamed, stream := s.streamed(), s.fanOut
	follows := o != nil && o.Name == "changes" && s.rows[o.Name] != nil
	switch {
	case follows:
		streamed, stream = s.rows[o.Name].Operation, s.follow
	case o != nil && o.Lines && s.rows[o.Name] != nil:
		streamed, stream = s.rows[o.Name].Operation, s.streamBulkResults
	}
	if o == nil || streamed == nil || o.Name != streamed.Name {
		return s.fail(ctx, &operation.Operation{}, call, problem.New(problem.NotFound, "there is no such stream"))
	}
	begun, meta := time.Now(), schema.Meta{}
	yield = streamed.View(&call).Shows(streamed, yield)
	err := stream(ctx, streamed, call, func(e operation.Event) bool {
		if e.Meta != nil {
			meta = *e.Meta
		}
		return yield(e)
	})
	took := time.Since(begun)
	if follows { // it lasts as long as its caller wants
		took = 0
	}
	if err != nil {
		p := s.fail(ctx, streamed, call, err)
		s.remember(ctx, streamed, call, took, nil, 0, p)
		return p
	}
	s.remember(ctx, streamed, call, took, &meta, meta.CreditsUsed, nil)
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
	plan, err := s.search.Plan(ctx, in)
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
	p.RequestID = cmp.Or(call.RequestID, callctx.Of(ctx).ID, callctx.NewID())
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
	if p.Code == problem.InternalError {
		info, _ := s.upstreams.Platforms().Lookup(platform.ID(call.Platform))
		if !info.Sandbox || !errors.Is(err, upstreams.ErrPanic) { // a sandbox may be asked to panic
			level = slog.LevelError
		}
	}
	s.cfg.Log.Log(ctx, level, "call failed", attrs...)
	return p
}
