package credits

import (
	"context"
	"errors"
	"time"
)

// The errors of a [Ledger].
var (
	// ErrAmount means that an amount is impossible: a negative hold, a grant of nothing, a charge above its hold.
	ErrAmount = errors.New("credits: impossible amount")
	// ErrInsufficient means that the account cannot spend that much.
	ErrInsufficient = errors.New("credits: insufficient balance")
	// ErrCap means that the account could spend it, but the key has reached one of its own caps. It wraps
	// [ErrInsufficient].
	ErrCap = capError{}
	// ErrUnknownAccount means that the account does not exist.
	ErrUnknownAccount = errors.New("credits: unknown account")
	// ErrExpired means that a hold had expired before it was settled, and that nothing was charged.
	ErrExpired = errors.New("credits: hold expired")
	// ErrLate means that a hold had expired, and that the account or the key can no longer pay the charge. Nothing was
	// charged. It wraps [ErrExpired].
	ErrLate = lateError{}
	// ErrInvalid means that a text cannot be stored: it is not UTF-8, has control characters or is too long.
	ErrInvalid = errors.New("credits: invalid text")
)

type capError struct{}

func (capError) Error() string { return "credits: the key's spending cap is reached" }
func (capError) Unwrap() error { return ErrInsufficient }

type lateError struct{}

func (lateError) Error() string { return "credits: hold expired, and its charge can no longer be paid" }
func (lateError) Unwrap() error { return ErrExpired }

// Spender is the payer of a call: an account, through one of its keys.
type Spender struct {
	Account string // id of the account
	Key     string // id of the key; "" when the account acts without one
	// DayCap and TotalCap limit what the key itself may spend in one UTC day and in total, in credits; nil is no limit.
	DayCap, TotalCap *int64
}

// Hold is an amount that is reserved and not yet charged.
type Hold struct {
	ID      string
	Spender Spender
	Amount  int64 // credits
	Expires time.Time
}

// Charge is what a hold is settled for. The zero Charge releases the whole hold.
type Charge struct {
	Amount    int64  // credits, from 0 to the hold's amount
	Operation string // such as "profile"
	Platform  string
	RequestID string
	Cache     string // "HIT" or "MISS"
	// IdempotencyKey, if not empty, makes the charge happen at most once a day: if the account has a charge with the same
	// key from the last 24 hours, Settle writes nothing, releases the hold and returns the amount of that charge.
	IdempotencyKey string
	// ID identifies a charge without a hold, for [Charger]; it must be new. If it begins with RequestID and [RequestEnd],
	// as those of [NewID] do, a database needs one index entry less for the charge. Settle ignores it.
	ID string
	// Late charges an expired hold if the account and the key can still spend the amount. The hold must be as Reserve
	// returned it. A hold that was released must not be settled this way.
	Late bool
}

// Receipt is the result of settling a hold.
type Receipt struct {
	Balance int64 // what the account can still spend, in credits
	Charged int64 // credits charged for the hold; for a repeated idempotency key, the amount of its earlier charge
	Earlier bool  // that was decided before; this call only released the hold
	Back    bool  // the charge was refunded since, and Charged is 0; set by the engine, never by a ledger
}

// Ledger moves credits. Implementations are safe for concurrent use.
type Ledger interface {
	// Reserve holds each of amounts, all or none, and returns the holds in the same order. Each lasts until it is settled
	// or until ttl has passed, whichever is first. An amount of 0 gives a hold of 0. Reserve returns ErrInsufficient, and
	// holds nothing, when the balance less all open holds is below the sum; ErrCap when what the key has spent and holds
	// would exceed one of its caps; and ErrUnknownAccount.
	Reserve(ctx context.Context, who Spender, ttl time.Duration, amounts ...int64) ([]Hold, error)

	// Settle ends h: it charges c.Amount as one entry and releases the rest. A charge of 0 writes no entry. When Settle
	// returns nil the charge is durable. Settling the same hold again changes nothing and returns the earlier result.
	// Settling an expired hold charges nothing and returns ErrExpired; with c.Late it is charged if that can still be
	// paid, else Settle returns ErrLate. A ledger may treat a released hold as expired. Settle returns ErrInvalid when a
	// text of c cannot be stored. After any error but ErrExpired the hold still exists: settle it again, or release it
	// with the zero Charge.
	Settle(ctx context.Context, h Hold, c Charge) (Receipt, error)

	// Balance returns what account can still spend: the sum of its entries less its open holds.
	Balance(ctx context.Context, account string) (int64, error)

	// Entries returns the account's entries that match q, newest first, at most q.Limit of them.
	Entries(ctx context.Context, q Query) ([]Entry, error)
}

