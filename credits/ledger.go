package credits

import (
	"context"
	"errors"
	"time"
)

// The errors of a [Ledger].
var (
	// ErrInsufficient says that the account cannot spend that much.
	ErrInsufficient = errors.New("credits: insufficient balance")
	// ErrCap says that the account could, but the key has reached a cap of its own. It wraps [ErrInsufficient].
	ErrCap = capError{}
	// ErrUnknownAccount says that there is no such account.
	ErrUnknownAccount = errors.New("credits: unknown account")
	// ErrExpired says that a hold had run out before it was settled, and that nothing was charged.
	ErrExpired = errors.New("credits: hold expired")
	// ErrLate says that a hold had run out, and that the account or the key can no longer spend what it was to be
	// charged for. Nothing was charged. It wraps [ErrExpired].
	ErrLate = lateError{}
	// ErrInvalid says that a text cannot be kept: it is no UTF-8, has control characters or is too long.
	ErrInvalid = errors.New("credits: invalid text")
)

type capError struct{}

func (capError) Error() string { return "credits: the key's spending cap is reached" }
func (capError) Unwrap() error { return ErrInsufficient }

type lateError struct{}

func (lateError) Error() string { return "credits: hold expired, and its charge can no longer be paid" }
func (lateError) Unwrap() error { return ErrExpired }

// Spender is who pays: an account, through one of its keys.
type Spender struct {
	Account string // id of the account
	Key     string // id of the key; "" when the account acts without one
	// DayCap and TotalCap bound what the key itself may spend in one UTC day and ever, in credits; nil is no bound.
	DayCap, TotalCap *int64
}

// Hold is an amount that is reserved and not yet charged.
type Hold struct {
	ID      string
	Spender Spender
	Amount  int64 // credits
	Expires time.Time
}

// Charge says what a hold came to, and for what. The zero Charge releases the whole hold.
type Charge struct {
	Amount    int64  // credits, from 0 to the hold's amount
	Operation string // such as "profile"
	Platform  string
	RequestID string
	Cache     string // "HIT" or "MISS"
	// IdempotencyKey, when not empty, makes the charge happen at most once a day: if the account has a charge with the
	// same key from the last 24 hours, Settle writes nothing, releases the hold and returns what that charge came to.
	IdempotencyKey string
	// ID names a charge that has no hold, for [Charger]; it must be new. Settle ignores it.
	ID string
	// Late charges a hold whose time has passed all the same, if the account and the key can still spend the amount.
	// The hold must be as Reserve returned it, and one that was released must not be settled so.
	Late bool
}

// Receipt is what settling a hold came to.
type Receipt struct {
	Balance int64 // what the account can still spend, in credits
	Charged int64 // credits that the hold came to; of a repeated idempotency key, what its earlier charge came to
	Earlier bool  // that was decided before, and this call has changed nothing but to release the hold
}

// Ledger moves credits. Implementations are safe for concurrent use.
type Ledger interface {
	// Reserve holds each of amounts, all or none, and returns the holds in their order. Each lasts until it is
	// settled or until ttl has passed, whichever is first. An amount of 0 gives a hold of 0. Reserve fails with
	// ErrInsufficient, and holds nothing, when the balance less all open holds is below the sum; with ErrCap when
	// what the key has spent and holds would pass one of its caps; and with ErrUnknownAccount.
	Reserve(ctx context.Context, who Spender, ttl time.Duration, amounts ...int64) ([]Hold, error)

	// Settle ends h: it charges c.Amount as one entry and releases the rest. A charge of 0 writes no entry. When
	// Settle returns nil the charge is durable. Settling the same hold again changes nothing and returns what it came
	// to; settling one whose time has passed charges nothing and fails with ErrExpired, or, with c.Late, charges it if
	// that can still be paid and else fails with ErrLate. Of a hold that was released, a ledger may remember no more
	// than that its time has passed. Settle fails with ErrInvalid when a text of c cannot be kept. After any failure
	// but ErrExpired the hold still stands: settle it again, or release it with the zero Charge.
	Settle(ctx context.Context, h Hold, c Charge) (Receipt, error)

	// Balance returns what account can still spend: the sum of its entries less its open holds.
	Balance(ctx context.Context, account string) (int64, error)

	// Entries returns the account's entries that q selects, newest first, at most q.Limit of them.
	Entries(ctx context.Context, q Query) ([]Entry, error)
}

