package account

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

// Item is one thing that a call may be charged for.
type Item struct {
	Name   string // used to settle it
	Amount int64
}

// Books are the holds of one call, by the names of their items. Without a ledger there are none.
type Books struct {
	requestID      string
	idempotencyKey string
	items          []Item
	holds          []credits.Hold // in the order of items
}

// Due is a charge that has been decided, with its hold: all that is needed to write it, in this process or, from a
// note, in another.
type Due struct {
	Hold   credits.Hold
	Charge credits.Charge
	// Shared means that another call may be charged with this charge as well, in this process or in the one that made
	// the hold, and may report to its caller that it has failed. The call that returns an answer for the charge notes
	// this in the records.
	Shared bool `json:"-"`
	// Call is the number of the call among those of this process; 0 when the rest was read from a record.
	Call uint64 `json:"-"`
}

// calls is how many calls of this process have made a [Due].
var calls atomic.Uint64

// ErrUndecided means that the ledger failed and that it is unknown whether it charged. Settling again resolves that.
var ErrUndecided = errors.New("socialdata: it is not known whether the ledger has made the charge")

// undecidedError is an [ErrUndecided] with the error of the charge and that of the last attempt to find out.
type undecidedError struct{ cause, last error }

func (e *undecidedError) Error() string { return errors.Join(ErrUndecided, e.cause, e.last).Error() }

func (e *undecidedError) Unwrap() []error { return []error{ErrUndecided, e.cause, e.last} }

// Reserve holds the amount of each item, all or none. With an idempotencyKey other than "", they are charged once,
// however often they are settled.
func (c Caller) Reserve(ctx context.Context, requestID, idempotencyKey string, items ...Item) (Books, error) {
	b := Books{requestID: requestID, idempotencyKey: idempotencyKey, items: items}
	if c.accounts.Ledger == nil {
		return b, nil
	}
	who, err := c.spender()
	if err != nil {
		return b, err
	}
	amounts := make([]int64, len(items))
	for i, item := range items {
		amounts[i] = item.Amount
	}
	b.holds, err = c.accounts.hold(ctx, who, amounts...)
	return b, err
}

// hold returns the hold of an item; without a ledger the zero Hold.
func (b *Books) hold(item string) credits.Hold {
	for i := range b.holds {
		if b.items[i].Name == item {
			return b.holds[i]
		}
	}
	return credits.Hold{}
}

// Due returns what is needed to settle an item with a charge.
func (b *Books) Due(item string, charge credits.Charge) Due {
	return NewDue(b.hold(item), b.requestID, b.idempotencyKey, charge)
}

// Hold is [Caller.Reserve] for a call that is charged for one thing. The hold is settled by [NewDue].
func (c Caller) Hold(ctx context.Context, amount int64) (credits.Hold, error) {
	if c.accounts.Ledger == nil {
		return credits.Hold{}, nil
	}
	who, err := c.spender()
	if err != nil {
		return credits.Hold{}, err
	}
	holds, err := c.accounts.hold(ctx, who, amount)
	if err != nil {
		return credits.Hold{}, err
	}
	return holds[0], nil
}

// NewDue returns what is needed to settle hold with a charge.
func NewDue(hold credits.Hold, requestID, idempotencyKey string, charge credits.Charge) Due {
	charge.RequestID = requestID
	if idempotencyKey != "" { // the platform distinguishes the parts of a search; keys contain no space
		charge.IdempotencyKey = idempotencyKey + " " + charge.Platform
	}
	return Due{Hold: hold, Charge: charge, Call: calls.Add(1)}
}

// Settle ends a hold with its charge. Without a ledger the receipt has the amount that would have been charged. After
// an error nothing was charged and nothing is held, unless it is [ErrUndecided]. Settle continues when the context
// ends: the charge must be written even if the caller has hung up.
func (a *Accounts) Settle(ctx context.Context, d Due) (credits.Receipt, error) {
	ctx = operation.Detach(ctx)
	receipt, err := a.settleOnce(ctx, &d)
	return a.booked(ctx, d, receipt, err)
}

