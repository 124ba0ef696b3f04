package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// ErrUnknown means that a key is missing, malformed, unknown or revoked. It never says which of these.
var ErrUnknown = errors.New("keys: unknown key")

// Environment is what a key was made for. Both kinds spend from the same balance.
type Environment string

// The environments of a key.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Hash is the SHA-256 of a whole key; the key itself is not stored.
type Hash [32]byte

// Account owns a balance and the keys that spend it.
type Account struct {
	ID        string
	Name      string
	CreatedAt time.Time
	Monthly   int64      // credits that it is granted every month; 0 for none
	ClosedAt  *time.Time // nil while it is open
}

// Key is the stored data of an API key.
type Key struct {
	ID          string
	Account     string // id of the account that it spends from
	Name        string
	Prefix      string // the first 12 characters, so that people can recognise it
	Hash        Hash
	Environment Environment
	CreatedAt   time.Time
	LastUsedAt  *time.Time // nil when never used; may lag by a few seconds
	RevokedAt   *time.Time // nil while active
	Rate        *Rate      // nil means the engine's default
	DayCap      *int64     // credits that the key may spend in one UTC day; nil is no limit
	TotalCap    *int64     // credits that the key may spend in total; nil is no limit
	// Manage marks a key with which the account can manage its own things: everything below /manage, and the account's
	// pages of the dashboard. Reading never needs it.
	Manage bool
	// Bounds are the highest Rate, DayCap and TotalCap that the account itself may set; nil means the current ones. Only
	// an operator sets limits above them.
	Bounds *Limits
	Former *Former // the secret that the key had before its last rotation; nil without one
}

// Limits are the limits of one key.
type Limits struct {
	Rate     *Rate  // nil means the engine's default
	DayCap   *int64 // credits in one UTC day; nil is no limit
	TotalCap *int64 // credits in total; nil is no limit
}

// Former is a secret that was replaced by another one of the same key. It is accepted until the overlap ends.
type Former struct {
	Hash  Hash
	Until time.Time
}

// Limits returns the limits of k.
func (k Key) Limits() Limits { return Limits{k.Rate, k.DayCap, k.TotalCap} }

// Most returns the highest limits that the account itself may set for k: its Bounds, or without any the current limits.
func (k Key) Most() Limits {
	if k.Bounds != nil {
		return *k.Bounds
	}
	return k.Limits()
}

// Accepts reports whether a secret with the hash h is one of k at that time. It does not look at RevokedAt.
func (k Key) Accepts(h Hash, at time.Time) bool {
	return h == k.Hash || k.Former != nil && h == k.Former.Hash && at.Before(k.Former.Until)
}

// Within returns ErrInvalid unless each limit is at most the one in most. A rate that is nil counts as base.
func (l Limits) Within(most Limits, base Rate) error {
	for _, limit := range []struct {
		name      string
		set, most *int64
	}{{"daily cap", l.DayCap, most.DayCap}, {"total cap", l.TotalCap, most.TotalCap}} {
		if limit.most != nil && (limit.set == nil || *limit.set > *limit.most) {
			return fmt.Errorf("%w: the %s can be %d credits at most", ErrInvalid, limit.name, *limit.most)
		}
	}
	rate, highest := *cmp.Or(l.Rate, &base), *cmp.Or(most.Rate, &base)
	if rate.Capacity > highest.Capacity || rate.Refill > highest.Refill {
		return fmt.Errorf("%w: the rate can be %d calls at once and %v a second at most", ErrInvalid, highest.Capacity, highest.Refill)
	}
	return nil
}

// Store looks keys up. Implementations are safe for concurrent use.
type Store interface {
	// Lookup returns the active key whose secret, or former secret during a rotation, has that hash, or ErrUnknown. A
	// revocation takes effect on the next call. The time that Lookup takes does not reveal whether a key is unknown or
	// revoked.
	Lookup(ctx context.Context, h Hash) (Key, error)
	// Touch records that the key was used at that time. It returns immediately; the time may be written later, in batches.
	Touch(id string, at time.Time)
}

