package account

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/internal/lapse"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// unpaid is the size of each account's bucket for calls that went upstream and were not charged (D97).
var unpaid = keys.Rate{Capacity: 1000, Refill: 1000.0 / 3600}

// Tab is a call that may go upstream, until it is known whether it is charged; a batch counts as one call for each key.
// Until then it has taken that many of the account's unpaid calls, so that concurrent calls cannot exceed the limit.
type Tab struct {
	accounts *Accounts
	account  string
	counted  bool          // counts against the unpaid calls
	asked    []atomic.Bool // for each call, whether an upstream was called
}

// Outcome is the result of a call, as far as the account's unpaid calls are concerned.
type Outcome int

// The outcomes of a call.
const (
	Failed   Outcome = iota // uses an unpaid call if an upstream was called
	Answered                // without a new charge, because it is free or was charged earlier
	Charged                 // gives an unpaid call back
)

// Open opens a tab for the given number of calls. The sandbox and a client without a ledger do not count unpaid calls.
// When the account has fewer left the error is a rate_limited problem. Every tab must be closed; a nil Tab counts
// nothing.
func (c Caller) Open(ctx context.Context, sandbox bool, calls int) (*Tab, error) {
	t := &Tab{accounts: c.accounts, account: c.Account(), asked: make([]atomic.Bool, calls)}
	if sandbox || c.key == nil || c.accounts.Ledger == nil {
		return t, nil
	}
	a, err := c.accounts.Limiter.Take(ctx, unpaidOf(t.account), unpaid, calls)
	if err != nil {
		return nil, err
	}
	if !a.OK {
		return nil, problem.New(problem.RateLimited, "too many calls of the account were not charged, or are in progress: "+
			"%d such calls are free, the same number is added in an hour, and each charged call gives one back",
			unpaid.Capacity).After(a.RetryAfter)
	}
	t.counted = true
	c.accounts.owing.note(t.account, a)
	return t, nil
}

// Context returns a context whose reads are made for the tab's account, as its call with the given index, from 0.
func (t *Tab) Context(ctx context.Context, call int) context.Context {
	if t == nil {
		return ctx
	}
	return providers.WithCaller(ctx, &providers.Caller{
		Account: t.account, Alone: t.accounts.alone(ctx), Asked: func() { t.asked[call].Store(true) },
	})
}

// Close closes the tab with the outcome of each of its calls; calls without one have failed. If the caller has hung up,
// it is unknown whether an upstream will still be called, so this counts as called.
func (t *Tab) Close(ctx context.Context, outcomes ...Outcome) {
	if t == nil || !t.counted {
		return
	}
	back := 0
	for i := range t.asked {
		o := Failed
		if i < len(outcomes) {
			o = outcomes[i]
		}
		switch {
		case o == Charged:
			back += 2
		case o == Answered, !t.asked[i].Load() && ctx.Err() == nil:
			back++
		}
	}
	if back > 0 {
		t.accounts.giveBack(ctx, t.account, back)
	}
}

// Paid gives back one of the account's unpaid calls for each of n charged calls without a tab.
func (c Caller) Paid(ctx context.Context, n int) {
	if c.key != nil && n > 0 && c.accounts.owing.has(c.key.Account) {
		c.accounts.giveBack(ctx, c.key.Account, n)
	}
}

// giveBack puts unpaid calls back. If that fails, they come back over time.
func (a *Accounts) giveBack(ctx context.Context, account string, n int) {
	bounded := lapse.After(operation.Detach(ctx), time.Second)
	defer bounded.Stop()
	if left, err := a.Limiter.Give(bounded, unpaidOf(account), unpaid, n); err == nil {
		a.owing.note(account, left)
	}
}

func unpaidOf(account string) string { return "unpaid:" + account }

// alone reports whether there is at most one account. It calls the key store once a minute until there are two, and
// only the first call waits for the answer.
func (a *Accounts) alone(ctx context.Context) bool {
	admin, ok := a.Keys.(keys.Admin)
	if !ok || a.several.Load() {
		return !a.several.Load()
	}
	now, last := a.Now().UnixNano(), a.counted.Load()
	if last != 0 && now-last < int64(time.Minute) && now >= last || !a.counted.CompareAndSwap(last, now) {
		return true
	}
	switch {
	case last == 0:
		_ = a.count(ctx, admin) // after an error it is repeated in a minute
	case a.guard.probes.Begin():
		go func() {
			defer a.guard.probes.End()
			_ = a.count(operation.After(context.WithoutCancel(ctx)), admin)
		}()
	}
	return !a.several.Load()
}

// count notes whether there are several accounts.
func (a *Accounts) count(ctx context.Context, admin keys.Admin) (err error) {
	bounded, err := a.guard.keys.enter(ctx, 0)
	if err != nil {
		return err
	}
	defer bounded.leave(&err)
	all, err := admin.Accounts(bounded)
	if len(all) > 1 {
		a.several.Store(true)
	}
	return err
}