// Charger is a [Ledger] that charges a known price in one step, for an answer that is already available. Since nothing
// can fail between the price and the answer, no hold is needed: it checks balance and caps, and writes one entry.
type Charger interface {
	Ledger

	// Charge charges c.Amount to who as one entry, in addition to the open holds, and writes no hold. The charge is
	// durable when Charge returns nil. A charge of 0 writes no entry. Charge returns the errors that [Ledger.Reserve]
	// would return for the same amount, ErrInsufficient, ErrCap, ErrUnknownAccount and ErrAmount, and ErrInvalid when a
	// text of c cannot be stored; it then has changed nothing. An idempotency key works as for Settle, and an earlier
	// charge with it is returned even if nothing more can be spent. c.Late is ignored.
	//
	// c.ID identifies the charge: its entry has it in place of the hold's id. "" generates one. After any other error it
	// is unknown whether the charge was made: settling the Hold{ID: c.ID, Spender: who} with the zero Charge returns what
	// was charged, or ErrExpired, and then the charge has not been made and never will be.
	Charge(ctx context.Context, who Spender, c Charge) (Receipt, error)
}

// Checker is a [Ledger] that can check whether an amount could be reserved, without reserving it.
type Checker interface {
	// Check returns the error that [Ledger.Reserve] would return for the same amount: ErrInsufficient, ErrCap,
	// ErrUnknownAccount or ErrAmount.
	Check(ctx context.Context, who Spender, amount int64) error
}

// Granter adds credits to accounts, and takes back what was granted by mistake. The stores' ledgers are Granters; the
// engine does not need one.
type Granter interface {
	// Grant gives account n credits, for a reason, and returns its spendable balance. It returns ErrAmount unless n is
	// positive and the new balance is at most MaxBalance, ErrInvalid when the reason cannot be stored, and
	// ErrUnknownAccount; a ledger without accounts of its own creates the account instead.
	Grant(ctx context.Context, account string, n int64, reason string) (balance int64, err error)

	// Refund gives account back n credits of an earlier request, and returns its spendable balance. It returns the same
	// errors as Grant, always ErrUnknownAccount for an unknown account, and ErrAmount when the request was charged less or
	// was partly refunded before: concurrent refunds never exceed what was charged.
	Refund(ctx context.Context, account string, n int64, requestID, reason string) (balance int64, err error)

	// Give is Grant or Refund, depending on g. With a key it can be repeated, even when the result of an earlier call is
	// unknown: it then writes nothing. It returns ErrGiven when the key was used for a different gift.
	Give(ctx context.Context, g Gift) (balance int64, err error)

	// Reverse takes back the whole grant that is entry seq of account, as one entry of kind Reversed, for a reason. It
	// returns ErrInsufficient, and writes nothing, when the account can spend less than the grant's amount; ErrNotGrant;
	// ErrInvalid when the reason cannot be stored; and ErrUnknownAccount. Reversing the same grant again changes nothing
	// and returns the earlier entry. A reversed grant still counts for the key of its [Gift]: the same gift is not given
	// again.
	Reverse(ctx context.Context, account string, seq int64, reason string) (Reversal, error)
}

// Refundable returns how many of the credits that account was charged for a request have not been refunded, 0 when
// there are none.
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

// Kind is the reason for an entry.
type Kind string

// The kinds of entry.
const (
	Charged  Kind = "charge" // amount is negative
	Granted  Kind = "grant"
	Refunded Kind = "refund"
	Reversed Kind = "reversal" // of a grant; amount is negative
)

// Entry is one line of an account's ledger. Entries are never changed or removed.
type Entry struct {
	Seq       int64 // increases along one account's entries, from 1
	Account   string
	Kind      Kind
	Amount    int64 // credits; negative for a charge or reversal
	Balance   int64 // sum of the account's entries up to and including this one
	Key       string
	Operation string
	Platform  string
	RequestID string
	Cache     string
	Reason    string // for a grant, refund or reversal
	Hold      string // id of the hold that a charge settled, or of the charge if it had none
	// IdempotencyKey is the charge's.
	IdempotencyKey string
	At             time.Time // never before the At of the account's previous entry
	// Clock is the time of the clock if that was before At, because the clock had been ahead and was set back; else zero.
	Clock time.Time
	// Hash is the SHA-256 of this entry and the Hash of the account's previous entry, so that no entry can be changed,
	// added or removed in the middle without breaking every later one.
	Hash [32]byte
}

// Time returns when the entry was written according to the clock, which is what caps and idempotency keys use.
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
	Limit     int       // 0 means 100
}