// Admin creates accounts, and creates, lists and revokes their keys. Implementations are safe for concurrent use.
type Admin interface {
	// OpenAccount creates an account with an initial grant of n credits for a reason, or without one when n is 0: both or
	// nothing. It returns ErrTaken when an account has that name or id, ErrInvalid when the name is not valid,
	// credits.ErrAmount unless n is from 0 to credits.MaxBalance, and credits.ErrInvalid when the reason cannot be stored.
	// The account can spend its credits from the next call on, in every process.
	OpenAccount(ctx context.Context, name string, n int64, reason string) (Account, error)
	// Account returns the account with that id or name, or ErrAbsent.
	Account(ctx context.Context, idOrName string) (Account, error)
	// Accounts returns every account, oldest first.
	Accounts(ctx context.Context) ([]Account, error)
	// SetMonthly stores how many credits the account with that id or name is granted every month, and returns it. The
	// engine grants them. It returns ErrAbsent, and ErrInvalid when the account is closed or n is not from 0 to
	// credits.MaxBalance.
	SetMonthly(ctx context.Context, idOrName string, n int64) (Account, error)
	// CloseAccount closes the account with that id or name for good, revokes all its keys and ends its monthly credits:
	// all or nothing. When it returns nil, no process accepts one of the keys any longer. Closing it again changes
	// nothing. It returns ErrAbsent if there is no such account.
	CloseAccount(ctx context.Context, idOrName string) (Account, error)

	// CreateKey creates a key with the caps and the rate in n, and returns its secret, which is not stored. It returns
	// ErrAbsent when the account does not exist, ErrInvalid, also when the account is closed, and ErrTaken when n.Unique
	// and another active key of the account has its name.
	CreateKey(ctx context.Context, n NewKey) (secret string, k Key, err error)
	// Key returns the key with that id, or ErrAbsent.
	Key(ctx context.Context, id string) (Key, error)
	// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first and
	// including revoked ones.
	Keys(ctx context.Context, account string) ([]Key, error)
	// Revoke revokes the key with that id for good and returns it. When it returns nil, no process accepts the key any
	// longer. Revoking it again changes nothing. It returns ErrAbsent if there is no such key.
	Revoke(ctx context.Context, id string) (Key, error)
	// Change calls change with the key with that id, stores the Rate, DayCap, TotalCap, Bounds and Manage that it sets,
	// and returns the key; changes of other fields are ignored. When Change returns nil, every process uses the new
	// values, and caps count what the key has spent before. No other change happens between reading and writing; change
	// may be called several times, and its error is returned. Change returns ErrInvalid when the key is revoked or no key
	// can have such limits, and ErrAbsent if there is no such key.
	Change(ctx context.Context, id string, change func(*Key) error) (Key, error)
	// Rotate gives the key with that id a new secret and returns it. The previous secret is accepted until the given time,
	// and any that was replaced earlier is refused in every process when Rotate returns nil. Everything else about the key
	// stays. It returns ErrAbsent if there is no such key, and ErrInvalid if it is revoked.
	Rotate(ctx context.Context, id string, until time.Time) (secret string, k Key, err error)
}

// CheckOpening checks the arguments of [Admin.OpenAccount], as far as that is possible without the store.
func CheckOpening(name string, n int64, reason string) error {
	if err := cmp.Or(credits.CheckText("reason", reason), CheckName(name)); err != nil {
		return err
	}
	if n < 0 || n > credits.MaxBalance {
		return fmt.Errorf("%w: an account cannot begin with %d credits", credits.ErrAmount, n)
	}
	return nil
}

// Serves returns ErrInvalid when a is closed, so that it can have no new key and no new credits. Implementations of a
// store call it.
func (a Account) Serves() error {
	if a.ClosedAt != nil {
		return fmt.Errorf("%w: the account %s is closed", ErrInvalid, a.ID)
	}
	return nil
}

// CheckMonthly returns ErrInvalid when a cannot be granted n credits every month. Implementations of a store call it.
func (a Account) CheckMonthly(n int64) error {
	if n < 0 || n > credits.MaxBalance {
		return fmt.Errorf("%w: the credits of a month must be 0 to %d", ErrInvalid, int64(credits.MaxBalance))
	}
	return a.Serves()
}

// Rate is the size and refill rate of a token bucket.
type Rate struct {
	Capacity int64   // calls that a full bucket allows at once
	Refill   float64 // calls that are refilled each second
}

// Most returns how many of n tokens can be taken at once: no more than a full bucket holds, and at least one.
func (r Rate) Most(n int) int { return int(min(int64(max(n, 1)), r.Capacity)) }

// DefaultRate returns the limit of a key without one of its own.
func DefaultRate() Rate { return Rate{Capacity: 60, Refill: 10} }

// Wait returns how long a bucket with that many tokens takes until it has n of them, rounded up to the microsecond. A
// wait of less than a nanosecond is 0: such a bucket already counts as having the token.
func (r Rate) Wait(tokens float64, n int) time.Duration {
	wait := time.Duration(min(max(0, float64(n)-tokens)/r.Refill*1e9, 1<<62))
	return (wait + time.Microsecond - 1).Truncate(time.Microsecond)
}

// Allowance is the state of a key's bucket.
type Allowance struct {
	OK         bool          // whether the call may proceed
	Rate       Rate          // the bucket's rate
	Remaining  float64       // tokens left
	RetryAfter time.Duration // until the call may proceed, rounded up to the microsecond; 0 when OK
}

// Limiter limits how often each key calls. Implementations are safe for concurrent use and use bounded memory, whatever
// the number of keys.
type Limiter interface {
	// Take takes n tokens from key's bucket, at least one, if it has that many, else none. An n above the capacity takes
	// as many as a full bucket holds.
	Take(ctx context.Context, key string, r Rate, n int) (Allowance, error)
	// Peek returns the bucket's state and takes nothing; OK reports whether a call could proceed.
	Peek(ctx context.Context, key string, r Rate) (Allowance, error)
	// Give puts n tokens into key's bucket, up to its capacity, and returns its state.
	Give(ctx context.Context, key string, r Rate, n int) (Allowance, error)
}
