package keys

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The errors of creating and changing accounts and keys.
var (
	// ErrAbsent means that there is no such account or key.
	ErrAbsent = errors.New("keys: absent")
	// ErrTaken means that another account already has that name.
	ErrTaken = errors.New("keys: taken")
	// ErrInvalid means that a value is not valid.
	ErrInvalid = errors.New("keys: invalid")
)

// NewKey describes a key to create.
type NewKey struct {
	Account     string // id or name of the account that it spends from
	Name        string // for people; may be ""
	Environment Environment
	Rate        *Rate   // nil means the engine's default
	DayCap      *int64  // credits in one UTC day; nil is no limit
	TotalCap    *int64  // credits in total; nil is no limit
	Manage      bool    // as in [Key]
	Bounds      *Limits // as in [Key]
	Unique      bool    // whether no other active key of the account may have this name
}

// Mint generates the key that n describes, for the account with that id. It returns ErrInvalid. Implementations of a
// store call it.
func (n NewKey) Mint(account string, at time.Time) (secret string, k Key, err error) {
	if err := n.Check(); err != nil {
		return "", Key{}, err
	}
	secret, k, err = Mint(n.Environment)
	k.Account, k.Name, k.CreatedAt = account, n.Name, stamp(at)
	k.Rate, k.DayCap, k.TotalCap, k.Manage, k.Bounds = n.Rate, n.DayCap, n.TotalCap, n.Manage, n.Bounds
	return secret, k, err
}

// Rotate generates a new secret for k. The current one becomes the former one, which is accepted until the given time.
// It returns ErrInvalid when k is revoked. Implementations of a store call it.
func (k *Key) Rotate(until time.Time) (secret string, err error) {
	if err := k.changeable(); err != nil {
		return "", err
	}
	secret, minted, err := Mint(k.Environment)
	if err != nil {
		return "", err
	}
	k.Former = &Former{Hash: k.Hash, Until: stamp(until)}
	k.Hash, k.Prefix = minted.Hash, minted.Prefix
	return secret, nil
}

// LongestOverlap is how long the former secret of a rotated key may be accepted.
const LongestOverlap = 30 * 24 * time.Hour

// Overlap returns until when the former secret of a key that is rotated now is accepted. Without an overlap it is
// refused at once, whatever the clocks of other machines show.
func Overlap(now time.Time, overlap time.Duration) time.Time {
	if overlap <= 0 {
		return time.Unix(0, 0).UTC()
	}
	return now.Add(overlap)
}

// Change returns k after change has set its limits, bounds and mark. It returns ErrInvalid when k is revoked or no key
// can have such limits. Implementations of a store call it.
func (k Key) Change(change func(*Key) error) (Key, error) {
	if err := k.changeable(); err != nil {
		return Key{}, err
	}
	to := k
	if err := change(&to); err != nil {
		return Key{}, err
	}
	k.Rate, k.DayCap, k.TotalCap, k.Manage, k.Bounds = to.Rate, to.DayCap, to.TotalCap, to.Manage, to.Bounds
	if k.Bounds != nil {
		if err := k.Bounds.Check(); err != nil {
			return Key{}, err
		}
	}
	return k, k.Limits().Check()
}

func (k *Key) changeable() error {
	if k.RevokedAt != nil {
		return fmt.Errorf("%w: the key %s is revoked", ErrInvalid, k.ID)
	}
	return nil
}

// The limits of a new key's rate and caps.
const (
	MaxCapacity = 1_000_000 // calls
	MinRefill   = 1e-6      // calls a second: one in twelve days
	MaxRefill   = 1_000_000
	MaxCap      = 1 << 53 // credits: the highest balance of an account
)

// Check returns ErrInvalid unless n describes a possible key. It does not check whether the account exists.
func (n NewKey) Check() error {
	if n.Environment != Live && n.Environment != Test {
		return fmt.Errorf("%w: environment %q is neither live nor test", ErrInvalid, n.Environment)
	}
	if n.Name != "" {
		if err := CheckName(n.Name); err != nil {
			return err
		}
	}
	if n.Bounds != nil {
		if err := n.Bounds.Check(); err != nil {
			return err
		}
	}
	return Limits{n.Rate, n.DayCap, n.TotalCap}.Check()
}

// Check returns ErrInvalid unless a key can have these limits.
func (l Limits) Check() error {
	if r := l.Rate; r != nil {
		// Written so that NaN fails too.
		if r.Capacity < 1 || r.Capacity > MaxCapacity || !(r.Refill >= MinRefill && r.Refill <= MaxRefill) {
			return fmt.Errorf("%w: a rate must have a capacity of 1 to %d calls and give back %v to %v a second, not %d and %v",
				ErrInvalid, MaxCapacity, MinRefill, float64(MaxRefill), r.Capacity, r.Refill)
		}
	}
	for _, n := range []*int64{l.DayCap, l.TotalCap} {
		if n != nil && (*n < 0 || *n > MaxCap) {
			return fmt.Errorf("%w: a cap must be 0 to %d credits, not %d", ErrInvalid, int64(MaxCap), *n)
		}
	}
	return nil
}

// Check returns ErrInvalid unless a bucket can have that rate: a capacity of at least 1, and a positive refill.
func (r Rate) Check() error {
	if r.Capacity < 1 || !(r.Refill > 0) || math.IsInf(r.Refill, 1) {
		return fmt.Errorf("%w: a rate of %d calls, %v a second", ErrInvalid, r.Capacity, r.Refill)
	}
	return nil
}
