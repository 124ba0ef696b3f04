package account

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// unpaid is the bucket that each account has for calls that went upstream and were not charged (D97).
var unpaid = keys.Rate{Capacity: 1000, Refill: 1000.0 / 3600}

// Tab is one call that may go upstream, until it is known whether it is paid for. It holds one of the account's unpaid
// calls meanwhile, so that calls at the same time never make more of them than there are.
type Tab struct {
	accounts *Accounts
	account  string
	counted  bool // against the unpaid calls
	asked    atomic.Bool
}

// Outcome is what a call came to, as far as the account's unpaid calls are concerned.
type Outcome int

// The outcomes of a call.
const (
	Failed   Outcome = iota // takes an unpaid call if an upstream was asked
	Answered                // without a charge, being free or paid for before
	Charged                 // gives an unpaid call back
)

// Open begins the tab of a call. The sandbox and a client without a ledger count no unpaid calls. When the account has
// none left the error is a rate_limited problem. Every tab is to be closed; a nil Tab counts nothing.
func (c Caller) Open(ctx context.Context, sandbox bool) (*Tab, error) {
	t := &Tab{accounts: c.accounts, account: c.Account()}
	if sandbox || c.key == nil || c.accounts.Ledger == nil {
		return t, nil
	}
	a, err := c.accounts.Limiter.Take(ctx, unpaidOf(t.account), unpaid)
	if err != nil {
		return nil, err
	}
	if !a.OK {
		return nil, problem.New(problem.RateLimited, "too many calls of the account came to nothing: %d are free, "+
			"as many come back in an hour, and each call that is charged gives one back", unpaid.Capacity).After(a.RetryAfter)
	}
	t.counted = true
	c.accounts.owing.note(t.account, a)
	return t, nil
}

// Context returns a context whose reads are made for the tab's account.
func (t *Tab) Context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return providers.WithCaller(ctx, &providers.Caller{
		Account: t.account, Alone: t.accounts.alone(ctx), Asked: func() { t.asked.Store(true) },
	})
}

// Close ends the tab. Of a caller who has left it is not known whether an upstream will still be asked: it counts as if.
func (t *Tab) Close(ctx context.Context, o Outcome) {
	if t == nil || !t.counted {
		return
	}
	back := 1
	switch {
	case o == Charged:
		back = 2
	case o == Failed && (t.asked.Load() || ctx.Err() != nil):
		return
	}
	t.accounts.giveBack(ctx, t.account, back)
}

// Paid gives back one of the unpaid calls of the account, for a call that was charged and has no tab.
func (c Caller) Paid(ctx context.Context) {
	if c.key != nil && c.accounts.owing.has(c.key.Account) {
		c.accounts.giveBack(ctx, c.key.Account, 1)
	}
}

// giveBack puts unpaid calls back. What cannot be put back comes back with time.
func (a *Accounts) giveBack(ctx context.Context, account string, n int) {
	ctx, cancel := context.WithTimeout(operation.Detach(ctx), time.Second)
	defer cancel()
	if left, err := a.Limiter.Give(ctx, unpaidOf(account), unpaid, n); err == nil {
		a.owing.note(account, left)
	}
}

func unpaidOf(account string) string { return "unpaid:" + account }

// alone reports whether there is one account at most. It asks the store of keys once a minute until there are two.
func (a *Accounts) alone(ctx context.Context) bool {
	admin, ok := a.Keys.(keys.Admin)
	if !ok || a.several.Load() {
		return !a.several.Load()
	}
	now, last := a.Now().UnixNano(), a.counted.Load()
	if last != 0 && now-last < int64(time.Minute) && now >= last || !a.counted.CompareAndSwap(last, now) {
		return true
	}
	all, err := admin.Accounts(ctx)
	if err == nil && len(all) > 1 {
		a.several.Store(true)
	}
	return !a.several.Load()
}
