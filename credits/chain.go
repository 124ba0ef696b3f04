package credits

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrBroken means that an entry does not follow from the previous one: the entries were changed by something other than
// the ledger.
var ErrBroken = errors.New("credits: broken chain of entries")

// MaxBalance is the highest possible balance of an account, in credits. Every JSON reader can represent it.
const MaxBalance = 1 << 53

// Next returns e as the entry after last: its Seq, Balance and Hash are set, and its time is truncated to microseconds
// and is never before last's. The first entry follows the zero Entry.
func (e Entry) Next(last Entry) Entry {
	e.Seq, e.Balance = last.Seq+1, last.Balance+e.Amount
	e.At = e.At.UTC().Truncate(time.Microsecond)
	if e.Clock = (time.Time{}); e.At.Before(last.At) {
		e.At, e.Clock = last.At, e.At // the clock was set back; the entries keep their order
	}
	e.Hash = e.hash(last.Hash)
	return e
}

// Follows returns ErrBroken, with the reason, unless e is exactly what its ledger would have written after last.
func (e Entry) Follows(last Entry) error {
	why := ""
	switch {
	case e.Seq != last.Seq+1:
		why = fmt.Sprintf("follows entry %d", last.Seq)
	case e.Balance != last.Balance+e.Amount:
		why = fmt.Sprintf("balance %d is not %d%+d", e.Balance, last.Balance, e.Amount)
	case e.Balance < 0 || e.Balance > MaxBalance:
		why = fmt.Sprintf("balance %d is out of bounds", e.Balance)
	case e.At.Before(last.At):
		why = "is older than the previous one"
	case !e.Clock.IsZero() && !e.Clock.Before(e.At):
		why = "has a clock that was not set back"
	case !slices.Contains([]Kind{Charged, Granted, Refunded, Reversed}, e.Kind):
		why = fmt.Sprintf("has the unknown kind %q", e.Kind)
	case (e.Kind == Charged || e.Kind == Reversed) != (e.Amount < 0) || e.Amount == 0:
		why = fmt.Sprintf("is a %s of %d", e.Kind, e.Amount)
	case e.Hash != e.hash(last.Hash):
		why = "has another hash than its contents"
	default:
		return nil
	}
	return fmt.Errorf("%w: account %s, entry %d %s", ErrBroken, e.Account, e.Seq, why)
}

// hash returns the hash of e after an entry with the hash prev: that of a canonical encoding, in which every number is
// eight bytes and every text is preceded by its length, so that no two entries share one.
func (e *Entry) hash(prev [32]byte) [32]byte {
	b := make([]byte, 0, 512)
	if e.Clock.IsZero() {
		b = append(b, "socialdata entry 1\n"...)
	} else {
		b = append(b, "socialdata entry 2\n"...)
	}
	b = append(b, prev[:]...)
	for _, n := range []int64{e.Seq, e.Amount, e.Balance, e.At.UnixMicro()} {
		b = appendNumber(b, n)
	}
	if !e.Clock.IsZero() {
		b = appendNumber(b, e.Clock.UnixMicro())
	}
	for _, text := range []string{
		e.Account, string(e.Kind), e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason, e.Hold, e.IdempotencyKey,
	} {
		b = append(appendNumber(b, int64(len(text))), text...)
	}
	return sha256.Sum256(b)
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }
