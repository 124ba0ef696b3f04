// Package calls charges for calls, exactly once. It has the one durable record of a call: what it may be charged for,
// what it was charged, and its answer. Calls with an idempotency key have one, and searches that are continued as a job.
// Any other call goes through the same steps in memory only.
//
// # A charge
//
//	held ──> due ──> paid            its content is in the record, and then it is settled
//	  └───────┴───────┴──> void ──> clear    it will not be charged: released, and refunded if it was charged
//
// # A record
//
//	claimed ──> answered ──> charged     no body; a body, and a charge that is held or due; a body, and none
//	     └──────────┴──────> failed      every charge is void; removed when all are clear
//
// # Rules
//
//  1. A charge is settled only when the stored record that has its content says due.
//  2. A hold that a stored record has called due is released only when the stored record says void.
//  3. Only the attempt that has claimed a record may fail it, and only while it has told nothing. An attempt that takes
//     a record over takes its charges over, and may only finish them.
//  4. Each step is one conditional write. What is stored decides; what a process remembers does not.
//
// From 1 follows that what a dead process has charged is found with its answer; from 2, that a late settlement never
// revives a released hold; from 3, that nothing is refunded that was told.
package calls

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
)

// Ledger is what a Keeper needs of a ledger, with a deadline for each call.
type Ledger interface {
	credits.Ledger
	// Charges reports whether the ledger has Charge, which is that of a [credits.Charger].
	Charges() bool
	Charge(ctx context.Context, who credits.Spender, c credits.Charge) (credits.Receipt, error)
	// Give is that of a [credits.Granter].
	Give(ctx context.Context, g credits.Gift) (int64, error)
}

// Config is what a [Keeper] needs. All fields are required, but Ledger: without one nothing is charged.
type Config struct {
	Ledger  Ledger
	Records records.Store // with a deadline for each call
	Shared  bool          // Records are durable: the refunds that dead processes have left are made
	Now     func() time.Time
	Time    time.Duration // of a call
	// Left returns for how long the store calls of the call in a context may continue.
	Left func(ctx context.Context) time.Duration
	// Charged is called for each charge.
	Charged func(who credits.Spender, c credits.Charge, r credits.Receipt)
	Log     *slog.Logger
}

// Keeper makes calls, and finishes those that others have left. It is safe for concurrent use.
type Keeper struct {
	cfg      Config
	inflight inflight
	refunds  refunds
}

// New returns a Keeper.
func New(cfg Config) *Keeper {
	k := &Keeper{cfg: cfg, inflight: inflight{by: map[string]*flight{}}}
	k.refunds.pending = map[*pendingRefund]struct{}{}
	if cfg.Shared && cfg.Ledger != nil {
		k.refunds.mu.Lock()
		defer k.refunds.mu.Unlock()
		k.refunds.scans = time.AfterFunc(scanEvery, k.scan)
	}
	return k
}

// Request is a call that may be charged.
type Request struct {
	Who    account.Caller
	ID     string        // of the request
	Record string        // its id; "" for none
	Once   string        // with Record: a keyed hash of the request, which makes the ledger charge once
	Digest string        // with Record: of what is asked; the same record with another one is refused
	Life   time.Duration // of the record from its answer on
	Owned  bool          // the bytes of the record count for the account
}

// Call is a call with its charges. It belongs to one goroutine.
type Call struct {
	keeper   *Keeper
	req      Request
	key      string // of the record
	r        record
	version  int64 // of the stored record; 0 when there is none
	marks    privacy.Marks
	flight   *flight
	gone     <-chan struct{} // closed when the caller has left
	promised bool            // a stored record may have called a charge due
	stored   bool            // the record is stored as it is
	away     bool            // it belongs to the background
	balance  int64           // after the last charge
	// Earlier means that it is an earlier call's: Body has its answer, and nothing is left to do but to tell it.
	Earlier bool
}

// The problems of a repeated call.
var (
	// ErrInProgress means that an earlier call with the same idempotency key has not ended yet.
	ErrInProgress = problem.New(problem.RateLimited, "a call with this Idempotency-Key is in progress").After(time.Second)

	errMismatch = problem.New(problem.InvalidRequest, "Idempotency-Key has been used for another request; use a new one")
)

// ErrUndecided means that it is unknown whether the ledger has made a charge. If it has, the charge is refunded, or told
// when the call is repeated with its key.
var ErrUndecided = errors.New("socialdata: it is not known whether the ledger has made the charge")

