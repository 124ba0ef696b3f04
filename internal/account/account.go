// Package account knows who makes a call and who pays for it: the key that was shown, its rate limit, the balance of
// its account, and the holds of a call with their settling. It knows nothing of upstreams.
package account

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/records"
)

// Config is what [Accounts] are made of.
type Config struct {
	Keys    keys.Store     // nil when there are no keys
	Ledger  credits.Ledger // nil when nothing is charged
	Records records.Store  // guarded
	Limiter keys.Limiter
	Rate    keys.Rate // of keys that have none of their own
	Now     func() time.Time
	Guard   *Guard
	HoldFor time.Duration // how long a hold lasts unless it is settled
	Charged func(observe.Charge)
	Log     *slog.Logger
	Shared  bool // Records outlast the process: what other processes have noted is looked for
}

// Accounts are the callers of one engine.
type Accounts struct {
	Config
	guard *Guard
	ids   *credits.IDs // of charges that have no hold
	owed  *owed

	owing   owing        // whose bucket of unpaid calls is not full
	several atomic.Bool  // there are two accounts or more
	counted atomic.Int64 // when they were last counted, in nanoseconds since 1970
}

// New returns the callers of an engine.
func New(cfg Config) *Accounts {
	a := &Accounts{Config: cfg, guard: cfg.Guard, ids: credits.NewIDs(cfg.Now())}
	a.owed = newOwed(a)
	if cfg.Ledger != nil {
		a.guard.ledger.probe = func(ctx context.Context) error {
			_, err := cfg.Ledger.Balance(ctx, "")
			return err
		}
	}
	if cfg.Keys != nil {
		a.guard.keys.probe = func(ctx context.Context) error {
			_, err := cfg.Keys.Lookup(ctx, keys.Hash{})
			return err
		}
	}
	return a
}

// Close ends what is done in the background, after a last attempt at what is still to be given back.
func (a *Accounts) Close(ctx context.Context) error {
	return errors.Join(a.owed.close(ctx), a.guard.Close(ctx))
}

// ErrNone says that a call which needs an account was made without one.
var ErrNone = errors.New("socialdata: no account is bound; use Client.As")

// Caller is who makes a call. The Caller without a key is nobody in particular.
type Caller struct {
	accounts *Accounts
	key      *keys.Key
}

// Caller returns the caller who shows key; nil for nobody.
func (a *Accounts) Caller(key *keys.Key) Caller { return Caller{a, key} }

// Authenticate returns the caller whose secret is given. A missing, malformed, unknown or revoked key is one and the
// same [keys.ErrUnknown]. A key that cannot be one, by its form or its checksum, costs no look-up: whoever tries keys
// must not be able to keep the store busy. That tells nobody more than the published form of keys does; between an
// unknown and a revoked key there is no difference.
func (a *Accounts) Authenticate(ctx context.Context, secret string) (Caller, error) {
	hash, err := keys.Parse(secret)
	if err != nil {
		return Caller{}, err
	}
	if a.Keys == nil {
		return Caller{}, keys.ErrUnknown
	}
	key, err := a.lookup(ctx, hash)
	if err != nil {
		return Caller{}, err
	}
	a.Keys.Touch(key.ID, a.Now())
	return a.Caller(&key), nil
}

// lookup is the store's Lookup; a store that panics fails.
func (a *Accounts) lookup(ctx context.Context, h keys.Hash) (k keys.Key, err error) {
	bounded, err := a.guard.keys.enter(ctx, 0)
	if err != nil {
		return k, err
	}
	defer bounded.leave(&err)
	return a.Keys.Lookup(bounded, h)
}

// Key returns the caller's key, or nil. It is read only.
func (c Caller) Key() *keys.Key { return c.key }

// Account returns the id of the caller's account, or "".
func (c Caller) Account() string {
	if c.key == nil {
		return ""
	}
	return c.key.Account
}

// Admit takes one call from the rate limit of the caller's key. The allowance tells the bucket's state in any case;
// when the bucket is empty the error is a rate_limited problem.
func (c Caller) Admit(ctx context.Context) (keys.Allowance, error) {
	if c.key == nil {
		return keys.Allowance{}, ErrNone
	}
	a, err := c.accounts.Limiter.Take(ctx, c.key.ID, c.rate())
	if err == nil && !a.OK {
		err = problem.New(problem.RateLimited, "the key may make %d calls at once and %s a second; wait and try again",
			a.Rate.Capacity, strconv.FormatFloat(a.Rate.Refill, 'g', -1, 64)).After(a.RetryAfter)
	}
	return a, err
}

// Allowance returns the state of the bucket of the caller's key, and takes nothing from it.
func (c Caller) Allowance(ctx context.Context) (keys.Allowance, error) {
	return c.accounts.Limiter.Peek(ctx, c.key.ID, c.rate())
}

func (c Caller) rate() keys.Rate {
	if c.key.Rate != nil {
		return *c.key.Rate
	}
	return c.accounts.Rate
}

// Balance returns what the caller's account can still spend; 0 when nothing is charged or nobody calls.
func (c Caller) Balance(ctx context.Context) (int64, error) {
	if c.accounts.Ledger == nil || c.key == nil {
		return 0, nil
	}
	n, err := c.accounts.balance(ctx, c.key.Account)
	if errors.Is(err, credits.ErrUnknownAccount) { // has a key, and no books yet
		return 0, nil
	}
	return n, err
}

// Entries returns a part of the books of the caller's account, whatever account q names.
func (c Caller) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	if c.accounts.Ledger == nil {
		return nil, nil
	}
	q.Account = c.Account()
	entries, err := c.accounts.entries(ctx, q)
	if errors.Is(err, credits.ErrUnknownAccount) {
		return nil, nil
	}
	return entries, err
}

// spender says who pays.
func (c Caller) spender() (credits.Spender, error) {
	if c.key == nil {
		return credits.Spender{}, ErrNone
	}
	return credits.Spender{Account: c.key.Account, Key: c.key.ID, DayCap: c.key.DayCap, TotalCap: c.key.TotalCap}, nil
}
