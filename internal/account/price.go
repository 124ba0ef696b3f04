package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/problem"
)

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

// Reserve holds amounts, all or none. If the account or its key cannot pay, the error is a [ShortError].
func (c Caller) Reserve(ctx context.Context, amounts ...int64) ([]credits.Hold, error) {
	who, err := c.Spender()
	if err != nil {
		return nil, err
	}
	holds, err := c.accounts.ledger.Reserve(ctx, who, c.accounts.HoldFor, amounts...)
	if err == nil {
		return holds, nil
	}
	price := int64(0)
	for _, n := range amounts {
		price += n
	}
	return nil, c.Short(ctx, price, err)
}

// Short adds to a refusal of the ledger the price of the call and what the account can spend. It returns any other err
// as it is.
func (c Caller) Short(ctx context.Context, price int64, err error) error {
	if !isRefused(err) {
		return err
	}
	if !errors.Is(err, credits.ErrCap) { // a cap is a limit of the key, not of the account
		c.accounts.Lacked(c.Account())
	}
	short := &ShortError{Price: price, Err: err}
	if n, err := c.accounts.ledger.Balance(ctx, c.Account()); err == nil { // else there are no entries, and the balance is 0
		short.Balance = n
	}
	return short
}

// isRefused reports whether the account or its key cannot pay.
func isRefused(err error) bool {
	return errors.Is(err, credits.ErrInsufficient) || errors.Is(err, credits.ErrUnknownAccount)
}

// check returns an error if who cannot hold n credits now. If the ledger is not a [credits.Checker], the balance is
// read and, if the key has a cap, a hold is made and released at once.
func (a *Accounts) check(ctx context.Context, who credits.Spender, n int64) error {
	if checker, ok := a.Ledger.(credits.Checker); ok {
		return a.ledger.check(ctx, checker, who, n)
	}
	if who.DayCap == nil && who.TotalCap == nil {
		balance, err := a.ledger.Balance(ctx, who.Account)
		if err == nil && n > balance {
			err = credits.ErrInsufficient
		}
		return err
	}
	holds, err := a.ledger.Reserve(ctx, who, a.HoldFor, n)
	if err != nil {
		return err
	}
	_, err = a.ledger.Settle(context.WithoutCancel(ctx), holds[0], credits.Charge{})
	return err
}
