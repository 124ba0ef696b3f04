package account

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
)

// unpaid is the size of each account's bucket for calls that went upstream and were not charged (D97).
var unpaid = keys.Rate{Capacity: 1000, Refill: 1000.0 / 3600}

// UnpaidCalls are those that a call has reserved of its account's, until it is known whether it is charged; a batch
// reserves one for each key. So concurrent calls cannot exceed the limit.
type UnpaidCalls struct {
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

// Open reserves the given number of unpaid calls. The sandbox and a client without a ledger do not count unpaid calls.
// When the account has fewer left the error is a rate_limited problem. They must be closed; nil reserves nothing.
func (c Caller) Open(ctx context.Context, sandbox bool, calls int) (*UnpaidCalls, error) {
	t := &UnpaidCalls{accounts: c.accounts, account: c.Account(), asked: make([]atomic.Bool, calls)}
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
	c.accounts.usedUnpaid.note(t.account, a)
	return t, nil
}

// Context returns a context whose reads are made for the account of t, as its call with the given index, from 0.
func (t *UnpaidCalls) Context(ctx context.Context, call int) context.Context {
	if t == nil {
		return ctx
	}
	return callctx.WithCaller(ctx, callctx.Caller{
		Account: t.account, Alone: t.accounts.Alone(ctx), Asked: func() { t.asked[call].Store(true) },
	})
}

// Close settles the unpaid calls with the outcome of each; calls without one have failed. If the caller has hung up, it
// is unknown whether an upstream will still be called, so this counts as called.
func (t *UnpaidCalls) Close(ctx context.Context, outcomes ...Outcome) {
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

// Paid gives back one of the account's unpaid calls for each of n charged calls that reserved none.
func (c Caller) Paid(ctx context.Context, n int) {
	if c.key != nil && n > 0 && c.accounts.usedUnpaid.has(c.key.Account) {
		c.accounts.giveBack(ctx, c.key.Account, n)
	}
}

// giveBack puts unpaid calls back. If that fails, they come back over time.
func (a *Accounts) giveBack(ctx context.Context, account string, n int) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if left, err := a.Limiter.Give(bounded, unpaidOf(account), unpaid, n); err == nil {
		a.usedUnpaid.note(account, left)
	}
}

func unpaidOf(account string) string { return "unpaid:" + account }

// Alone reports whether there is at most one account. It calls the key store once a minute until there are two, and
// only the first call waits for the answer.
func (a *Accounts) Alone(ctx context.Context) bool {
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
	case a.Stores.probes.Begin():
		go func() {
			defer a.Stores.probes.End()
			_ = a.count(callctx.After(context.WithoutCancel(ctx)), admin)
		}()
	}
	return !a.several.Load()
}

// count notes whether there are several accounts.
func (a *Accounts) count(ctx context.Context, admin keys.Admin) error {
	all, err := get(ctx, a.Stores.keys, reading, admin.Accounts)
	if len(all) > 1 {
		a.several.Store(true)
	}
	return err
}

// mostUsedUnpaid is how many accounts are remembered. An account that is not remembered gets its unpaid calls back only over
// time.
const mostUsedUnpaid = 10_000

// usedUnpaid remembers the accounts whose bucket of unpaid calls is not full, as far as this process knows, so that an
// answer from the cache does not give back a call that was not taken. Its zero value is ready to use.
type usedUnpaid struct {
	mu sync.Mutex
	by *simplelru.LRU[string, struct{}]
}

// note remembers an account unless its bucket is full.
func (o *usedUnpaid) note(account string, a keys.Allowance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by, _ = simplelru.NewLRU[string, struct{}](mostUsedUnpaid, nil) // only fails for a size below 1
	}
	if a.Remaining >= float64(a.Rate.Capacity) {
		o.by.Remove(account)
	} else {
		o.by.Add(account, struct{}{})
	}
}

func (o *usedUnpaid) has(account string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.by != nil && o.by.Contains(account)
}
