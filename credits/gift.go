package credits

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrGiven means that the key of a [Gift] was used for a different one.
var ErrGiven = errors.New("credits: the key was used for another grant or refund")

// Gift is an amount of credits given to an account.
type Gift struct {
	Account string
	Kind    Kind  // Granted or Refunded
	Amount  int64 // credits
	// RequestID is the id of the request that a refund is for.
	RequestID string
	Reason    string
	// Key makes the gift idempotent: an account gets all gifts with the same key only once, without a time limit. With ""
	// every gift counts.
	Key string
}

// Entry returns the entry of g, without a time. Its Hold contains g's key. It returns ErrInvalid when a text cannot be
// stored, and ErrAmount when the amount cannot be given.
func (g Gift) Entry() (Entry, error) {
	if err := errors.Join(
		CheckText("request id", g.RequestID), CheckText("reason", g.Reason), CheckText("key", g.Key),
	); err != nil {
		return Entry{}, err
	}
	if g.Amount <= 0 || g.Amount > MaxBalance || g.Kind != Granted && g.Kind != Refunded {
		return Entry{}, fmt.Errorf("%w: a %s of %d", ErrAmount, cmp.Or(g.Kind, "gift"), g.Amount)
	}
	e := Entry{Account: g.Account, Kind: g.Kind, Amount: g.Amount, RequestID: g.RequestID, Reason: g.Reason}
	if g.Key != "" { // ids of holds are unique across accounts and contain no space
		e.Hold = "gift " + g.Account + " " + g.Key
	}
	return e, nil
}

// Repeats returns nil when an entry with that amount and e's key is the same as e, else ErrGiven.
func (e Entry) Repeats(amount int64) error {
	if amount != e.Amount {
		return fmt.Errorf("%w: of %d credits, and not of %d", ErrGiven, amount, e.Amount)
	}
	return nil
}

// Refunds returns ErrAmount when e refunds more than refundable, the part of the request's charges that has not been
// refunded.
func (e Entry) Refunds(refundable int64) error {
	if e.Kind == Refunded && e.Amount > refundable {
		return fmt.Errorf("%w: a refund of %d, where %d of the request %.50q can be given back", ErrAmount, e.Amount,
			max(0, refundable), e.RequestID)
	}
	return nil
}