// settleOnce settles d and, if that fails, checks once whether it was charged.
func (a *Accounts) settleOnce(ctx context.Context, d *Due) (credits.Receipt, error) {
	if a.Ledger == nil {
		return credits.Receipt{Charged: d.Charge.Amount}, nil
	}
	if d.Hold.ID == "" {
		return credits.Receipt{}, fmt.Errorf("socialdata: nothing was held for %s %s", d.Charge.Operation, d.Charge.Platform)
	}
	d.Charge.Late = d.Charge.Amount > 0 // a process that was suspended may be late
	receipt, err := a.settle(ctx, d.Hold, d.Charge)
	if err != nil && !errors.Is(err, credits.ErrExpired) {
		receipt, err = a.resolve(ctx, d, err)
	}
	return receipt, err
}

// Settle is [Accounts.Settle] for a call that is answered immediately. If the ledger cannot say whether it charged, it
// retries as long as the call has time. If that remains unknown, the call is reported as failed, and a note is written:
// if it turns out that the charge was made, it is refunded.
func (c Caller) Settle(ctx context.Context, d Due) (credits.Receipt, error) {
	a := c.accounts
	ctx = operation.Detach(ctx)
	over := a.guard.over(ctx, 0)
	receipt, err := a.settleOnce(ctx, &d)
	return a.end(ctx, d, over, receipt, err)
}

// Over returns when a store call of the call in ctx that begins now must have returned.
func (a *Accounts) Over(ctx context.Context) time.Time { return a.guard.over(ctx, 0) }

// end retries until it is known whether d was charged, or until the call's time is over. If the ledger has returned the
// charge (failed is nil), only its note is written again.
func (a *Accounts) end(
	ctx context.Context, d Due, over time.Time, first credits.Receipt, failed error,
) (credits.Receipt, error) {
	receipt, err := a.booked(ctx, d, first, failed)
	for wait := firstPause; errors.Is(err, ErrUndecided); wait = min(2*wait, longestPause) {
		if time.Now().Add(wait).After(over) {
			a.ToldAsFailed(ctx, d, err)
			return receipt, err
		}
		time.Sleep(wait)
		if receipt, err = first, nil; failed != nil {
			receipt, err = a.resolve(ctx, &d, failed)
		}
		receipt, err = a.booked(ctx, d, receipt, err)
	}
	return receipt, err
}

// The pauses before it is checked again whether a charge was made.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// booked handles the receipt of a charge. A charge that another call may have made and reported as failed belongs to
// the caller that now gets the answer; until that is noted, the charge is undecided.
func (a *Accounts) booked(ctx context.Context, d Due, receipt credits.Receipt, err error) (credits.Receipt, error) {
	if err != nil || a.Ledger == nil {
		return receipt, err
	}
	own := !receipt.Earlier
	if (d.Shared || !own && d.Charge.IdempotencyKey != "") && d.Charge.Amount > 0 && receipt.Charged > 0 {
		if receipt, err = a.claim(ctx, d, receipt); err != nil {
			return receipt, err
		}
	}
	if own {
		a.charged(d, receipt)
	}
	return receipt, nil
}

// claim notes that the charge of the receipt belongs to the answer that is returned now, so that it is not refunded for
// another call that was charged with it and has failed. If it has been refunded already, the answer costs nothing.
// After an error the charge is undecided.
func (a *Accounts) claim(ctx context.Context, d Due, receipt credits.Receipt) (credits.Receipt, error) {
	receipt, err := a.owed.answered(ctx, d, receipt)
	if err != nil {
		return credits.Receipt{}, errors.Join(ErrUndecided, err)
	}
	return receipt, nil
}

// Release ends a hold without a charge. If it was charged nevertheless, by a ledger whose answer was lost, the receipt
// has the charge, which belongs to the answer that is returned now. Its errors are those of [Accounts.Settle].
func (a *Accounts) Release(ctx context.Context, d Due) (credits.Receipt, error) {
	receipt, err := a.Withdraw(ctx, d)
	if err == nil && receipt.Charged > 0 && (d.Shared || d.Charge.IdempotencyKey != "") {
		return a.claim(operation.Detach(ctx), d, receipt)
	}
	return receipt, err
}

