package calls

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/privacy"
)

// Item is something that a call may be charged for, and the most that it costs.
type Item struct {
	Name   string
	Amount int64 // credits
}

const (
	// asking is the part of a call's time that is left for finding out whether a charge was made.
	asking = 500 * time.Millisecond
	// noting is for how long it is tried to store that a charge was made.
	noting = time.Second
	// landing is for how long a charge whose result is unknown may still reach the ledger: it would charge a hold that
	// has expired.
	landing = 40 * time.Second
)

// Hold holds the amount of each item, all or none.
func (c *Call) Hold(ctx context.Context, items ...Item) error {
	holds := make([]credits.Hold, len(items))
	if c.keeper.cfg.Ledger != nil {
		amounts := make([]int64, len(items))
		for i, item := range items {
			amounts[i] = item.Amount
		}
		var err error
		if holds, err = c.req.Who.Reserve(ctx, amounts...); err != nil {
			return err
		}
	}
	for _, item := range items {
		callctx.Of(ctx).NoteHeld(item.Amount)
	}
	for i, item := range items {
		c.r.Charges = append(c.r.Charges, Charge{Name: item.Name, State: held, Hold: holds[i]})
	}
	return nil
}

// Known makes an item due whose price is known: the next [Call.Pay] charges it in one step if the ledger can and the
// call has no record, and otherwise it is held.
func (c *Call) Known(ctx context.Context, charge credits.Charge) error {
	if ledger := c.keeper.cfg.Ledger; c.version != 0 || ledger == nil || !ledger.Charges() || charge.Amount == 0 {
		if err := c.Hold(ctx, Item{Amount: charge.Amount}); err != nil {
			return err
		}
		c.Earn("", charge)
		return nil
	}
	who, err := c.req.Who.Spender()
	if err != nil {
		return err
	}
	charge.ID = credits.NewID(c.req.ID)
	callctx.Of(ctx).NoteHeld(charge.Amount)
	c.r.Charges = append(c.r.Charges, Charge{
		State: held, Hold: credits.Hold{ID: charge.ID, Spender: who, Amount: charge.Amount}, oneStep: true,
	})
	c.Earn("", charge)
	return nil
}

// Earn makes an item due: its content is in the body that the next [Call.Pay] stores. A charge of 0 releases the hold.
func (c *Call) Earn(name string, charge credits.Charge) {
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if ch.Name != name || ch.State != held {
			continue
		}
		charge.RequestID, charge.Late = c.req.ID, charge.Amount > 0 // a process that was suspended may be late
		if c.req.Once != "" {                                       // the platform distinguishes the parts of a search
			charge.IdempotencyKey = c.req.Once + " " + charge.Platform
			if c.r.Try > 0 {
				charge.IdempotencyKey += " " + strconv.Itoa(c.r.Try)
			}
		}
		ch.State, ch.Charge = due, charge
	}
}

// Drop gives items up that are not paid: the next [Call.Pay], or [Call.End], releases them, or refunds what was charged
// unknown to this process. What a stored record may have called due stays due: another process may settle it.
func (c *Call) Drop(names ...string) {
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if slices.Contains(names, ch.Name) && (ch.State == held || ch.State == due && !c.promised) {
			ch.State = void
		}
	}
}

// Pay stores the body with what is due, settles that, and stores that it is paid, if it can. After an error nothing must
// be told, and the caller fails the call; otherwise what is paid must be told, even to a caller who has left, and the
// call cannot fail any more. Without a record it only settles. It may be called again as more is earned; what the ledger
// cannot decide in time stays due. Marks are those of everyone in the body.
func (c *Call) Pay(ctx context.Context, body []byte, marks privacy.Marks) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.PayOnce(ctx, c.keeper.cfg.Left(ctx), body, marks)
}

// PayOnce is [Call.Pay] that asks the ledger for at most d, even if the caller has left.
func (c *Call) PayOnce(ctx context.Context, d time.Duration, body []byte, marks privacy.Marks) error {
	c.r.Body, c.marks = body, marks
	c.gone = ctx.Done()
	defer func() { c.gone = nil }()
	bounded, cancel := c.bounded(ctx, min(d, c.keeper.cfg.Left(ctx)))
	defer cancel()
	return c.pay(bounded)
}

// bounded returns a context for the stores, which does not end with the caller's.
func (c *Call) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

func (c *Call) pay(ctx context.Context) error {
	if c.version != 0 {
		c.stored = false
		if c.r.any(due, void) { // rules 1 and 2
			if err := c.write(ctx); err != nil {
				return err
			}
		}
	}
	c.settleAll(ctx)
	if err := c.unpaid(); err != nil {
		return err
	}
	if c.version != 0 { // so that a repeat need not ask the ledger; if it is not stored, the ledger knows
		short, cancel := c.bounded(ctx, min(noting, c.keeper.cfg.Left(ctx)))
		defer cancel()
		err := c.write(short)
		if c.stored = err == nil; err != nil {
			c.keeper.cfg.Log.WarnContext(ctx, "a charge is not noted in the record of its call", "request_id", c.req.ID, "error", err)
		}
	}
	return nil
}

// unpaid returns why there is nothing to tell: nothing is paid, and it is not known whether it will be, or it cannot be.
func (c *Call) unpaid() error {
	if len(c.r.Charges) == 0 || c.r.any(paid) {
		return nil
	}
	var errs []error
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if errs = append(errs, ch.err); ch.State == due && ch.asked {
			errs = append(errs, ErrUndecided)
		}
	}
	return cmp.Or(errors.Join(errs...), ErrUndecided)
}

