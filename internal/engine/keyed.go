package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// storedAnswer is the answer in the record of a call with an idempotency key.
type storedAnswer struct {
	Answer  *operation.Answer
	Unknown []string `json:",omitempty"` // see [operation.Answer]
	At      time.Time
}

// errCutOff is the cause of the failure of a call that has panicked.
var errCutOff = errors.New("the call was cut off")

// request returns the call for package calls: with a record if it has an idempotency key and may cost something.
func (s *Session) request(ctx context.Context, row *read.Row, call operation.Call, price int64) (calls.Request, error) {
	req := calls.Request{Who: s.who, ID: call.RequestID}
	if call.IdempotencyKey == "" || price == 0 {
		return req, nil
	}
	if err := checkIdempotencyKey(call.IdempotencyKey); err != nil { // for a search: a read has checked it
		return req, err
	}
	var err error
	if req.Digest, err = s.books.conceal(ctx, requestOf(row, call)); err != nil {
		return req, err
	}
	// The ledger's key includes the request: the same key with another request is another charge.
	req.Once, err = s.books.conceal(ctx, call.IdempotencyKey+" "+req.Digest)
	req.Record, req.Life, req.Owned = calls.KeyedID(s.who.Account(), call.IdempotencyKey), s.cfg.AnswerLife, true
	return req, err
}

// answered makes a charged call, or repeats the answer of an earlier one with the same idempotency key. Do holds the price,
// reads, and makes due what the answer costs.
func (s *Session) answered(
	ctx context.Context, row *read.Row, call operation.Call, of calls.Request,
	do func(c *calls.Call) (*operation.Answer, error),
) (*operation.Answer, error) {
	c, err := s.calls.Begin(ctx, of)
	if err != nil {
		return nil, err
	}
	if c.Earlier {
		return s.replay(ctx, c, call)
	}
	defer c.End()
	failure := errCutOff
	defer func() {
		if failure != nil {
			c.Fail(ctx, failure)
		}
	}()
	answer, err := do(c)
	if err == nil {
		err = s.pay(ctx, c, row, call, answer)
	}
	if failure = err; err != nil {
		return nil, err
	}
	return answer, nil
}

// pay pays for an answer, which is stored before if the call has a record.
func (s *Session) pay(
	ctx context.Context, c *calls.Call, row *read.Row, call operation.Call, answer *operation.Answer,
) (err error) {
	var body []byte
	var marks privacy.Marks
	if c.Recorded() {
		if body, err = schema.Marshal(storedAnswer{answer, answer.Unknown, s.cfg.Now()}); err != nil {
			return err
		}
		marks = s.subjects(row, call, body)
	}
	if err := c.Pay(ctx, body, marks); err != nil {
		return err
	}
	answer.Meta.CreditsUsed, answer.Meta.CreditsRemaining, answer.Replayed = c.Used(), c.Balance(), c.Repeats()
	return nil
}

// replay repeats an answer. The credits are those of the first call, the balance is the current one, and the data has its
// real age and must not be cached.
func (s *Session) replay(ctx context.Context, c *calls.Call, call operation.Call) (*operation.Answer, error) {
	var stored storedAnswer
	if err := json.Unmarshal(c.Body(), &stored); err != nil {
		return nil, err
	}
	answer := stored.Answer
	answer.TTL, answer.Unknown, answer.Replayed = 0, stored.Unknown, !c.Charged()
	answer.Meta.RequestID, answer.Meta.Cache = call.RequestID, schema.Hit
	answer.Meta.DataAgeS += max(0, int64(s.cfg.Now().Sub(stored.At).Seconds()))
	answer.Meta.CreditsUsed = c.Used()
	var err error
	answer.Meta.CreditsRemaining, err = s.who.Balance(ctx)
	return answer, err
}

// subjects returns the marks of the people in a stored answer. A batch and an answer of the service's own operations may
// contain anyone: the first quotes parameters, the other any text. The marks of other answers are read from them, and the
// call's parameters are added: an answer need not name its subject, such as the products of a shop.
func (s *Session) subjects(row *read.Row, call operation.Call, body []byte) privacy.Marks {
	switch {
	case row.Of != nil:
		return s.erased.Marks(body) + privacy.MarksOf(privacy.Anything)
	case row.Service || row.Unsigned():
		return privacy.MarksOf(privacy.Anything)
	}
	return s.erased.Marks(body) + s.named(row, call)
}

