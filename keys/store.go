package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// ErrUnknown says that a key is missing, malformed, unknown or revoked, and never which of these.
var ErrUnknown = errors.New("keys: unknown key")

// Environment says what a key was made for. Both kinds spend from the same balance.
type Environment string

// The environments of a key.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// Hash is the SHA-256 of a whole key, all that is kept of it.
type Hash [32]byte

// Account owns a balance and the keys that spend it.
type Account struct {
	ID        string
	Name      string
	CreatedAt time.Time
}

// Key is what is kept of an API key.
type Key struct {
	ID          string
	Account     string // id of the account that it spends from
	Name        string
	Prefix      string // the first 12 characters, for people to recognise it by
	Hash        Hash
	Environment Environment
	CreatedAt   time.Time
	LastUsedAt  *time.Time // nil when never used; may lag by a few seconds
	RevokedAt   *time.Time // nil while active
	Rate        *Rate      // nil means the engine's default
	DayCap      *int64     // credits that the key may spend in one UTC day; nil is no bound
	TotalCap    *int64     // credits that the key may ever spend; nil is no bound
}

// Store finds keys. Implementations are safe for concurrent use.
type Store interface {
	// Lookup returns the active key with that hash, or ErrUnknown. A revocation takes effect on the next call.
	// Whether a key is unknown or revoked cannot be told from how long the answer takes.
	Lookup(ctx context.Context, h Hash) (Key, error)
	// Touch notes that the key was used at that time. It returns at once; writing may come later, in batches.
	Touch(id string, at time.Time)
}

// Admin opens accounts, and makes, lists and revokes their keys. Implementations are safe for concurrent use.
type Admin interface {
	// OpenAccount makes an account that begins with a grant of n credits for a reason, or with none when n is 0: both or
	// nothing. It fails with ErrTaken when an account has that name or id, with ErrInvalid when it cannot be a name, with
	// credits.ErrAmount unless n is from 0 to credits.MaxBalance, and with credits.ErrInvalid when the reason cannot be kept.
	// The account can spend its credits from the next call on, in every process.
	OpenAccount(ctx context.Context, name string, n int64, reason string) (Account, error)
	// Account returns the account with that id or name, or ErrAbsent.
	Account(ctx context.Context, idOrName string) (Account, error)
	// Accounts returns every account, oldest first.
	Accounts(ctx context.Context) ([]Account, error)

	// CreateKey makes a key, with the caps and the rate that n says, and returns its secret, which is kept nowhere. It fails
	// with ErrAbsent when there is no such account, and with ErrInvalid.
	CreateKey(ctx context.Context, n NewKey) (secret string, k Key, err error)
	// Key returns the key with that id, or ErrAbsent.
	Key(ctx context.Context, id string) (Key, error)
	// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first and the
	// revoked ones too.
	Keys(ctx context.Context, account string) ([]Key, error)
	// Revoke ends the key with that id for good and returns it. When it returns nil, no process accepts the key any more.
	// Revoking it again changes nothing. It fails with ErrAbsent.
	Revoke(ctx context.Context, id string) (Key, error)
}

// CheckOpening returns what is wrong with the arguments of [Admin.OpenAccount], as far as they tell by themselves.
func CheckOpening(name string, n int64, reason string) error {
	if err := cmp.Or(credits.CheckText("reason", reason), CheckName(name)); err != nil {
		return err
	}
	if n < 0 || n > credits.MaxBalance {
		return fmt.Errorf("%w: an account cannot begin with %d credits", credits.ErrAmount, n)
	}
	return nil
}

// Rate is a token bucket's size and speed.
type Rate struct {
	Capacity int64   // calls that a full bucket allows at once
	Refill   float64 // calls that come back each second
}

// DefaultRate is the limit of a key that has none of its own.
func DefaultRate() Rate { return Rate{Capacity: 60, Refill: 10} }

// Wait returns how long a bucket with so many tokens takes to have a whole one, rounded up to the microsecond. A wait of
// less than a nanosecond is none: a bucket that is as near to a token as that has one.
func (r Rate) Wait(tokens float64) time.Duration {
	wait := time.Duration(min(max(0, 1-tokens)/r.Refill*1e9, 1<<62))
	return (wait + time.Microsecond - 1).Truncate(time.Microsecond)
}

// Allowance is the state of a key's bucket after a look at it.
type Allowance struct {
	OK         bool          // whether the call may go on
	Rate       Rate          // the bucket's rate
	Remaining  float64       // tokens left
	RetryAfter time.Duration // until the next call may go on, rounded up to the microsecond; 0 when OK
}

// Limiter bounds how often each key calls. Implementations are safe for concurrent use and bound their memory
// whatever the number of keys.
type Limiter interface {
	// Take takes one token from key's bucket if it has one.
	Take(ctx context.Context, key string, r Rate) (Allowance, error)
	// Peek returns the bucket's state and takes nothing; OK tells whether a call could go on.
	Peek(ctx context.Context, key string, r Rate) (Allowance, error)
	// Give puts n tokens into key's bucket, as many as it can hold, and returns its state.
	Give(ctx context.Context, key string, r Rate, n int) (Allowance, error)
}
