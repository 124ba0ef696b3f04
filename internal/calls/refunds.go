package calls

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/records"
)

// RefundReason is the reason of a refund for a charge whose caller was told that the call failed.
const RefundReason = "told as failed"

const (
	// failing is for how long a caller waits for the end of a call that has failed.
	failing = time.Second
	// longestRefundPause is the longest pause before it is tried again to end a call that has failed.
	longestRefundPause = 5 * time.Second
	// refundPrefix is the kind of the notes of failed calls, which are kept for refundTTL.
	refundPrefix, refundTTL = "refund", 7 * 24 * time.Hour
	// scanEvery is how often the notes of other processes are read.
	scanEvery = 20 * time.Second
)

// refunds are the calls of this process that are told as failed, or given up, and are not ended yet.
type refunds struct {
	work background.Group

	mu      sync.Mutex
	pending map[*pendingRefund]struct{}
	scans   *time.Timer
}

// pendingRefund is a call that is not ended yet.
type pendingRefund struct {
	call  *Call
	do    func(ctx context.Context) error // ends it
	wait  time.Duration                   // until the next attempt
	timer *time.Timer
	noted bool // other processes know of it, or need not
}

// waiting returns the number of pending refunds.
func (r *refunds) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending)
}

// Close makes a last attempt at the pending refunds.
func (k *Keeper) Close(ctx context.Context) error {
	r := &k.refunds
	r.mu.Lock()
	if r.scans != nil {
		r.scans.Stop()
	}
	r.mu.Unlock()
	err := r.work.Close(ctx)
	r.mu.Lock()
	rest := slices.Collect(maps.Keys(r.pending))
	r.mu.Unlock()
	for _, p := range rest {
		p.timer.Stop()
		p.attempt()
	}
	if n := r.waiting(); n > 0 {
		k.cfg.Log.ErrorContext(ctx, "calls that have failed may have been charged, and are not refunded", "calls", n)
	}
	return err
}

// Fail ends a call that its caller is told has failed because of cause. What it holds is released, and what it may have
// been charged is refunded: at once if the stores answer, otherwise in the background. Until then no other call of this
// process with its key begins. A repeat in another process that is answered meanwhile takes the charge over.
func (c *Call) Fail(ctx context.Context, cause error) {
	c.r.Failed, c.r.Body, c.marks = true, nil, "" // so that it can be written even if its content was erased
	c.r.voids(held, due, paid)
	if c.flight != nil && ctx.Err() == nil {
		c.flight.err = cause
	}
	if c.version == 0 && !c.r.any(void) {
		return
	}
	left := min(failing, c.keeper.cfg.Left(ctx))
	if left > 0 {
		bounded, cancel := c.bounded(ctx, left)
		err := c.clear(bounded)
		if cancel(); err == nil || errors.Is(err, errLost) {
			return
		}
	}
	c.later(c.clear, cause)
}

// later repeats do in the background until it succeeds. Cause is why the call has failed; nil if it has not.
func (c *Call) later(do func(context.Context) error, cause error) {
	c.away = true
	if c.flight != nil && cause != nil {
		c.flight.err = nil // the next call waits for the end, and then finds out itself
	}
	if cause != nil {
		c.keeper.cfg.Log.Warn("a call has failed and may have been charged; if it was, the charge is refunded",
			"request_id", c.req.ID, "error", cause)
	} else {
		c.keeper.cfg.Log.Debug("a part of a call that is not answered is released", "request_id", c.req.ID)
	}
	p := &pendingRefund{call: c, do: do, noted: c.version == 0 || cause == nil}
	if cause != nil {
		p.wait = longestPause
	}
	r := &c.keeper.refunds
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[p] = struct{}{}
	p.timer = time.AfterFunc(p.wait, p.run)
}

// run makes an attempt to end the call, and repeats this later unless that has succeeded.
func (p *pendingRefund) run() {
	r := &p.call.keeper.refunds
	if !r.work.Begin() { // Close makes the last attempt
		return
	}
	defer r.work.End()
	if p.attempt() {
		return
	}
	if !p.noted {
		p.noted = p.call.note()
	}
	p.wait = min(max(2*p.wait, longestPause), longestRefundPause)
	r.mu.Lock()
	defer r.mu.Unlock()
	p.timer = time.AfterFunc(p.wait, p.run)
}

// attempt makes one attempt to end the call, and reports whether nothing is left to do. Then the next call of this
// process with its key may begin.
func (p *pendingRefund) attempt() bool {
	c := p.call
	ctx, cancel := context.WithTimeout(context.Background(), c.keeper.cfg.Time)
	defer cancel()
	err := p.do(ctx)
	if err != nil {
		c.keeper.cfg.Log.DebugContext(ctx, "a call that has failed is not ended yet", "request_id", c.req.ID, "error", err)
	}
	if !errors.Is(err, errLost) && (err != nil || c.r.any(void)) {
		return false
	}
	r := &c.keeper.refunds
	r.mu.Lock()
	delete(r.pending, p)
	r.mu.Unlock()
	c.keeper.cfg.Log.DebugContext(ctx, "nothing of a call is left to release or to refund", "request_id", c.req.ID)
	c.leave()
	return true
}

