package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/search"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

const (
	// How long a call waits before it looks again what has come of an earlier one, at first and at most.
	idempotencyPoll, idempotencySlow = 20 * time.Millisecond, 250 * time.Millisecond
	// idempotencyLease is how long a claim outlives a process that has died; a living one renews it. A failure is told for
	// as long to those who waited for the claim.
	idempotencyLease = 5 * time.Second
)

// kept is what stands under an idempotency key: the request, whose claim it is, and what came of it.
type kept struct {
	Digest string
	Claim  string // of the call that makes the request

	Answer  *operation.Answer `json:",omitempty"` // of a read
	Due     *credits.Charge   `json:",omitempty"` // for Answer: whether it was made, the ledger says by the idempotency key
	Job     string            `json:",omitempty"` // of a search, which is replayed from its own record
	At      time.Time         // when it was answered
	Failure *failure          `json:",omitempty"` // for those who waited for it
}

// failure is a problem that a call under an idempotency key came to.
type failure struct {
	Code       problem.Code
	Detail     string
	RetryAfter time.Duration
}

// attempt is one call under an idempotency key.
type attempt struct {
	*Session
	row  *read.Row
	call operation.Call
	key  string    // of the record
	over time.Time // when the call is

	mine    kept
	version int64 // of the record that holds the claim
	ready   *ready

	ledgerKey string // what the ledger knows the charge by
}

// ready is an answer that was in the cache, with what it costs.
type ready struct {
	answer *operation.Answer
	charge credits.Charge
}

// work makes a charged call. Left is how long it may take; the idempotencyKey is the ledger's. Job is what the answer
// can be replayed from, or "" when it has to be kept itself.
type work func(
	ctx context.Context, idempotencyKey string, left time.Duration,
) (answer *operation.Answer, job string, err error)

// idempotent makes a charged call, or, when the account has made it under the same idempotency key within a day, gives
// the same answer again for nothing.
func (s *Session) idempotent(
	ctx context.Context, row *read.Row, call operation.Call, price int64, have *ready, do work,
) (*operation.Answer, error) {
	if call.IdempotencyKey == "" || price == 0 {
		answer, _, err := do(ctx, "", s.left(ctx))
		return answer, err
	}
	if err := checkIdempotencyKey(call.IdempotencyKey); err != nil { // of a search: a read has checked it
		return nil, err
	}
	digest, err := s.books.conceal(ctx, requestOf(row, call))
	if err != nil {
		return nil, err
	}
	a := &attempt{
		Session: s, row: row, call: call, key: records.Key("idempotency", s.who.Account(), call.IdempotencyKey),
		over: time.Now().Add(s.left(ctx)), mine: kept{Digest: digest, Claim: rand.Text()}, ready: have,
	}
	// The ledger's key holds the request as well: the same key on another one is another charge.
	if a.ledgerKey, err = s.books.conceal(ctx, call.IdempotencyKey+" "+digest); err != nil {
		return nil, err
	}
	if have != nil { // noted before it is paid for: two writes in all, and neither waits for another call
		a.mine.Answer, a.mine.Due, a.mine.At = have.answer, &have.charge, s.cfg.Now()
	}
	return a.share(ctx, do)
}

// share makes the call, or waits for another of this process that deals with the same key.
func (a *attempt) share(ctx context.Context, do work) (*operation.Answer, error) {
	for {
		own, mine := a.turns.take(a.key)
		if mine {
			var stands *kept
			defer func() { a.turns.end(a.key, own, stands) }()
			answer, err := a.make(ctx, do, &stands)
			return answer, err
		}
		if stands := own.await(ctx, a.over); stands != nil {
			answer, err := a.outcome(ctx, stands, stands.Claim)
			if err == nil || !errors.Is(err, errUnderWay) && !errors.Is(err, errVoid) {
				return answer, err
			}
		}
		if err := a.late(ctx); err != nil {
			return nil, err
		}
	}
}

