package account

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/credits"
)

// Item is one thing that a call may be charged for.
type Item struct {
	Name   string // what it is settled by
	Amount int64
}

// Books are the holds of one call. Without a ledger there are none.
type Books struct {
	ledger         credits.Ledger
	requestID      string
	idempotencyKey string
	holds          map[string]credits.Hold
}

// Reserve holds the amount of each item, all or none. An idempotencyKey that is not "" is charged once, however often
// it is settled.
func (c Caller) Reserve(ctx context.Context, requestID, idempotencyKey string, items ...Item) (*Books, error) {
	b := &Books{ledger: c.accounts.Ledger, requestID: requestID, idempotencyKey: idempotencyKey}
	if b.ledger == nil {
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
	holds, err := b.ledger.Reserve(ctx, who, c.accounts.HoldFor, amounts...)
	if err != nil {
		return nil, err
	}
	b.holds = make(map[string]credits.Hold, len(items))
	for i, item := range items {
		b.holds[item.Name] = holds[i]
	}
	return b, nil
}

// Settle ends the hold of an item with a charge and returns what the account can still spend.
func (b *Books) Settle(ctx context.Context, item string, charge credits.Charge) (int64, error) {
	if b.ledger == nil {
		return 0, nil
	}
	hold, ok := b.holds[item]
	if !ok {
		return 0, fmt.Errorf("socialdata: nothing was held for %q", item)
	}
	charge.RequestID = b.requestID
	if b.idempotencyKey != "" { // the platform tells the parts of a search apart; a space is in no key
		charge.IdempotencyKey = b.idempotencyKey + " " + charge.Platform
	}
	// The caller may have hung up; the books are closed all the same.
	ctx = context.WithoutCancel(ctx)
	receipt, err := b.ledger.Settle(ctx, hold, charge)
	if err != nil { // nothing was charged, and what was held can be spent again
		_, _ = b.ledger.Settle(ctx, hold, credits.Charge{})
	}
	return receipt.Balance, err
}
