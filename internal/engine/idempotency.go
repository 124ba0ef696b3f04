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
	"github.com/socialdata/socialdata/internal/account"
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
	// The initial and the maximum pause before a call checks the result of an earlier one again.
	idempotencyPoll, idempotencySlow = 20 * time.Millisecond, 250 * time.Millisecond
	// idempotencyLease is how long a claim is valid after its process has died; a live process renews it. A failure is
	// stored for the same time, for the calls that waited for the claim.
	idempotencyLease = 5 * time.Second
)

// kept is the record of an idempotency key: the request, the call that has claimed it, and the result.
type kept struct {
	Digest string
	Claim  string // the id of the call that makes the request

	Answer *operation.Answer `json:",omitempty"` // of a read
	// Due is the charge of Answer as long as only the ledger knows whether it was made.
	Due     *credits.Charge `json:",omitempty"`
	Job     string          `json:",omitempty"` // of a search, which is replayed from its own record
	At      time.Time       // when it was answered
	Failure *failure        `json:",omitempty"` // for calls that waited for it
}

// failure is the problem with which a call with an idempotency key has ended.
type failure struct {
	Code       problem.Code
	Detail     string
	RetryAfter time.Duration
}

// attempt is one call with an idempotency key.
type attempt struct {
	*Session
	row  *read.Row
	call operation.Call
	key  string    // of the record
	over time.Time // the end of the call's time

	mine    kept
	version int64 // of the record with the claim
	ready   *ready

	ledgerKey string // the idempotency key of the charge in the ledger
	release   func() // stops the renewal of the claim
}

// ready is an answer that was in the cache, with its charge.
type ready struct {
	answer *operation.Answer
	charge credits.Charge
}

// once makes a charge happen once for an idempotency key. The zero once is that of a call without a key.
type once struct {
	key string // the idempotency key of the charge in the ledger
	// note records an answer with its charge before the charge is made; nil if nothing is recorded.
	note func(ctx context.Context, answer *operation.Answer, c credits.Charge) error
}

// record records an answer before it is charged. If that fails, it must not be charged.
func (o once) record(ctx context.Context, answer *operation.Answer, c credits.Charge) error {
	if o.note == nil || c.Amount == 0 {
		return nil
	}
	return o.note(ctx, answer, c)
}

// work makes a charged call, which is charged as o says, by the time over. job is what the answer can be replayed
// from, or "" when the answer itself has to be stored.
type work func(
	ctx context.Context, o once, over time.Time,
) (answer *operation.Answer, job string, err error)

// idempotent makes a charged call or, if the account has made it with the same idempotency key within a day, returns
// the same answer free of charge.
func (s *Session) idempotent(
	ctx context.Context, row *read.Row, call operation.Call, price int64, have *ready, do work,
) (*operation.Answer, error) {
	if call.IdempotencyKey == "" || price == 0 {
		answer, _, err := do(ctx, once{}, s.over(ctx))
		return answer, err
	}
	if err := checkIdempotencyKey(call.IdempotencyKey); err != nil { // for a search: a read has checked it
		return nil, err
	}
	digest, err := s.books.conceal(ctx, requestOf(row, call))
	if err != nil {
		return nil, err
	}
	a := &attempt{
		Session: s, row: row, call: call, key: records.Key("idempotency", s.who.Account(), call.IdempotencyKey),
		over: s.over(ctx), mine: kept{Digest: digest, Claim: rand.Text()}, ready: have,
	}
	// The ledger's key includes the request: the same key with another request is another charge.
	if a.ledgerKey, err = s.books.conceal(ctx, call.IdempotencyKey+" "+digest); err != nil {
		return nil, err
	}
	if have != nil { // recorded before it is paid for: two writes in total, and no waiting for other calls
		a.mine.Answer, a.mine.Due, a.mine.At = have.answer, &have.charge, s.cfg.Now()
	}
	return a.share(ctx, do)
}

// share makes the call, or waits for another call of this process with the same key.
func (a *attempt) share(ctx context.Context, do work) (*operation.Answer, error) {
	for {
		own, mine := a.turns.take(a.key)
		if mine {
			var current *kept
			defer func() { a.turns.end(a.key, own, current) }()
			answer, err := a.make(ctx, do, &current)
			return answer, err
		}
		if current := own.await(ctx, a.over); current != nil {
			answer, err := a.outcome(ctx, current, current.Claim)
			if err == nil || !errors.Is(err, errUnderWay) && !errors.Is(err, errVoid) {
				return answer, err
			}
		}
		if err := a.late(ctx); err != nil {
			return nil, err
		}
	}
}

// The two states of a key's record without an answer.
var (
	errUnderWay = errors.New("the earlier call is still in progress")
	errVoid     = errors.New("the earlier call has left no answer")
)