// named returns the marks of all subjects in the parameters of the call.
func (s *Session) named(row *read.Row, call operation.Call) (marks privacy.Marks) {
	h := s.erased.Hasher()
	if h == nil {
		return privacy.MarksOf(privacy.Anything)
	}
	on := platform.ID(call.Platform)
	for _, pair := range call.Given() {
		for i := range row.Params {
			p := &row.Params[i]
			if p.Name != pair.Name || p.Subject == "" {
				continue
			}
			value := pair.Value
			if reduced, _, err := s.upstreams.Normalize(on, p.Subject, value); err == nil {
				value = reduced
			}
			marks += h.Called(on, value)
		}
	}
	return marks
}

// requestOf returns a text that identifies a request.
func requestOf(row *read.Row, call operation.Call) string {
	return row.Name + "|" + call.Platform + "|" + call.Path + "?" + call.Given().Values().Encode()
}

// checkIdempotencyKey returns an error for an invalid idempotency key; "" is valid and means none.
func checkIdempotencyKey(key string) error {
	visible := !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if key == "" || visible && len(key) >= 16 && len(key) <= 128 {
		return nil
	}
	return problem.New(problem.InvalidRequest, "Idempotency-Key must be given once, as 16 to 128 visible ASCII characters")
}

// changeLife is for how long the answer to a change is stored for its idempotency key.
const changeLife = 24 * time.Hour

// storedChange is the answer to a change.
type storedChange struct{ Answer string }

// changing is the operation in logs and problems of changes with an idempotency key.
var changing = &operation.Operation{Name: "manage", Path: "/manage", Service: true}

// Once makes a change of the session's account once for an idempotency key within a day. A repeated call gets the
// result of the earlier one, and waits while that is in progress. The result of a failed change is not stored.
func (s *Session) Once(
	ctx context.Context, idempotencyKey, request string, do func(context.Context) ([]byte, error),
) (answer []byte, replayed bool, err error) {
	ctx, id := named(ctx, "")
	if idempotencyKey == "" {
		answer, err = do(ctx)
		return answer, false, err
	}
	c, err := s.beginChange(ctx, id, idempotencyKey, request)
	if err != nil {
		return nil, false, s.fail(ctx, changing, operation.Call{RequestID: id}, err)
	}
	if c.Earlier {
		var stored storedChange
		err := json.Unmarshal(c.Body(), &stored)
		return []byte(stored.Answer), true, err
	}
	defer c.End()
	if answer, err = do(ctx); err != nil {
		c.Fail(ctx, nil) // calls that wait make the change themselves
		return nil, false, err
	}
	body, err := schema.Marshal(storedChange{string(answer)})
	if err == nil { // it may contain names that the account has chosen
		err = c.Pay(context.WithoutCancel(ctx), body, privacy.MarksOf(privacy.Anything))
	}
	if err != nil || !c.Stored() {
		s.cfg.Log.ErrorContext(ctx, "answer under an idempotency key not stored", "request_id", id, "error", err)
	}
	return answer, false, nil
}

func (s *Session) beginChange(ctx context.Context, id, idempotencyKey, request string) (*calls.Call, error) {
	if err := checkIdempotencyKey(idempotencyKey); err != nil {
		return nil, err
	}
	digest, err := s.books.conceal(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.calls.Begin(ctx, calls.Request{
		Who: s.who, ID: id, Record: calls.KeyedID(s.who.Account(), "manage "+idempotencyKey), Digest: digest,
		Life: changeLife, Owned: true,
	})
}

// outcome returns the outcome of a call for the account's unpaid calls.
func outcome(c *calls.Call, err error) account.Outcome {
	switch {
	case err != nil || c == nil:
		return account.Failed
	case c.Charged():
		return account.Charged
	}
	return account.Answered
}