// Begin begins a call. With a key it claims the record, or returns the call that has it: one with an answer, which it
// finishes if its process has left it. A repeat waits for a call of this process, and looks at the record of another
// process's once a second; when its own time is over, it is refused (D120). Unless the call is an earlier one, the
// caller must call [Call.Pay] or [Call.Fail], and then [Call.End].
func (k *Keeper) Begin(ctx context.Context, req Request) (*Call, error) {
	c := &Call{keeper: k, req: req}
	if req.Record == "" {
		return c, nil
	}
	c.key = RecordKey(req.Record)
	c.r = record{
		Attempt: rand.Text(), Digest: req.Digest, Account: req.Who.Account(), Owned: req.Owned, Life: req.Life,
	}
	ended, err := c.enter(ctx)
	switch {
	case err != nil:
		return nil, err
	case ended != nil && ended.err != nil:
		return nil, ended.err
	case ended != nil && ended.answer.Digest != req.Digest:
		return nil, errMismatch
	case ended != nil:
		c.r, c.Earlier = *ended.answer, true
		return c, nil
	}
	if err := c.claim(ctx); err != nil {
		c.leave()
		return nil, err
	}
	if c.Earlier {
		c.leave()
	}
	return c, nil
}

// End ends the use of the call, and lets the next call of this process with the same key go on. What was given up and is
// not released yet is released in the background, and so is what is due if its record was erased.
func (c *Call) End() {
	if c.away {
		return
	}
	if !c.Earlier && (c.r.any(void) || c.promised && c.r.any(due)) {
		c.later(c.release, nil)
		return
	}
	c.leave()
}

// Answered lets other calls with the same key go on while this one continues: they repeat its answer.
func (c *Call) Answered() { c.leave() }

// leave ends the flight of the call, and leaves its answer to those that wait, if nothing of it can change any more.
func (c *Call) leave() {
	if c.flight == nil {
		return
	}
	if c.r.answered() && !c.r.any(held, due, void) {
		answer := c.r
		answer.Charges = slices.Clone(c.r.Charges)
		for i := range answer.Charges {
			answer.Charges[i].charged = false
		}
		c.flight.answer = &answer
	}
	c.keeper.inflight.leave(c.key, c.flight)
}

// lookAgain is the interval at which a repeat looks at the record of another process's call.
const lookAgain = time.Second

// waits returns for how long a repeat may wait for the call that it repeats: the last second of a call is for the stores.
func (k *Keeper) waits(ctx context.Context) time.Duration { return max(0, k.cfg.Left(ctx)-time.Second) }

// claim adds the record, or takes over what is stored.
func (c *Call) claim(ctx context.Context) error {
	for {
		mine := c.r
		mine.Until = c.keeper.cfg.Now().Add(c.keeper.cfg.Time)
		r, err := c.encoded(&mine)
		if err != nil {
			return err
		}
		r.Version = 0
		stored, added, err := c.keeper.cfg.Records.Add(ctx, r, c.ttl(&mine))
		if err != nil {
			return err // if it was added all the same, it is in the way until its time is over
		}
		if added {
			c.r, c.version, c.stored = mine, stored.Version, true
			return nil
		}
		var current record
		if err := json.Unmarshal(stored.Value, &current); err != nil {
			return err
		}
		if current.Digest != c.r.Digest {
			return errMismatch
		}
		done, err := c.adopt(ctx, current, stored.Version)
		switch {
		case errors.Is(err, ErrInProgress):
			wait := min(lookAgain, c.keeper.waits(ctx))
			if wait <= 0 {
				return err
			}
			if !pause(ctx, wait) {
				return ctx.Err()
			}
		case done || err != nil:
			return err
		}
	}
}

// adopt continues the record of an earlier call. It is not done if the record has changed meanwhile, or is gone.
func (c *Call) adopt(ctx context.Context, current record, version int64) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.keeper.cfg.Left(ctx))
	defer cancel()
	old := &Call{keeper: c.keeper, req: c.req, key: c.key, r: current, version: version}
	over := c.keeper.past(current.Until)
	switch {
	case current.Failed: // what was charged is refunded before the call is made anew
		old.r.Attempt = c.r.Attempt
		return false, ignoreLost(old.clear(ctx))
	case len(current.Body) > 0 && over && current.any(held, due, void):
		if err := old.takeOver(ctx, c.r.Attempt); err != nil {
			return false, ignoreLost(err)
		}
		if !old.r.answered() { // its credits are spent: the call is made anew
			old.r.Failed = true
			return false, ignoreLost(old.clear(ctx))
		}
	case current.answered():
		if err := old.noted(ctx); err != nil {
			return false, err
		}
	case !over:
		return false, ErrInProgress
	default: // nothing of a claim without a body can have been charged; its holds expire
		c.r.Try, c.r.Until = current.Try, c.keeper.cfg.Now().Add(c.keeper.cfg.Time)
		c.version = version
		if err := c.write(ctx); err != nil {
			c.version = 0
			return false, ignoreLost(err)
		}
		c.stored = true
		return true, nil
	}
	c.r, c.version, c.balance, c.Earlier = old.r, old.version, old.balance, true
	return true, nil
}

// takeOver finishes the charges of a record whose attempt has had its time: what is held is void, what is due is
// settled. Whether that was settled before, and so may have been told, is looked up first: if the ledger has to be asked
// twice, its answer does not say which of the two has charged.
func (c *Call) takeOver(ctx context.Context, attempt string) error {
	c.r.Attempt = attempt // before anything else: its earlier owner must not take these writes for its own
	c.r.voids(held)
	if err := c.lookUp(ctx); err != nil {
		return err
	}
	return c.pay(ctx)
}

