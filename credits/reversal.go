package credits

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrNotGrant means that an entry cannot be reversed: it is not a grant, or there is no such entry.
var ErrNotGrant = errors.New("credits: not a grant")

// Reversal is the result of reversing a grant.
type Reversal struct {
	Entry   Entry // the entry of kind Reversed that takes the grant back
	Balance int64 // what the account can still spend, in credits
	Earlier bool  // the grant was reversed before; this call wrote nothing
}

// Reversal returns the entry that takes the grant e back, without a time. Its Hold is [ReversalHold], which no second
// entry can have. It returns ErrNotGrant unless e is a grant, and ErrInvalid when the reason cannot be stored.
func (e Entry) Reversal(reason string) (Entry, error) {
	if e.Kind != Granted {
		return Entry{}, fmt.Errorf("%w: entry %d of account %s is a %s", ErrNotGrant, e.Seq, e.Account, e.Kind)
	}
	if err := CheckText("reason", reason); err != nil {
		return Entry{}, err
	}
	return Entry{
		Account: e.Account, Kind: Reversed, Amount: -e.Amount, Reason: reason, Hold: ReversalHold(e.Account, e.Seq),
	}, nil
}

// Covered returns ErrInsufficient when free, what the account can spend, is less than e takes from it.
func (e Entry) Covered(free int64) error {
	if free+e.Amount < 0 {
		return fmt.Errorf("%w: %d credits are to be taken back, and %d can be spent", ErrInsufficient, -e.Amount,
			max(0, free))
	}
	return nil
}

// ReversalHold returns the Hold of the entry that takes back the grant with that Seq.
func ReversalHold(account string, seq int64) string { // like that of a gift it contains a space, as no id of a hold does
	return "reversal " + account + " " + strconv.FormatInt(seq, 10)
}

// NoEntry returns the error of a reversal of an entry that does not exist.
func NoEntry(account string, seq int64) error {
	return fmt.Errorf("%w: account %s has no entry %d", ErrNotGrant, account, seq)
}