// Withdraw is [Accounts.Release] for a call that fails: the charge in the receipt belongs to no answer.
func (a *Accounts) Withdraw(ctx context.Context, d Due) (credits.Receipt, error) {
	d.Charge.Amount = 0
	return a.Settle(ctx, d)
}

// resolve finds out whether a charge that failed with err was made: the ledger may have written it before it failed.
// Releasing the hold returns the charge, and changes nothing if there is one. With an idempotency key, the charge may
// be that of another call with the key: d is then shared.
func (a *Accounts) resolve(ctx context.Context, d *Due, err error) (credits.Receipt, error) {
	if earlier, ok := errors.AsType[*undecidedError](err); ok {
		err = earlier.cause
	}
	receipt, released := a.settle(ctx, d.Hold, credits.Charge{})
	switch {
	case released == nil && receipt.Charged > 0:
		d.Shared = d.Shared || d.Charge.IdempotencyKey != ""
		receipt.Earlier = false // it counts as this call's own
		return receipt, nil
	case released == nil, errors.Is(released, credits.ErrExpired):
		return receipt, err
	}
	return credits.Receipt{}, &undecidedError{err, released}
}

// Charge charges the caller for an answer that is already available, in one step if the ledger supports it. Without a
// ledger the receipt has the amount that would have been charged. If the context has ended already, nothing is charged;
// if it ends later, this is ignored. After an error nothing was charged, unless it is [ErrUndecided].
func (c Caller) Charge(
	ctx context.Context, requestID, idempotencyKey string, charge credits.Charge,
) (credits.Receipt, error) {
	a := c.accounts
	if err := ctx.Err(); err != nil {
		return credits.Receipt{}, err
	}
	charger, ok := a.Ledger.(credits.Charger)
	if !ok {
		hold, err := c.Hold(ctx, charge.Amount)
		if err != nil {
			return credits.Receipt{}, err
		}
		return c.Settle(ctx, NewDue(hold, requestID, idempotencyKey, charge))
	}
	who, err := c.spender()
	if err != nil {
		return credits.Receipt{}, err
	}
	ctx = operation.Detach(ctx)
	over := a.guard.over(ctx, 0)
	attempt := func() (credits.Receipt, error) {
		d := NewDue(credits.Hold{ID: a.ids.For(requestID), Spender: who}, requestID, idempotencyKey, charge)
		d.Charge.ID = d.Hold.ID
		receipt, err := a.charge(ctx, charger, d)
		if isRefused(err) {
			return receipt, a.short(ctx, who.Account, charge.Amount, err)
		}
		if err != nil {
			receipt, err = a.resolve(ctx, &d, err)
		}
		return a.end(ctx, d, over, receipt, err)
	}
	receipt, err := attempt()
	if err == nil || idempotencyKey == "" || isRefused(err) || errors.Is(err, ErrUndecided) || !time.Now().Before(over) {
		return receipt, err
	}
	// No charge was made. An earlier call with the key may have been charged, of which the ledger could not return the
	// result.
	return attempt()
}

// charge calls the ledger's Charge; a panic of the ledger becomes an error.
func (a *Accounts) charge(ctx context.Context, l credits.Charger, d Due) (receipt credits.Receipt, err error) {
	bounded, err := a.guard.ledger.enter(ctx, asking)
	if err != nil {
		return receipt, err
	}
	defer bounded.leave(&err)
	return l.Charge(bounded, d.Hold.Spender, d.Charge)
}

// charged reports a charge to the observer.
func (a *Accounts) charged(d Due, r credits.Receipt) {
	if r.Charged > 0 {
		a.Spent(d.Hold.Spender.Account, r.Balance)
		a.Charged(observe.Charge{Operation: d.Charge.Operation, Platform: d.Charge.Platform, Credits: r.Charged})
	}
}

// hold holds amounts, all or none. If they are refused, the error is a [ShortError].
func (a *Accounts) hold(ctx context.Context, who credits.Spender, amounts ...int64) ([]credits.Hold, error) {
	holds, err := a.reserve(ctx, who, amounts)
	if !isRefused(err) {
		return holds, err
	}
	price := int64(0)
	for _, n := range amounts {
		price += n
	}
	return nil, a.short(ctx, who.Account, price, err)
}