func ignoreLost(err error) error {
	if errors.Is(err, errLost) || errors.Is(err, errGone) {
		return nil
	}
	return err
}

// past reports whether a time is over. One that is too far ahead was written before the clock was set back.
func (k *Keeper) past(until time.Time) bool {
	left := until.Sub(k.cfg.Now())
	return left < 0 || left > k.cfg.Time
}

// Keep gives a call a record with a new id, so that it is continued as a job. It is called between [Call.Pay] and the
// first answer: what is paid is stored as paid, and what is held is earned later. After an error there is no record; if
// one was stored all the same, its id is not known to any caller, and it expires.
func (c *Call) Keep(ctx context.Context, id string, life time.Duration, body []byte) error {
	c.key, c.r.Life, c.r.Body = RecordKey(id), life, body
	c.r.Attempt, c.r.Account, c.r.Until = rand.Text(), c.req.Who.Account(), c.keeper.cfg.Now().Add(c.keeper.cfg.Time)
	r, err := c.encoded(&c.r)
	if err == nil {
		var stored records.Record
		var added bool
		stored, added, err = c.keeper.cfg.Records.Add(ctx, r, c.ttl(&c.r))
		if err == nil && !added {
			err = errLost
		}
		c.version = stored.Version
	}
	if c.stored = err == nil; err != nil {
		c.key, c.version = "", 0
	}
	return err
}

// Open returns the record under a key as it is stored, for a poll, or [records.ErrAbsent]. When its process has had its
// time, its charges are finished.
func (k *Keeper) Open(ctx context.Context, key, account string) (*Call, error) {
	ctx, cancel := context.WithTimeout(ctx, k.cfg.Left(ctx))
	defer cancel()
	for {
		stored, err := k.cfg.Records.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		c := &Call{keeper: k, key: key, version: stored.Version, Earlier: true}
		if err := json.Unmarshal(stored.Value, &c.r); err != nil {
			return nil, err
		}
		if account != "" && c.r.Account != account || !c.r.answered() && !k.past(c.r.Until) || c.r.Failed || len(c.r.Body) == 0 {
			return nil, records.ErrAbsent
		}
		if !k.past(c.r.Until) || !c.r.any(held, due, void) {
			return c, c.noted(ctx)
		}
		if err := c.takeOver(ctx, rand.Text()); err == nil || !errors.Is(err, errLost) {
			return c, err
		}
	}
}

// Read is [Keeper.Open] for a list of calls: nothing is finished.
func (k *Keeper) Read(ctx context.Context, key string) (*Call, error) {
	stored, err := k.cfg.Records.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	c := &Call{keeper: k, Earlier: true}
	if err := json.Unmarshal(stored.Value, &c.r); err != nil {
		return nil, err
	}
	if len(c.r.Body) == 0 || c.r.Failed {
		return nil, records.ErrAbsent
	}
	return c, nil
}

// Body returns the stored answer, or what the last [Call.Pay] was given.
func (c *Call) Body() []byte { return c.r.Body }

// Account returns the account of the call.
func (c *Call) Account() string { return c.r.Account }

// Until returns by when the attempt that has the record has ended.
func (c *Call) Until() time.Time { return c.r.Until }

// Over reports whether the attempt that has the record has had its time.
func (c *Call) Over() bool { return c.keeper.past(c.r.Until) }

// ID returns the id of the record of a call that has begun with one; else "".
func (c *Call) ID() string { return c.req.Record }

// Promised reports whether a stored record may call something due, which another process may then settle.
func (c *Call) Promised() bool { return c.promised && c.r.any(due) }

// Recorded reports whether the call has a record.
func (c *Call) Recorded() bool { return c.version != 0 }

// Stored reports whether the call has a record, which is stored as the call is.
func (c *Call) Stored() bool { return c.version != 0 && c.stored }

// Charges returns the state of each item.
func (c *Call) Charges() []Charge { return slices.Clone(c.r.Charges) }

// Used returns the credits that were charged so far.
func (c *Call) Used() (n int64) {
	for i := range c.r.Charges {
		if c.r.Charges[i].State == paid {
			n += c.r.Charges[i].Credits
		}
	}
	return n
}

// Balance returns what the account could spend after the last charge.
func (c *Call) Balance() int64 { return c.balance }

// Charged reports whether this call itself was charged: not for what is free, and not by an earlier call.
func (c *Call) Charged() bool {
	return slices.ContainsFunc(c.r.Charges, func(ch Charge) bool { return ch.charged })
}

// Repeats reports whether an earlier call had paid for something that this call tells.
func (c *Call) Repeats() bool {
	return slices.ContainsFunc(c.r.Charges, func(ch Charge) bool { return ch.earlier && ch.State == paid })
}
