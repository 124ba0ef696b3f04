// Package account handles the caller of a call and its payment: the key that was presented, its rate limit, the balance
// of its account, and the call's holds and charges. It does not deal with upstreams.
package account

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
)

// Config configures [Accounts].
type Config struct {
	Keys    keys.Store     // nil when there are no keys
	Ledger  credits.Ledger // nil when nothing is charged
	Limiter keys.Limiter
	Rate    keys.Rate // for keys without one of their own
	Now     func() time.Time
	Stores  *Stores
	HoldFor time.Duration // how long a hold lasts unless it is settled
	// Lacked is called when an account cannot pay for a call. It must return at once; a nil one is not called.
	Lacked func(account string)
}

// Accounts manages the callers of one engine.
type Accounts struct {
	Config
	ledger Ledger

	unknown    unknown      // keys that do not exist
	usedUnpaid usedUnpaid   // accounts whose bucket of unpaid calls is not full
	several    atomic.Bool  // there are two accounts or more
	counted    atomic.Int64 // when they were last counted, in nanoseconds since 1970
}

// New returns the accounts of an engine.
func New(cfg Config) *Accounts {
	if cfg.Lacked == nil {
		cfg.Lacked = func(string) {}
	}
	a := &Accounts{Config: cfg, ledger: cfg.Stores.Ledger(cfg.Ledger)}
	cfg.Stores.keys.probed(cfg.Keys, func(ctx context.Context) error {
		_, err := cfg.Keys.Lookup(ctx, keys.Hash{})
		if errors.Is(err, keys.ErrUnknown) {
			return nil
		}
		return err
	})
	return a
}

// Close ends the background work.
func (a *Accounts) Close(ctx context.Context) error { return a.Stores.Close(ctx) }

// ErrNone means that a call that needs an account was made without one.
var ErrNone = errors.New("socialdata: no account is bound; use Client.As")

// Caller is the caller of a call. A Caller without a key is anonymous.
type Caller struct {
	accounts *Accounts
	key      *keys.Key
}

// Caller returns the caller with the given key; nil means an anonymous caller.
func (a *Accounts) Caller(key *keys.Key) Caller { return Caller{a, key} }

// Authenticate returns the caller with the given secret. A missing, malformed, unknown or revoked key gives the same
// [keys.ErrUnknown]. A secret with the wrong form or checksum needs no look-up, so that guessing keys cannot keep the
// store busy. This reveals only the published form of keys; unknown and revoked keys cannot be distinguished.
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

// lookup calls the store's Lookup; a panic of the store becomes an error.
func (a *Accounts) lookup(ctx context.Context, h keys.Hash) (k keys.Key, err error) {
	if a.unknown.has(h) {
		return k, keys.ErrUnknown
	}
	k, err = get(ctx, a.Stores.keys, reading, func(ctx context.Context) (keys.Key, error) { return a.Keys.Lookup(ctx, h) })
	if errors.Is(err, keys.ErrUnknown) {
		a.unknown.add(h)
	}
	return k, err
}

// Named returns the caller with the key that has the id and the account of known, without its secret: for background
// work of a key, such as that of a monitor. It fails with [keys.ErrUnknown] when there is no such key or it is revoked.
// If the store cannot look up a key by its id, known is used as it is.
func (a *Accounts) Named(ctx context.Context, known keys.Key) (c Caller, err error) {
	admin, ok := a.Keys.(keys.Admin)
	if !ok {
		return a.Caller(&known), nil
	}
	key, err := get(ctx, a.Stores.keys, reading, func(ctx context.Context) (keys.Key, error) { return admin.Key(ctx, known.ID) })
	if errors.Is(err, keys.ErrAbsent) || err == nil && (key.RevokedAt != nil || key.Account != known.Account) {
		return Caller{}, keys.ErrUnknown
	}
	return a.Caller(&key), err
}