// release releases what was given up of a call that has not failed.
func (c *Call) release(ctx context.Context) error {
	err := c.pay(ctx)
	if errors.Is(err, errGone) { // its content cannot be found any more
		c.version = 0
		c.r.voids(held, due)
		err = c.pay(ctx)
	}
	if errors.Is(err, errLost) || errors.Is(err, errErased) { // what is stored decides
		return errLost
	}
	return nil
}

// clear ends a failed call: first the record says so (rule 2), then holds are released and charges refunded, and then
// the record is removed. It returns nil, or errLost, when nothing is left to do.
func (c *Call) clear(ctx context.Context) error {
	c.r.voids(held, due, paid)
	if c.version != 0 {
		switch err := c.write(ctx); {
		case errors.Is(err, errGone), errors.Is(err, errLost) && !c.promised:
			c.version = 0 // no other call can take its charges over
		case err != nil: // after errLost another call has it, and its charges
			return err
		}
	}
	refunded := false
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if ch.State == void {
			if err := c.cancel(ctx, ch); err != nil {
				return err
			}
		}
		refunded = refunded || ch.refunded
	}
	switch {
	case c.version == 0:
		return nil
	case !refunded && c.r.Try == 0:
		err := c.keeper.cfg.Records.Delete(ctx, c.key, c.version)
		if errors.Is(err, records.ErrConflict) { // another call has removed it already, and has begun
			return nil
		}
		return err
	case refunded:
		c.r.Try++
	}
	// A claim whose time is over: the next call with the key takes it over at once, under a new key of the ledger.
	c.r = record{
		Attempt: c.r.Attempt, Digest: c.r.Digest, Account: c.r.Account, Owned: c.r.Owned, Try: c.r.Try, Life: c.r.Life,
	}
	return c.write(ctx)
}

// refund gives back what was charged for a hold, once however often it is called: the gift has a key.
func (c *Call) refund(ctx context.Context, ch *Charge, amount int64) error {
	_, err := c.keeper.cfg.Ledger.Give(ctx, credits.Gift{
		Account: ch.Hold.Spender.Account, Kind: credits.Refunded, Amount: amount, RequestID: ch.Charge.RequestID,
		Reason: RefundReason, Key: RefundReason + " " + ch.Hold.ID,
	})
	if err != nil {
		return fmt.Errorf("socialdata: the refund of %d credits of request %s: %w", amount, ch.Charge.RequestID, err)
	}
	ch.refunded = true
	c.keeper.cfg.Log.InfoContext(ctx, "refunded the charge of a call that has failed", "request_id", ch.Charge.RequestID,
		"credits", amount)
	return nil
}

// note lets other processes know of a failed call with a record, in case that this one ends before it is ended.
func (c *Call) note() bool {
	ctx, cancel := context.WithTimeout(context.Background(), noting)
	defer cancel()
	_, _, err := c.keeper.cfg.Records.Add(ctx, records.Record{Key: refundPrefix + "/" + c.key}, refundTTL)
	return err == nil
}

// scan ends the calls that other processes have noted, and repeats this later.
func (k *Keeper) scan() {
	r := &k.refunds
	if !r.work.Begin() {
		return
	}
	defer r.work.End()
	ctx, cancel := context.WithTimeout(context.Background(), scanEvery)
	defer cancel()
	notes, err := k.cfg.Records.Keys(ctx, refundPrefix+"/")
	for i := 0; i < len(notes) && err == nil; i++ {
		err = k.endNoted(ctx, notes[i])
	}
	if err != nil {
		k.cfg.Log.DebugContext(ctx, "calls that have failed are not ended yet", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scans = time.AfterFunc(scanEvery, k.scan)
}

// endNoted ends the call of a note, and removes the note. It need not know whether another process does so as well.
func (k *Keeper) endNoted(ctx context.Context, note string) error {
	key := strings.TrimPrefix(note, refundPrefix+"/")
	stored, err := k.cfg.Records.Get(ctx, key)
	if err == nil {
		c := &Call{keeper: k, key: key, version: stored.Version}
		if err := json.Unmarshal(stored.Value, &c.r); err != nil {
			return err
		}
		if c.r.Failed {
			c.r.Attempt = rand.Text() // its process, if it lives, must not take these writes for its own
			err = c.clear(ctx)
		}
	}
	if err != nil && !errors.Is(err, records.ErrAbsent) {
		return err
	}
	return k.cfg.Records.Delete(ctx, note, 0)
}