// Charger is a [Ledger] that charges a known price in one step, for an answer that is already in hand. Where nothing can
// fail between the price and the answer, a hold has nothing to protect: one look at balance and caps, one entry.
type Charger interface {
	Ledger

	// Charge charges c.Amount to who as one entry, beside the open holds, and writes no hold. The charge is durable when
	// Charge returns nil. A charge of 0 writes no entry. Charge fails as [Ledger.Reserve] would for the same amount, with
	// ErrInsufficient, ErrCap, ErrUnknownAccount and ErrAmount, and with ErrInvalid when a text of c cannot be kept; it
	// then has changed nothing. An idempotency key counts as it does for Settle. c.Late has no meaning here.
	//
	// c.ID names the charge: the entry carries it where another carries its hold. "" makes one up. After any other error
	// the caller does not know whether it was charged: settling the Hold{ID: c.ID, Spender: who} with the zero Charge
	// tells what the charge came to, or fails with ErrExpired, and then it has not been made and never will be.
	Charge(ctx context.Context, who Spender, c Charge) (Receipt, error)
}

// Granter adds credits to accounts. The stores' ledgers are Granters; the engine needs none.
type Granter interface {
	// Grant gives account n credits, for a reason, and returns what it can spend. It fails with ErrAmount unless n is
	// positive and the balance can be counted after it, with ErrInvalid when the reason cannot be kept, and with
	// ErrUnknownAccount; a ledger without accounts of its own makes a new one.
	Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error)

	// Refund gives account back n credits of an earlier request, and returns what it can spend. It fails as Grant does, and
	// always with ErrUnknownAccount. It does not look what the request came to: [Refundable] does.
	Refund(ctx context.Context, account string, n int64, requestID, reason string) (balance int64, err error)
}

// Refundable returns how many credits of a request its account has been charged and not given back, 0 when there are none.
func Refundable(ctx context.Context, l Ledger, account, requestID string) (n int64, err error) {
	if requestID == "" {
		return 0, nil
	}
	for q := (Query{Account: account, RequestID: requestID}); ; {
		entries, err := l.Entries(ctx, q)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			n -= e.Amount
		}
		if len(entries) < DefaultLimit {
			return max(0, n), nil
		}
		q.Before = entries[len(entries)-1].Seq
	}
}

// Kind says why an entry was written.
type Kind string

// The kinds of entry.
const (
	Charged  Kind = "charge" // amount is negative
	Granted  Kind = "grant"
	Refunded Kind = "refund"
)

// Entry is one line of an account's books. Entries are never changed or removed.
type Entry struct {
	Seq       int64 // grows along one account's entries, from 1
	Account   string
	Kind      Kind
	Amount    int64 // credits; negative for a charge
	Balance   int64 // sum of the account's entries up to and with this one
	Key       string
	Operation string
	Platform  string
	RequestID string
	Cache     string
	Reason    string // of a grant or refund
	Hold      string // id of the hold that a charge settled, or of the charge when there was none
	// IdempotencyKey is as the charge gave it.
	IdempotencyKey string
	At             time.Time // never before the At of the account's entry before it
	// Clock is what the clock showed when that was before At, because it had been ahead and was set back; else zero.
	Clock time.Time
	// Hash is SHA-256 over this entry and the Hash of the account's entry before it, so that no entry can be
	// changed, added or taken away in the middle without breaking every later one.
	Hash [32]byte
}

// Time returns when the entry was written by the clock, which is what caps and idempotency keys go by.
func (e Entry) Time() time.Time {
	if e.Clock.IsZero() {
		return e.At
	}
	return e.Clock
}

// Query selects entries of one account.
type Query struct {
	Account   string
	RequestID string    // "" for any
	Platform  string    // "" for any
	Since     time.Time // inclusive; zero for no bound
	Until     time.Time // exclusive; zero for no bound
	Before    int64     // only entries with a smaller Seq; 0 for no bound
	Limit     int       // at most so many; 0 means 100
}
