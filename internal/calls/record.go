package calls

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// Charge is what a call may be charged for one item, and how far that has come.
type Charge struct {
	Name    string // of the item
	State   state
	Hold    credits.Hold
	Charge  credits.Charge `json:",omitzero"` // what is due
	Credits int64          `json:",omitempty"`

	oneStep  bool             // the ledger charges it without a hold
	asked    bool             // this process has asked the ledger to charge it, so that it may be charged
	began    time.Time        // when that was
	before   bool             // it was charged before this call took its record over
	charged  bool             // this call itself was charged
	earlier  bool             // another call had paid for it
	refunded bool             // in this process
	receipt  *credits.Receipt // of a charge that is not reported yet
	err      error            // why it could not be charged
}

// Paid reports whether the charge is settled, so that its content may be told.
func (c Charge) Paid() bool { return c.State == paid }

// Open reports whether the charge may still be paid.
func (c Charge) Open() bool { return c.State == held || c.State == due }

// state is how far a charge has come.
type state string

const (
	held    state = "held"  // nothing is earned yet; a process that takes over voids it
	due     state = "due"   // earned: a process that takes over settles it
	paid    state = "paid"  // settled; its content may be told
	void    state = "void"  // it must not be charged: to be released and, if it was charged, refunded
	cleared state = "clear" // void, and the ledger has confirmed it
)

// record is what is stored of a call.
type record struct {
	Attempt string // the call that has claimed it, or has taken it over
	Digest  string // of the request
	Account string
	Owned   bool      // its bytes count for the account
	Try     int       `json:",omitempty"` // how often its charge was refunded: part of the ledger's key
	Until   time.Time // by when the attempt has ended
	Life    time.Duration
	Failed  bool            `json:",omitempty"`
	Body    json.RawMessage `json:",omitempty"` // the answer, or the parts of a search
	Charges []Charge        `json:",omitempty"`
	Write   string          // differs in each write
}

// any reports whether a charge is in one of the states.
func (r *record) any(states ...state) bool {
	return slices.ContainsFunc(r.Charges, func(c Charge) bool { return slices.Contains(states, c.State) })
}

// voids makes every charge in one of the states void.
func (r *record) voids(states ...state) {
	for i := range r.Charges {
		if slices.Contains(states, r.Charges[i].State) {
			r.Charges[i].State = void
		}
	}
}

// answered reports whether the record has an answer, which is returned when the call is repeated.
func (r *record) answered() bool {
	return len(r.Body) > 0 && !r.Failed && (len(r.Charges) == 0 || r.any(paid))
}

// claimSlack is how much longer than its call a claim is stored.
const claimSlack = 5 * time.Second

// ttl returns for how long the record is stored from now on. A record that was refunded outlives the ledger's key of the
// charge, and so does one that has failed.
func (c *Call) ttl(r *record) time.Duration {
	switch {
	case r.Failed || r.Try > 0:
		return max(r.Life, credits.IdempotentFor)
	case r.any(held, due, void):
		return r.Life + c.keeper.cfg.Time // so that a poll or a repeat can finish it
	case len(r.Body) > 0:
		return r.Life
	}
	return c.keeper.cfg.Time + claimSlack
}

// encoded returns a record as it is stored.
func (c *Call) encoded(r *record) (records.Record, error) {
	r.Write = rand.Text()
	value, err := schema.Marshal(r)
	out := records.Record{Key: c.key, Value: value, Version: c.version}
	if len(r.Body) > 0 {
		out.Subjects = c.marks
	}
	if r.Owned {
		out.Owner = r.Account
	}
	return out, err
}

// The results of a write that was not made: another call has the record, the record is absent, or its content may not
// be stored.
var (
	errLost   = problem.New(problem.RateLimited, "a call with this Idempotency-Key is in progress").After(time.Second)
	errGone   = problem.New(problem.PlatformUnavailable, "the data was erased while it was being read; try again")
	errErased = problem.New(problem.PlatformUnavailable, "the data was erased while it was being read; try again")
)

// Gone reports whether err means that nothing of a call can be stored any more: another call has its record, or its
// content was erased.
func Gone(err error) bool {
	return errors.Is(err, errLost) || errors.Is(err, errGone) || errors.Is(err, errErased)
}

// write replaces the stored record. A write whose result is unknown is looked for until ctx ends. After an error that is
// [Gone] the record was not written, and cannot be any more; after any other error this is not known.
func (c *Call) write(ctx context.Context) error {
	r, err := c.encoded(&c.r)
	if err != nil {
		return err
	}
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		version, err := c.keeper.cfg.Records.Put(ctx, r, c.ttl(&c.r))
		if !errors.Is(err, records.ErrConflict) { // it is written, or may be
			c.promised = c.promised || c.r.any(due)
		}
		if err == nil {
			c.version = version
			return nil
		}
		if _, ok := errors.AsType[*problem.Error](err); ok { // someone in it is blocked or was erased meanwhile
			return errErased
		}
		stored, getErr := c.keeper.cfg.Records.Get(ctx, c.key)
		switch {
		case getErr == nil && bytes.Equal(stored.Value, r.Value):
			c.version = stored.Version
			return nil
		case errors.Is(getErr, records.ErrAbsent):
			return errGone
		case getErr == nil && stored.Version != r.Version && !c.wrote(stored.Value):
			return errLost
		case getErr == nil:
			r.Version = stored.Version // an earlier write of this call
		}
		if pause(ctx, wait) {
			continue
		}
		if errors.Is(err, records.ErrConflict) { // by whom, the store has not said in time
			return &account.UnavailableError{Store: "records", Err: cmp.Or(getErr, err)}
		}
		return err
	}
}

// wrote reports whether a stored record is an earlier write of this attempt.
func (c *Call) wrote(value []byte) bool {
	var stored record
	return json.Unmarshal(value, &stored) == nil && stored.Attempt == c.r.Attempt
}

// The pauses before a store is asked again.
const firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond

// pause waits for d, and reports whether ctx has not ended by then.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