// settleAll settles what is due and releases what is void, at the same time, so that a durable ledger writes them in one
// transaction.
func (c *Call) settleAll(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range c.r.Charges {
		if s := c.r.Charges[i].State; s == due || s == void {
			wg.Go(func() { c.settle(ctx, &c.r.Charges[i]) })
		}
	}
	wg.Wait()
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if ch.State != paid || ch.receipt == nil {
			continue
		}
		c.balance = ch.receipt.Balance
		if ch.charged = ch.Credits > 0 && !ch.earlier; ch.charged && c.keeper.cfg.Ledger != nil {
			c.keeper.cfg.Charged(ch.Hold.Spender, ch.Charge, *ch.receipt)
		}
		ch.receipt = nil
	}
}

// settle settles a charge that is due, or releases one that is void. What the ledger cannot decide before ctx ends
// stays: a charge may have been made although the ledger failed, so it is asked again, and says what became of it.
func (c *Call) settle(ctx context.Context, ch *Charge) {
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		if ch.State == void {
			if c.cancel(ctx, ch) == nil {
				return
			}
		} else if c.ask(ctx, ch) {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
		case <-c.gone: // the call fails
		}
		timer.Stop()
		return
	}
}

// ask asks the ledger to charge, and reports whether it needs not be asked again.
func (c *Call) ask(ctx context.Context, ch *Charge) (decided bool) {
	first := !ch.asked
	if first { // leave time to find out whether it was charged
		if end, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-asking))
			defer cancel()
		}
	}
	if ch.asked = true; first {
		ch.began = time.Now()
	}
	receipt, err := c.charge(ctx, ch, first)
	switch {
	case err == nil && ch.Charge.Amount > 0 && receipt.Charged == 0: // the hold had been released
		ch.State, ch.err = cleared, credits.ErrExpired
	case err == nil:
		ch.State, ch.Credits, ch.err = paid, receipt.Charged, nil
		ch.earlier = ch.before || first && receipt.Earlier && ch.Charge.IdempotencyKey != ""
		ch.receipt = &receipt
	case errors.Is(err, credits.ErrExpired) && ch.Charge.Amount == 0: // nothing is held, and nothing is due
		ch.State = paid
	case errors.Is(err, credits.ErrExpired) && ch.oneStep: // it was not made so far
		ch.State = void
	case errors.Is(err, credits.ErrExpired), errors.Is(err, credits.ErrInsufficient), errors.Is(err, credits.ErrInvalid),
		errors.Is(err, credits.ErrUnknownAccount), errors.Is(err, credits.ErrAmount):
		ch.State, ch.err = cleared, err
	case first && account.Refused(err): // the store has said that it has not written
		ch.asked, ch.err = false, err
		return true
	default:
		ch.err = err
		return false
	}
	return true
}

func (c *Call) charge(ctx context.Context, ch *Charge, first bool) (credits.Receipt, error) {
	switch ledger := c.keeper.cfg.Ledger; {
	case ledger == nil:
		return credits.Receipt{Charged: ch.Charge.Amount}, nil
	case !ch.oneStep:
		return ledger.Settle(ctx, ch.Hold, ch.Charge)
	case first:
		receipt, err := ledger.Charge(ctx, ch.Hold.Spender, ch.Charge)
		return receipt, c.req.Who.Short(ctx, ch.Charge.Amount, err)
	default: // a charge in one step cannot be repeated: this says what became of it
		return ledger.Settle(ctx, ch.Hold, credits.Charge{})
	}
}

// cancel releases a hold, and refunds what was charged for it.
func (c *Call) cancel(ctx context.Context, ch *Charge) error {
	ledger := c.keeper.cfg.Ledger
	if ledger == nil {
		ch.State = cleared
		return nil
	}
	receipt, err := ledger.Settle(ctx, ch.Hold, credits.Charge{})
	if err != nil && (!errors.Is(err, credits.ErrExpired) || time.Since(ch.began) < landing) {
		return err
	}
	if receipt.Charged > 0 {
		charged, err := c.chargedFor(ctx, ch)
		if err != nil {
			return err
		}
		if charged > 0 {
			if err := c.refund(ctx, ch, charged); err != nil {
				return err
			}
		}
	}
	ch.State = cleared
	return nil
}

// lookUp finds out which of what is due is charged already.
func (c *Call) lookUp(ctx context.Context) error {
	for i := range c.r.Charges {
		ch := &c.r.Charges[i]
		if ch.State != due || c.keeper.cfg.Ledger == nil {
			continue
		}
		charged, err := c.chargedFor(ctx, ch)
		if err != nil {
			return err
		}
		ch.before, ch.Credits = charged > 0, charged
	}
	return nil
}

// noted makes paid what is charged of a record that another process has: it may have told that without noting it.
func (c *Call) noted(ctx context.Context) error {
	if err := c.lookUp(ctx); err != nil {
		return err
	}
	for i := range c.r.Charges {
		if ch := &c.r.Charges[i]; ch.State == due && ch.before {
			ch.State, ch.earlier = paid, true
		}
	}
	return nil
}

// mostOfRequest is more than the number of entries of any request.
const mostOfRequest = 1000

// chargedFor returns what was charged for a hold itself: settling it can return the charge of another one with an equal
// idempotency key.
func (c *Call) chargedFor(ctx context.Context, ch *Charge) (int64, error) {
	entries, err := c.keeper.cfg.Ledger.Entries(ctx, credits.Query{
		Account: ch.Hold.Spender.Account, RequestID: ch.Charge.RequestID, Limit: mostOfRequest,
	})
	for _, e := range entries {
		if e.Kind == credits.Charged && e.Hold == ch.Hold.ID {
			return -e.Amount, err
		}
	}
	return 0, err
}