// The two ways in which what stands under a key is no answer.
var (
	errUnderWay = errors.New("the earlier call is still under way")
	errVoid     = errors.New("nothing is left of the earlier call but its record")
)

// make claims the key and does the work, or waits for what comes of an earlier claim: its answer, or its failure, is
// everybody's who has waited for it. What stands under the key in the end goes to left.
func (a *attempt) make(ctx context.Context, do work, left **kept) (*operation.Answer, error) {
	waited := ""
	for wait := idempotencyPoll; ; wait = min(2*wait, idempotencySlow) {
		stands, err := a.look(ctx, waited)
		if err != nil {
			return nil, err
		}
		if stands != nil {
			answer, err := a.outcome(ctx, stands, waited)
			if err == nil || !errors.Is(err, errUnderWay) && !errors.Is(err, errVoid) {
				*left = stands
				return answer, err
			}
			if errors.Is(err, errVoid) {
				if stands, err = a.claim(ctx, a.version); err != nil {
					return nil, err
				}
			}
		}
		if stands == nil {
			*left = &a.mine
			if a.ready != nil {
				return a.paid(ctx)
			}
			return a.recorded(ctx, do)
		}
		waited = stands.Claim
		if err := a.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// paid charges for the answer that was at hand.
func (a *attempt) paid(ctx context.Context) (*operation.Answer, error) {
	receipt, err := a.pay(ctx, a.ready.answer, a.ready.charge)
	if err != nil {
		a.failed(ctx, err)
		return nil, err
	}
	a.ready.answer.Replayed = receipt.Earlier // another call under the key has paid for it
	return a.ready.answer, nil
}

// outcome returns what has come of the call that stands under the key, to one who has waited for that claim.
func (a *attempt) outcome(ctx context.Context, stands *kept, waited string) (*operation.Answer, error) {
	f := stands.Failure
	switch {
	case f != nil && stands.Claim == waited:
		return nil, problem.New(f.Code, "%s", f.Detail).After(f.RetryAfter)
	case f != nil:
		return nil, errVoid
	case stands.Digest != a.mine.Digest:
		return nil, problem.New(problem.InvalidRequest, "Idempotency-Key has been used for another request; use a new one")
	case stands.Answer == nil && stands.Job == "":
		return nil, errUnderWay
	}
	if stands.Due != nil {
		return a.settled(ctx, stands)
	}
	answer, err := a.replay(ctx, stands)
	if errors.Is(err, search.ErrNoJob) {
		return nil, errVoid
	}
	return answer, err
}

// settled gives an answer again of which it is not known whether it was paid for: the ledger says so, or is paid by this
// call.
func (a *attempt) settled(ctx context.Context, stands *kept) (*operation.Answer, error) {
	answer := a.again(stands)
	receipt, err := a.pay(ctx, answer, *stands.Due)
	if err != nil {
		return nil, err
	}
	answer.Replayed = receipt.Earlier
	stands.Due = nil
	if b, err := schema.Marshal(stands); err == nil && a.version != 0 { // so that no other call need ask the ledger
		r := records.Record{Key: a.key, Owner: a.who.Account(), Value: b, Version: a.version, Subjects: a.subjects(stands, b)}
		if _, err := a.cfg.Records.Put(context.WithoutCancel(ctx), r, a.cfg.AnswerLife-a.cfg.Now().Sub(stands.At)); err != nil {
			a.cfg.Log.DebugContext(ctx, "a paid answer is not noted as paid", "request_id", a.call.RequestID, "error", err)
		}
	}
	return answer, nil
}

// late fails when this call's own time is over.
func (a *attempt) late(ctx context.Context) error {
	if !time.Now().Before(a.over) {
		return problem.New(problem.UpstreamTimeout,
			"an earlier call under this Idempotency-Key has not come to its end in time; try again, and nothing is charged twice")
	}
	return ctx.Err()
}

// pause waits a moment for what the earlier call comes to, within this call's own time.
func (a *attempt) pause(ctx context.Context, wait time.Duration) error {
	if err := a.late(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// look returns what stands under the key, or claims it and returns nil. One that has waited only reads, which locks
// nothing, until nothing stands there.
func (a *attempt) look(ctx context.Context, waited string) (*kept, error) {
	if waited == "" {
		return a.claim(ctx, 0)
	}
	stands, err := a.cfg.Records.Get(ctx, a.key)
	if errors.Is(err, records.ErrAbsent) {
		return a.claim(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	a.version = stands.Version
	k := &kept{}
	return k, json.Unmarshal(stands.Value, k)
}

// claim writes the claim where nothing stands, or over that version, and returns nil; or it returns what stands there.
func (a *attempt) claim(ctx context.Context, over int64) (*kept, error) {
	r, err := a.record()
	if err != nil {
		return nil, err
	}
	ttl := idempotencyLease
	if a.ready != nil { // no claim that has to be renewed, but the answer
		ttl = a.cfg.AnswerLife
	}
	if r.Version = over; over != 0 {
		version, err := a.cfg.Records.Put(ctx, r, ttl)
		if err == nil || !errors.Is(err, records.ErrConflict) {
			a.version = version
			return nil, err
		}
		r.Version = 0
	}
	stands, added, err := a.cfg.Records.Add(ctx, r, ttl)
	if err != nil {
		return nil, err
	}
	a.version = stands.Version
	if added {
		return nil, nil
	}
	k := &kept{}
	return k, json.Unmarshal(stands.Value, k)
}

// record returns the record of the attempt as it is.
func (a *attempt) record() (records.Record, error) {
	b, err := schema.Marshal(&a.mine)
	return records.Record{Key: a.key, Owner: a.who.Account(), Value: b, Version: a.version, Subjects: a.subjects(&a.mine, b)}, err
}

// subjects returns the marks of a record, encoded as b, that may hold anyone: a failure quotes what was asked, as a batch does
// of the keys that it has not found, and the service's own operations answer with words that are not ours. Who is in the
// others is read from them, and whom the call named: what is answered need not say so, such as the products of a shop.
func (a *attempt) subjects(k *kept, b []byte) privacy.Marks {
	switch {
	case k.Answer != nil && a.row.Of != nil:
		return a.erased.Marks(b) + privacy.MarksOf(privacy.Anything)
	case k.Failure != nil || k.Answer != nil && (a.row.Service || a.row.Op == ""): // a raw read has no Op
		return privacy.MarksOf(privacy.Anything)
	case k.Answer != nil:
		return a.erased.Marks(b) + a.named()
	}
	return ""
}

// named returns the marks of everyone whom the parameters of the call name.
func (a *attempt) named() (marks privacy.Marks) {
	h := a.erased.Hasher()
	if h == nil {
		return privacy.MarksOf(privacy.Anything)
	}
	on := platform.ID(a.call.Platform)
	for _, pair := range a.call.Given() {
		for i := range a.row.Params {
			p := &a.row.Params[i]
			if p.Name != pair.Name || p.Subject == "" {
				continue
			}
			value := pair.Value
			if reduced, _, err := a.upstreams.Normalize(on, p.Subject, value); err == nil {
				value = reduced
			}
			marks += h.Called(on, value)
		}
	}
	return marks
}

// put writes the record over the claim, unless that has been lost. A store that failed may have written all the same:
// the claim is then of another version.
func (a *attempt) put(ctx context.Context, ttl time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	err := a.write(ctx, ttl)
	if err == nil {
		return nil
	}
	stands, gerr := a.cfg.Records.Get(ctx, a.key)
	var k kept
	if gerr != nil || json.Unmarshal(stands.Value, &k) != nil || k.Claim != a.mine.Claim {
		return err
	}
	a.version = stands.Version
	return a.write(ctx, ttl)
}

func (a *attempt) write(ctx context.Context, ttl time.Duration) error {
	r, err := a.record()
	if err == nil {
		r.Version, err = a.cfg.Records.Put(ctx, r, ttl)
	}
	if err == nil {
		a.version = r.Version
	}
	return err
}

// recorded does the work and keeps its answer. A failure is kept for those who wait, and for no call that comes later.
func (a *attempt) recorded(ctx context.Context, do work) (*operation.Answer, error) {
	release := sync.OnceFunc(a.renew(context.WithoutCancel(ctx)))
	ended := false
	defer func() {
		if release(); !ended { // a panic
			a.failed(ctx, errors.New("the call was cut off"))
		}
	}()
	answer, job, err := do(ctx, a.ledgerKey, time.Until(a.over))
	release()
	if ended = true; err != nil {
		a.failed(ctx, err)
		return nil, err
	}
	a.mine.At = a.cfg.Now()
	if a.mine.Job = job; job == "" {
		a.mine.Answer = answer
	}
	if err := a.put(ctx, a.cfg.AnswerLife); err != nil {
		// The charge stands and the answer is good. A second call would be charged nothing, by the ledger's own record.
		a.cfg.Log.ErrorContext(ctx, "idempotent answer not kept", "request_id", a.call.RequestID, "error", err)
	}
	return answer, nil
}

// failed says to those who wait what the call came to.
func (a *attempt) failed(ctx context.Context, err error) {
	p := problemOf(a.row.Operation, a.call, err)
	a.mine.Answer, a.mine.Due = nil, nil
	a.mine.Failure = &failure{p.Code, p.Detail, p.RetryAfter}
	if err := a.put(ctx, idempotencyLease); err != nil {
		a.cfg.Log.WarnContext(ctx, "failure under an idempotency key not told", "error", err)
	}
}

// renew keeps the claim on a key until the function that it returns is called, or until it has been lost.
func (a *attempt) renew(ctx context.Context) (release func()) {
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
			if err := a.put(ctx, idempotencyLease); err != nil {
				a.cfg.Log.WarnContext(ctx, "claim on an idempotency key not renewed", "error", err)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// replay gives an answer again. Nothing is charged; the credits are those of the call that it repeats, the balance is
// today's, and the data is as old as it is: no one may keep it.
func (a *attempt) replay(ctx context.Context, k *kept) (*operation.Answer, error) {
	if k.Job != "" {
		return a.search.Replay(ctx, a.who, k.Job, a.call.RequestID)
	}
	answer := a.again(k)
	answer.Replayed = true
	var err error
	answer.Meta.CreditsRemaining, err = a.who.Balance(ctx)
	return answer, err
}

// again returns the answer that was kept, as it is told now.
func (a *attempt) again(k *kept) *operation.Answer {
	answer := k.Answer
	answer.TTL = 0
	answer.Meta.RequestID, answer.Meta.Cache = a.call.RequestID, schema.Hit
	answer.Meta.DataAgeS += max(0, int64(a.cfg.Now().Sub(k.At).Seconds()))
	return answer
}

// pay charges the caller for an answer once, and tells it so.
func (a *attempt) pay(ctx context.Context, answer *operation.Answer, c credits.Charge) (credits.Receipt, error) {
	receipt, err := a.who.Charge(ctx, a.call.RequestID, a.ledgerKey, c)
	if err != nil {
		return receipt, err
	}
	if receipt.Charged > 0 && !receipt.Earlier {
		a.who.Paid(ctx, 1)
	}
	answer.Meta.CreditsUsed, answer.Meta.CreditsRemaining = receipt.Charged, receipt.Balance
	return receipt, nil
}

// requestOf returns what tells one request from another.
func requestOf(row *read.Row, call operation.Call) string {
	return row.Name + "|" + call.Platform + "|" + call.Path + "?" + call.Given().Values().Encode()
}

// checkIdempotencyKey refuses what is no idempotency key; "" is none, and fine.
func checkIdempotencyKey(key string) error {
	visible := !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if key == "" || visible && len(key) >= 16 && len(key) <= 128 {
		return nil
	}
	return problem.New(problem.InvalidRequest, "Idempotency-Key must be given once, as 16 to 128 visible ASCII characters")
}