// reserve calls the ledger's Reserve; a panic of the ledger becomes an error.
func (a *Accounts) reserve(ctx context.Context, who credits.Spender, amounts []int64) (holds []credits.Hold, err error) {
	bounded, err := a.guard.ledger.enter(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer bounded.leave(&err)
	return a.Ledger.Reserve(bounded, who, a.HoldFor, amounts...)
}

// check returns an error if who cannot hold n credits now. If the ledger is not a [credits.Checker], the balance is
// read and, if the key has a cap, a hold is made and released at once.
func (a *Accounts) check(ctx context.Context, who credits.Spender, n int64) error {
	if checker, ok := a.Ledger.(credits.Checker); ok {
		return a.ask(ctx, checker, who, n)
	}
	if who.DayCap == nil && who.TotalCap == nil {
		balance, err := a.balance(ctx, who.Account)
		if err == nil && n > balance {
			err = credits.ErrInsufficient
		}
		return err
	}
	holds, err := a.reserve(ctx, who, []int64{n})
	if err != nil {
		return err
	}
	_, err = a.settle(operation.Detach(ctx), holds[0], credits.Charge{})
	return err
}

// ask calls the ledger's Check; a panic of the ledger becomes an error.
func (a *Accounts) ask(ctx context.Context, l credits.Checker, who credits.Spender, n int64) (err error) {
	bounded, err := a.guard.ledger.enter(ctx, 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	return l.Check(bounded, who, n)
}

// isRefused reports whether the account or its key cannot pay.
func isRefused(err error) bool {
	return errors.Is(err, credits.ErrInsufficient) || errors.Is(err, credits.ErrUnknownAccount)
}

// short adds to a refusal the price of the call and what the account can spend.
func (a *Accounts) short(ctx context.Context, account string, price int64, err error) error {
	if !errors.Is(err, credits.ErrCap) { // a cap is a limit of the key, not of the account
		a.Lacked(account)
	}
	short := &ShortError{Price: price, Err: err}
	if n, err := a.balance(ctx, account); err == nil { // else there are no entries, and the balance is 0
		short.Balance = n
	}
	return short
}

// Within returns an error for a call that may cost more than the caller allows, in credits; a most of 0 is no limit.
func Within(price, most int64) error {
	if most == 0 || price <= most {
		return nil
	}
	return problem.New(problem.InsufficientCredits,
		"it may cost %d credits, and max_credits is %d; nothing was charged", price, most)
}

// ShortError has the highest price of a call, and what the account could spend.
type ShortError struct {
	Price, Balance int64
	Err            error
}

// Error implements error.
func (e *ShortError) Error() string {
	return fmt.Sprintf("%v: the call costs up to %d, and %d can be spent", e.Err, e.Price, e.Balance)
}

// Unwrap returns the ledger's error.
func (e *ShortError) Unwrap() error { return e.Err }

// settle calls the ledger's Settle; a panic of the ledger becomes an error.
func (a *Accounts) settle(ctx context.Context, h credits.Hold, c credits.Charge) (receipt credits.Receipt, err error) {
	spare := time.Duration(0)
	if c.Amount > 0 {
		spare = asking // to find out whether it was charged
	}
	bounded, err := a.guard.ledger.enter(ctx, spare)
	if err != nil {
		return receipt, err
	}
	defer bounded.leave(&err)
	return a.Ledger.Settle(bounded, h, c)
}

// balance calls the ledger's Balance; a panic of the ledger becomes an error.
func (a *Accounts) balance(ctx context.Context, account string) (n int64, err error) {
	bounded, err := a.guard.ledger.enter(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer bounded.leave(&err)
	return a.Ledger.Balance(bounded, account)
}

// entries calls the ledger's Entries; a panic of the ledger becomes an error.
func (a *Accounts) entries(ctx context.Context, q credits.Query) (entries []credits.Entry, err error) {
	bounded, err := a.guard.ledger.enter(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer bounded.leave(&err)
	return a.Ledger.Entries(bounded, q)
}