// Key returns the caller's key, or nil. It is read-only.
func (c Caller) Key() *keys.Key { return c.key }

// Account returns the id of the caller's account, or "".
func (c Caller) Account() string {
	if c.key == nil {
		return ""
	}
	return c.key.Account
}

// Admit takes one call from the rate limit of the caller's key. The allowance has the state of the bucket in any case;
// when the bucket is empty the error is a rate_limited problem.
func (c Caller) Admit(ctx context.Context) (keys.Allowance, error) { return c.take(ctx, 1) }

// AdmitMore takes n more calls for an admitted call that counts as several, at most as many as a full bucket has (D79).
// With fewer in the bucket the error is a rate_limited problem, and none is taken.
func (c Caller) AdmitMore(ctx context.Context, n int) (keys.Allowance, error) {
	if c.key == nil {
		return keys.Allowance{}, ErrNone
	}
	n = min(n, c.rate().Most(n+1)-1) // one was taken before
	if n <= 0 {
		return c.Allowance(ctx)
	}
	return c.take(ctx, n)
}

func (c Caller) take(ctx context.Context, n int) (keys.Allowance, error) {
	if c.key == nil {
		return keys.Allowance{}, ErrNone
	}
	a, err := c.accounts.Limiter.Take(ctx, c.key.ID, c.rate(), n)
	if err == nil && !a.OK {
		worth := ""
		if n > 1 {
			worth = fmt.Sprintf(", and this one counts as %d more", n)
		}
		err = problem.New(problem.RateLimited, "the key may make %d calls at once and %s a second%s; wait and try again",
			a.Rate.Capacity, strconv.FormatFloat(a.Rate.Refill, 'g', -1, 64), worth).After(a.RetryAfter)
	}
	return a, err
}

// Allowance returns the state of the bucket of the caller's key without taking a call.
func (c Caller) Allowance(ctx context.Context) (keys.Allowance, error) {
	return c.accounts.Limiter.Peek(ctx, c.key.ID, c.rate())
}

func (c Caller) rate() keys.Rate {
	if c.key.Rate != nil {
		return *c.key.Rate
	}
	return c.accounts.Rate
}

// Balance returns what the caller's account can still spend; 0 when nothing is charged or the caller is anonymous.
func (c Caller) Balance(ctx context.Context) (int64, error) {
	if c.accounts.Ledger == nil || c.key == nil {
		return 0, nil
	}
	n, err := c.accounts.ledger.Balance(ctx, c.key.Account)
	if errors.Is(err, credits.ErrUnknownAccount) { // an account without entries
		return 0, nil
	}
	return n, err
}

// Affords reports whether the caller can pay for a call that holds n credits now: by the account's balance less its
// open holds, and by the caps of the key. Without a ledger every call can be paid.
func (c Caller) Affords(ctx context.Context, n int64) (bool, error) {
	if c.accounts.Ledger == nil {
		return true, nil
	}
	who, err := c.Spender()
	if err != nil {
		return false, err
	}
	if err = c.accounts.check(ctx, who, n); isRefused(err) {
		return false, nil
	}
	return err == nil, err
}

// Entries returns the entries of the caller's account that q selects; q.Account is ignored.
func (c Caller) Entries(ctx context.Context, q credits.Query) ([]credits.Entry, error) {
	if c.accounts.Ledger == nil {
		return nil, nil
	}
	q.Account = c.Account()
	entries, err := c.accounts.ledger.Entries(ctx, q)
	if errors.Is(err, credits.ErrUnknownAccount) {
		return nil, nil
	}
	return entries, err
}

// Spender returns the payer of the caller's calls.
func (c Caller) Spender() (credits.Spender, error) {
	if c.key == nil {
		return credits.Spender{}, ErrNone
	}
	return credits.Spender{Account: c.key.Account, Key: c.key.ID, DayCap: c.key.DayCap, TotalCap: c.key.TotalCap}, nil
}
