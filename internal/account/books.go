package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
)

// Item is one thing that a call may be charged for.
type Item struct {
	Name   string // what it is settled by
	Amount int64
}

// Books are the holds of one call, by the names of their items. Without a ledger there are none.
type Books struct {
	accounts       *Accounts
	requestID      string
	idempotencyKey string
	holds          map[string]credits.Hold
}

// Due is a charge that has been decided upon, with its hold: all that it takes to write it, in this process or, from a
// note, in another.
type Due struct {
	Hold   credits.Hold
	Charge credits.Charge
}

// ErrUndecided says that the ledger has failed in a way that leaves open whether it charged. Settling again tells.
var ErrUndecided = errors.New("socialdata: it is not known whether the ledger has charged")

// Reserve holds the amount of each item, all or none. An idempotencyKey that is not "" is charged once, however often
// it is settled.
func (c Caller) Reserve(ctx context.Context, requestID, idempotencyKey string, items ...Item) (*Books, error) {
	b := &Books{accounts: c.accounts, requestID: requestID, idempotencyKey: idempotencyKey}
	if c.accounts.Ledger == nil {
		return b, nil
	}
	who, err := c.spender()
	if err != nil {
		return nil, err
	}
	amounts := make([]int64, len(items))
	for i, item := range items {
		amounts[i] = item.Amount
	}
	holds, err := c.accounts.reserve(ctx, who, amounts)
	if err != nil {
		return nil, err
	}
	b.holds = make(map[string]credits.Hold, len(items))
	for i, item := range items {
		b.holds[item.Name] = holds[i]
	}
	return b, nil
}

// Due returns what settling an item with a charge takes.
func (b *Books) Due(item string, charge credits.Charge) Due {
	charge.RequestID = b.requestID
	if b.idempotencyKey != "" { // the platform tells the parts of a search apart; a space is in no key
		charge.IdempotencyKey = b.idempotencyKey + " " + charge.Platform
	}
	return Due{b.holds[item], charge}
}

// Settle ends the hold of an item with a charge. See [Accounts.Settle].
func (b *Books) Settle(ctx context.Context, item string, charge credits.Charge) (credits.Receipt, error) {
	return b.accounts.Settle(ctx, b.Due(item, charge))
}

// Settle ends a hold with its charge. Without a ledger the receipt says what the charge would have been. After an error
// nothing was charged and nothing is held, unless it is [ErrUndecided]. The context's end does not stop it: the caller
// may have hung up, and the books are closed all the same.
func (a *Accounts) Settle(ctx context.Context, d Due) (credits.Receipt, error) {
	if a.Ledger == nil {
		return credits.Receipt{Charged: d.Charge.Amount}, nil
	}
	if d.Hold.ID == "" {
		return credits.Receipt{}, fmt.Errorf("socialdata: nothing was held for %s %s", d.Charge.Operation, d.Charge.Platform)
	}
	ctx = context.WithoutCancel(ctx)
	d.Charge.Late = d.Charge.Amount > 0 // a process that stood still may be late
	receipt, err := a.settle(ctx, d.Hold, d.Charge)
	if err == nil || errors.Is(err, credits.ErrExpired) {
		return receipt, err
	}
	// It may have charged before it failed. Releasing the hold tells, and changes nothing then.
	receipt, released := a.settle(ctx, d.Hold, credits.Charge{})
	switch {
	case released == nil && receipt.Charged > 0:
		return receipt, nil
	case released == nil, errors.Is(released, credits.ErrExpired):
		return receipt, err
	}
	return credits.Receipt{}, errors.Join(ErrUndecided, err, released)
}

// Release gives up the hold of an item.
func (b *Books) Release(ctx context.Context, item string) error {
	_, err := b.Settle(ctx, item, credits.Charge{})
	return err
}

// reserve is the ledger's Reserve; a ledger that panics fails.
func (a *Accounts) reserve(ctx context.Context, who credits.Spender, amounts []int64) (holds []credits.Hold, err error) {
	defer rescue(&err)
	return a.Ledger.Reserve(ctx, who, a.HoldFor, amounts...)
}

// settle is the ledger's Settle; a ledger that panics fails.
func (a *Accounts) settle(ctx context.Context, h credits.Hold, c credits.Charge) (receipt credits.Receipt, err error) {
	defer rescue(&err)
	return a.Ledger.Settle(ctx, h, c)
}

// balance is the ledger's Balance; a ledger that panics fails.
func (a *Accounts) balance(ctx context.Context, account string) (n int64, err error) {
	defer rescue(&err)
	return a.Ledger.Balance(ctx, account)
}

// rescue turns a panic into an error: a search settles in goroutines of its own, where nobody above could.
func rescue(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("socialdata: the ledger panicked: %v", v)
	}
}
