package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/records"
)

// changeLife is for how long the answer to a change is stored for its idempotency key.
const changeLife = 24 * time.Hour

// onceLease is how long a change may take before another call with its key makes it instead.
const onceLease = time.Minute

// change is the record of a change with an idempotency key. Without an answer it is in progress.
type change struct {
	Digest string // keyed hash of the request
	Claim  string
	Answer []byte `json:",omitempty"`
}

// changing is the operation in logs and problems of changes with an idempotency key.
var changing = &operation.Operation{Name: "manage", Path: "/manage", Service: true}

// Once makes a change of the session's account once for an idempotency key within a day. A repeated call gets the
// result of the earlier one, and waits while that is in progress. The result of a failed change is not stored.
func (s *Session) Once(
	ctx context.Context, idempotencyKey, request string, do func(context.Context) ([]byte, error),
) (answer []byte, replayed bool, err error) {
	ctx, id := named(ctx, "")
	if err := checkIdempotencyKey(idempotencyKey); err != nil {
		return nil, false, s.fail(ctx, changing, operation.Call{RequestID: id}, err)
	}
	if idempotencyKey == "" {
		answer, err = do(ctx)
		return answer, false, err
	}
	earlier, mine, err := s.claimChange(ctx, idempotencyKey, request)
	if err != nil {
		return nil, false, s.fail(ctx, changing, operation.Call{RequestID: id}, err)
	}
	if earlier != nil {
		return earlier.Answer, true, nil
	}
	lasting := context.WithoutCancel(ctx)
	if answer, err = do(ctx); err != nil {
		if err := s.cfg.Records.Delete(lasting, mine.Key, mine.Version); err != nil {
			s.cfg.Log.WarnContext(ctx, "claim on an idempotency key not removed", "request_id", id, "error", err)
		}
		return nil, false, err
	}
	var k change
	if err := json.Unmarshal(mine.Value, &k); err == nil {
		k.Answer = answer
		mine.Value, _ = json.Marshal(k) // strings and bytes: it cannot fail
	}
	if _, err := s.cfg.Records.Put(lasting, mine, changeLife); err != nil {
		s.cfg.Log.ErrorContext(ctx, "answer under an idempotency key not stored", "request_id", id, "error", err)
	}
	return answer, false, nil
}

// claimChange claims a key for a change, or returns the record of an earlier call with it.
func (s *Session) claimChange(
	ctx context.Context, idempotencyKey, request string,
) (earlier *change, mine records.Record, err error) {
	digest, err := s.books.conceal(ctx, request)
	if err != nil {
		return nil, mine, err
	}
	value, _ := json.Marshal(change{Digest: digest, Claim: rand.Text()}) // strings: it cannot fail
	mine = records.Record{
		Key: records.Key("idempotency", s.who.Account(), "manage "+idempotencyKey), Owner: s.who.Account(), Value: value,
		Subjects: privacy.MarksOf(privacy.Anything), // it contains names that the account has chosen
	}
	over := s.over(ctx)
	for {
		found, added, err := s.cfg.Records.Add(ctx, mine, onceLease)
		if err != nil {
			return nil, mine, err
		}
		if added {
			mine.Version = found.Version
			return nil, mine, nil
		}
		earlier = &change{}
		switch err := json.Unmarshal(found.Value, earlier); {
		case err != nil:
			return nil, mine, err
		case earlier.Digest != digest:
			return nil, mine, problem.New(problem.InvalidRequest,
				"Idempotency-Key has been used for another request; use a new one")
		case earlier.Answer != nil:
			return earlier, mine, nil
		case time.Now().After(over):
			return nil, mine, problem.New(problem.UpstreamTimeout,
				"an earlier request with this Idempotency-Key is still in progress; retry")
		}
		select {
		case <-ctx.Done():
			return nil, mine, errors.Join(errUnderWay, ctx.Err())
		case <-time.After(idempotencySlow):
		}
	}
}
