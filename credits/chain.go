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
	e.follow(&last, make([]byte, 0, hashed))
	return e
}

// hashed is the length of the input of most hashes, in bytes.
const hashed = 512

// follow is [Entry.Next] in place. It needs b for the input of the hash, and returns it for the next entry. Ledgers in
// memory charge on the goroutine of the call: as values, its entries and that input made the stack of each of 10,000
// callers grow once more, which took a tenth of the time of BenchmarkColdKey in the root package.
func (e *Entry) follow(last *Entry, b []byte) []byte {
	e.Seq, e.Balance = last.Seq+1, last.Balance+e.Amount
	e.At = e.At.UTC().Truncate(time.Microsecond)
	if e.Clock = (time.Time{}); e.At.Before(last.At) {
		e.At, e.Clock = last.At, e.At // the clock was set back; the entries keep their order
	}
	b = e.appendTo(b[:0], &last.Hash)
	e.Hash = sha256.Sum256(b)
	return b
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
	case e.Hash != sha256.Sum256(e.appendTo(nil, &last.Hash)):
		why = "has another hash than its contents"
	default:
		return nil
	}
	return fmt.Errorf("%w: account %s, entry %d %s", ErrBroken, e.Account, e.Seq, why)
}

// appendTo appends a canonical encoding of e after prev, which is hashed: every number is eight bytes, every string is
// preceded by its length, so that no two entries share an encoding.
func (e *Entry) appendTo(b []byte, prev *[32]byte) []byte {
	if e.Clock.IsZero() {
		b = append(b, EntryForm...)
	} else {
		b = append(b, "socialdata entry 2\n"...)
	}
	b = append(b, prev[:]...)
	b = appendNumber(b, e.Seq)
	b = appendNumber(b, e.Amount)
	b = appendNumber(b, e.Balance)
	b = appendNumber(b, e.At.UnixMicro())
	if !e.Clock.IsZero() {
		b = appendNumber(b, e.Clock.UnixMicro())
	}
	return e.appendTexts(b)
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendText(b []byte, s string) []byte { return append(appendNumber(b, int64(len(s))), s...) }

// EntryForm begins the input of the hash of an entry without a Clock. It is followed by the hash of the entry before
// it, then Seq, Amount, Balance and At in microseconds since 1970, each in eight bytes, big-endian, and the texts. With
// this a database can append entries by itself.
const EntryForm = "socialdata entry 1\n"

// AppendTexts appends the encoding of e's texts that is part of the input of its hash.
func (e Entry) AppendTexts(b []byte) []byte { return e.appendTexts(b) }

func (e *Entry) appendTexts(b []byte) []byte {
	b = appendText(b, e.Account)
	b = appendText(b, string(e.Kind))
	b = appendText(b, e.Key)
	b = appendText(b, e.Operation)
	b = appendText(b, e.Platform)
	b = appendText(b, e.RequestID)
	b = appendText(b, e.Cache)
	b = appendText(b, e.Reason)
	b = appendText(b, e.Hold)
	return appendText(b, e.IdempotencyKey)
}
