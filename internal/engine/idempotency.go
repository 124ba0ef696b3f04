package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/records"
)

const (
	idempotencyTTL  = 24 * time.Hour
	idempotencyPoll = 20 * time.Millisecond
	// idempotencyLease is how long a claim outlives a process that has died; a living one renews it.
	idempotencyLease = 5 * time.Second
)

// replayed is what is kept under an idempotency key: the request, and its answer once there is one.
type replayed struct {
	Digest string
	Answer *operation.Answer
}

// idempotent makes a charged call, or, when the account has made it under the same idempotency key within a day, gives the
// same answer again for nothing.
func (s *Session) idempotent(
	ctx context.Context, row *read.Row, call operation.Call, price int64,
	work func(idempotencyKey string) (*operation.Answer, error),
) (*operation.Answer, error) {
	if call.IdempotencyKey == "" || price == 0 {
		return work("")
	}
	if err := checkIdempotencyKey(call.IdempotencyKey); err != nil { // of a search: a read has checked it
		return nil, err
	}
	key := records.Key("idempotency", s.who.Account(), call.IdempotencyKey)
	mine := replayed{Digest: digestOf(row, call)}
	for {
		existing, added, err := s.addRecord(ctx, key, mine)
		switch {
		case err != nil:
			return nil, err
		case added:
			return s.recorded(ctx, key, mine, call, work)
		case existing.Digest != mine.Digest:
			return nil, problem.New(problem.InvalidRequest, "Idempotency-Key has been used for another request; use a new one")
		case existing.Answer != nil:
			return s.replay(ctx, existing.Answer, call.RequestID)
		}
		// The first call is still under way: its answer, or its failure, decides.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(idempotencyPoll):
		}
	}
}

// recorded does the work and keeps its answer. A failure leaves no record, so that the call can be made again.
func (s *Session) recorded(
	ctx context.Context, key string, mine replayed, call operation.Call,
	work func(string) (*operation.Answer, error),
) (*operation.Answer, error) {
	detached := context.WithoutCancel(ctx)
	release := sync.OnceFunc(s.renew(detached, key, mine))
	done := false
	defer func() {
		release()
		if done {
			return
		}
		if derr := s.cfg.Records.Delete(detached, key, 0); derr != nil {
			s.cfg.Log.WarnContext(ctx, "claim on an idempotency key not dropped", "error", derr)
		}
	}()
	// The ledger's word holds the request as well: the same key on another one is another charge.
	answer, err := work(call.IdempotencyKey + " " + mine.Digest)
	if err != nil {
		return nil, err
	}
	release()
	done = true
	mine.Answer = answer
	b, err := json.Marshal(mine)
	if err == nil {
		_, err = s.cfg.Records.Put(detached, records.Record{Key: key, Value: b}, idempotencyTTL)
	}
	if err != nil {
		// The charge stands and the answer is good. A second call would be charged nothing, by the ledger's own record.
		s.cfg.Log.ErrorContext(ctx, "idempotent answer not kept", "request_id", call.RequestID, "error", err)
	}
	return answer, nil
}

// renew keeps the claim on a key until the function that it returns is called.
func (s *Session) renew(ctx context.Context, key string, mine replayed) (release func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(idempotencyLease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			b, err := json.Marshal(mine)
			if err == nil {
				_, err = s.cfg.Records.Put(ctx, records.Record{Key: key, Value: b}, idempotencyLease)
			}
			if err != nil {
				s.cfg.Log.WarnContext(ctx, "claim on an idempotency key not renewed", "error", err)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// replay gives an answer again. Nothing is charged; the balance is today's. It is as old as it is: no one may keep it.
func (s *Session) replay(ctx context.Context, a *operation.Answer, requestID string) (*operation.Answer, error) {
	a.Replayed, a.Meta.CreditsUsed, a.Meta.RequestID, a.TTL = true, 0, requestID, 0
	var err error
	a.Meta.CreditsRemaining, err = s.who.Balance(ctx)
	return a, err
}

// addRecord claims the key, or returns what stands there.
func (s *Session) addRecord(ctx context.Context, key string, mine replayed) (existing replayed, added bool, err error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return existing, false, err
	}
	old, added, err := s.cfg.Records.Add(ctx, records.Record{Key: key, Value: b}, idempotencyLease)
	if err != nil || added {
		return existing, added, err
	}
	if len(old.Value) == 0 {
		return existing, false, records.ErrAbsent
	}
	return existing, false, json.Unmarshal(old.Value, &existing)
}

func digestOf(row *read.Row, call operation.Call) string {
	sum := sha256.Sum256([]byte(row.Name + "|" + call.Platform + "|" + call.Path + "?" + call.Params.Encode()))
	return hex.EncodeToString(sum[:])
}

// checkIdempotencyKey refuses what is no idempotency key; "" is none, and fine.
func checkIdempotencyKey(key string) error {
	visible := !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if key == "" || visible && len(key) >= 16 && len(key) <= 128 {
		return nil
	}
	return problem.New(problem.InvalidRequest, "Idempotency-Key must be given once, as 16 to 128 visible ASCII characters")
}