// make claims the key and does the work, or waits for the result of an earlier claim: all calls that have waited get
// its answer, or its failure. It stores the final record in last.
func (a *attempt) make(ctx context.Context, do work, last **kept) (*operation.Answer, error) {
	waited := ""
	for wait := idempotencyPoll; ; wait = min(2*wait, idempotencySlow) {
		current, err := a.look(ctx, waited)
		if err != nil {
			return nil, err
		}
		if current != nil {
			answer, err := a.outcome(ctx, current, waited)
			if err == nil || !errors.Is(err, errUnderWay) && !errors.Is(err, errVoid) {
				*last = current
				return answer, err
			}
			if errors.Is(err, errVoid) {
				if current, err = a.claim(ctx, a.version); err != nil {
					return nil, err
				}
			}
		}
		if current == nil {
			*last = &a.mine
			if a.ready != nil {
				return a.paid(ctx)
			}
			return a.recorded(ctx, do)
		}
		waited = current.Claim
		if err := a.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// paid charges for the answer that was in the cache.
func (a *attempt) paid(ctx context.Context) (*operation.Answer, error) {
	receipt, err := a.pay(ctx, a.ready.answer, a.ready.charge)
	if err != nil {
		a.failed(ctx, err)
		return nil, err
	}
	a.ready.answer.Replayed = receipt.Earlier // another call with the key has paid for it
	return a.ready.answer, nil
}

// outcome returns the result of the call in the record, for a caller that has waited for that claim.
func (a *attempt) outcome(ctx context.Context, current *kept, waited string) (*operation.Answer, error) {
	f := current.Failure
	switch {
	case f != nil && current.Claim == waited:
		return nil, problem.New(f.Code, "%s", f.Detail).After(f.RetryAfter)
	case f != nil:
		return nil, errVoid
	case current.Digest != a.mine.Digest:
		return nil, problem.New(problem.InvalidRequest, "Idempotency-Key has been used for another request; use a new one")
	case current.Answer == nil && current.Job == "":
		return nil, errUnderWay
	}
	if current.Due != nil {
		return a.settled(ctx, current)
	}
	answer, err := a.replay(ctx, current)
	if errors.Is(err, search.ErrNoJob) {
		return nil, errVoid
	}
	return answer, err
}

// settled repeats an answer of which it is not known whether it was charged: this call charges for it, unless the
// ledger has the charge already.
func (a *attempt) settled(ctx context.Context, current *kept) (*operation.Answer, error) {
	answer := a.again(current)
	receipt, err := a.pay(ctx, answer, *current.Due)
	if err != nil {
		return nil, err
	}
	answer.Replayed = receipt.Earlier
	current.Due = nil
	if b, err := schema.Marshal(current); err == nil && a.version != 0 { // so that no other call needs to ask the ledger
		r := records.Record{Key: a.key, Owner: a.who.Account(), Value: b, Version: a.version, Subjects: a.subjects(current, b)}
		if _, err := a.cfg.Records.Put(context.WithoutCancel(ctx), r,
			a.cfg.AnswerLife-a.cfg.Now().Sub(current.At)); err != nil {
			a.cfg.Log.DebugContext(ctx, "a charged answer is not recorded as charged", "request_id", a.call.RequestID, "error", err)
		}
	}
	return answer, nil
}

// late fails when this call's own time has ended.
func (a *attempt) late(ctx context.Context) error {
	if !time.Now().Before(a.over) {
		return problem.New(problem.UpstreamTimeout,
			"an earlier call with this Idempotency-Key is still in progress; retry, you will not be charged twice")
	}
	return ctx.Err()
}

// pause waits for a moment for the earlier call, within this call's own time.
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

// look returns the record of the key, or claims the key and returns nil. A call that has waited only reads, without a
// lock, until there is no record.
func (a *attempt) look(ctx context.Context, waited string) (*kept, error) {
	if waited == "" {
		return a.claim(ctx, 0)
	}
	current, err := a.cfg.Records.Get(ctx, a.key)
	if errors.Is(err, records.ErrAbsent) {
		return a.claim(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	a.version = current.Version
	k := &kept{}
	return k, json.Unmarshal(current.Value, k)
}

// claim writes the claim if there is no record, or over that version, and returns nil; otherwise it returns the record.
func (a *attempt) claim(ctx context.Context, over int64) (*kept, error) {
	r, err := a.record()
	if err != nil {
		return nil, err
	}
	ttl := idempotencyLease
	if a.ready != nil { // the record has the answer, and is not a claim that has to be renewed
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
	current, added, err := a.cfg.Records.Add(ctx, r, ttl)
	if err != nil {
		return nil, err
	}
	a.version = current.Version
	if added {
		return nil, nil
	}
	k := &kept{}
	return k, json.Unmarshal(current.Value, k)
}

// record returns the record of the attempt.
func (a *attempt) record() (records.Record, error) {
	b, err := schema.Marshal(&a.mine)
	return records.Record{
		Key: a.key, Owner: a.who.Account(), Value: b, Version: a.version, Subjects: a.subjects(&a.mine, b),
	}, err
}

// subjects returns the marks of the people in a record, which is encoded as b. A failure, a batch and an answer of the
// service's own operations may contain anyone: the first two quote parameters, the last any text. The marks of other
// answers are read from them, and the call's parameters are added: an answer need not name its subject, such as the
// products of a shop.
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

// named returns the marks of all subjects in the parameters of the call.
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

// note records the answer with its charge before the charge is made: if the process dies after that, the next call with
// the key gets the answer.
func (a *attempt) note(ctx context.Context, answer *operation.Answer, c credits.Charge) error {
	a.release()
	a.mine.Answer, a.mine.Due, a.mine.At = answer, &c, a.cfg.Now()
	err := a.put(ctx, a.cfg.AnswerLife)
	if errors.Is(err, records.ErrConflict) { // another call has made it meanwhile, or is making it
		err = problem.New(problem.PlatformUnavailable,
			"another call with this Idempotency-Key is in progress; retry, you will not be charged twice").After(time.Second)
	}
	return err
}

// put replaces the claim by the record, or adds it if the claim has expired, unless another call has claimed the key.
// A write that failed may have reached the store: the claim then has another version, which is read and replaced,
// unless the time of the call is over.
func (a *attempt) put(ctx context.Context, ttl time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	err := a.write(ctx, ttl)
	if err == nil || !time.Now().Before(a.over) {
		return err
	}
	current, gerr := a.cfg.Records.Get(ctx, a.key)
	if errors.Is(gerr, records.ErrAbsent) {
		return a.add(ctx, ttl, err)
	}
	var k kept
	if gerr != nil || json.Unmarshal(current.Value, &k) != nil || k.Claim != a.mine.Claim {
		return err
	}
	a.version = current.Version
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

// add adds the record, or returns conflict if another call has claimed the key.
func (a *attempt) add(ctx context.Context, ttl time.Duration, conflict error) error {
	r, err := a.record()
	if err != nil {
		return err
	}
	r.Version = 0
	current, added, err := a.cfg.Records.Add(ctx, r, ttl)
	if err == nil && !added {
		err = conflict
	}
	if err == nil {
		a.version = current.Version
	}
	return err
}

// recorded does the work and stores its answer. A failure is stored for calls that wait, but not for later ones.
func (a *attempt) recorded(ctx context.Context, do work) (*operation.Answer, error) {
	a.release = sync.OnceFunc(a.renew(context.WithoutCancel(ctx)))
	ended := false
	defer func() {
		if a.release(); !ended { // a panic
			a.failed(ctx, errors.New("the call was cut off"))
		}
	}()
	answer, job, err := do(ctx, once{a.ledgerKey, a.note}, a.over)
	a.release()
	if ended = true; err != nil {
		a.failed(ctx, err)
		return nil, err
	}
	if a.mine.Due != nil { // the record has the answer; other calls of this process need not ask the ledger
		a.mine.Due = nil
		return answer, nil
	}
	a.mine.At = a.cfg.Now()
	if a.mine.Job = job; job == "" {
		a.mine.Answer = answer
	}
	if err := a.put(ctx, a.cfg.AnswerLife); err != nil {
		// The answer is valid. It is free, or that of a search, whose own record has its charges.
		a.cfg.Log.ErrorContext(ctx, "idempotent answer not stored", "request_id", a.call.RequestID, "error", err)
	}
	return answer, nil
}

// failed stores the failure of the call for those that wait. If it is not known whether its answer was charged, the
// record keeps that: a repeated call checks the ledger.
func (a *attempt) failed(ctx context.Context, err error) {
	p := problemOf(a.row.Operation, a.call, err)
	undecided := a.mine.Due != nil && errors.Is(err, account.ErrUndecided)
	a.mine.Answer, a.mine.Due = nil, nil
	a.mine.Failure = &failure{p.Code, p.Detail, p.RetryAfter}
	if undecided {
		return
	}
	if err := a.put(ctx, idempotencyLease); err != nil {
		a.cfg.Log.WarnContext(ctx, "failure under an idempotency key not stored", "error", err)
	}
}

// renew renews the claim until the returned function is called.
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

// replay repeats an answer. Nothing is charged; the credits are those of the first call, the balance is the current
// one, and the data has its real age and must not be cached.
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

// again returns the stored answer with its current meta.
func (a *attempt) again(k *kept) *operation.Answer {
	answer := k.Answer
	answer.TTL = 0
	answer.Meta.RequestID, answer.Meta.Cache = a.call.RequestID, schema.Hit
	answer.Meta.DataAgeS += max(0, int64(a.cfg.Now().Sub(k.At).Seconds()))
	return answer
}

// pay charges the caller for an answer once, and puts the result into the answer.
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
