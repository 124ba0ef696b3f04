package sqlite

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// load reads what the writer needs of an account, unless b has it already.
func (w *writer) load(b *cached) error {
	version := w.version.Load()
	if b.version == version {
		return nil
	}
	if b.no == 0 {
		no, err := w.c.number("SELECT no FROM accounts WHERE id = ?", b.account)
		if err != nil {
			return err
		}
		if no == 0 {
			return refusal{credits.ErrUnknownAccount}
		}
		b.no = no
	}
	if tail := w.tail.of(b.account); len(tail) > 0 {
		b.last = bookkeeping.Head(tail[len(tail)-1].Entry)
	} else {
		last, err := lastEntry(w.c, b.no)
		if err != nil {
			return err
		}
		b.last = last
	}
	b.version = version
	return nil
}

// lastEntry returns the account's last entry, or the zero Entry.
func lastEntry(c *conn, account int64) (credits.Entry, error) {
	var v [4]driver.Value
	found, err := c.row(
		"SELECT seq, balance, at, hash FROM entries WHERE account = ? ORDER BY seq DESC LIMIT 1", v[:], account)
	if err != nil || !found {
		return credits.Entry{}, err
	}
	e := credits.Entry{Seq: value[int64](v[0]), Balance: value[int64](v[1]), At: fromMicros(value[int64](v[2]))}
	copy(e.Hash[:], value[[]byte](v[3]))
	return e, nil
}

// charge writes the entry of a charge. If its idempotency key was charged before, nothing is written, and the result
// has no Kind and the amount of the earlier charge.
func (w *writer) charge(b *cached, h credits.Hold, c credits.Charge) (credits.Entry, error) {
	if err := w.load(b); err != nil {
		return credits.Entry{}, err
	}
	now := w.now()
	if c.IdempotencyKey != "" {
		earlier, found, err := w.chargedBefore(b, c.IdempotencyKey, now)
		if err != nil || found {
			return credits.Entry{Balance: b.last.Balance, Amount: -earlier}, err
		}
	}
	return w.append(b, c.Entry(h, now))
}

// append writes e as the account's next entry and returns it.
func (w *writer) append(b *cached, e credits.Entry) (credits.Entry, error) {
	if err := w.load(b); err != nil {
		return e, err
	}
	e = e.Next(b.last)
	switch {
	case e.Balance < 0:
		return e, refusal{credits.ErrInsufficient} // possible only if another process has charged
	case e.Balance > credits.MaxBalance:
		return e, refusal{fmt.Errorf("%w: a balance of %d", credits.ErrAmount, e.Balance)}
	case e.Amount > 0:
		if err := w.fits(e.Amount); err != nil {
			return e, err
		}
	}
	if err := w.full(); err != nil {
		return e, refusal{err}
	}
	w.pending = append(w.pending, numbered{b.no, e})
	if e.IdempotencyKey != "" {
		w.keyed[onceKey{b.no, e.IdempotencyKey}] = -e.Amount
	}
	b.last = bookkeeping.Head(e)
	return e, nil
}

// given reports whether there is an entry with the key of a gift. It refuses a refund of more than remains of what its
// request was charged.
func (w *writer) given(b *cached, e credits.Entry) (bool, error) {
	if e.Hold == "" && e.Kind != credits.Refunded {
		return false, nil
	}
	if err := w.load(b); err != nil {
		return false, err
	}
	var amount, refundable int64
	look := func(there *credits.Entry) {
		if e.Hold != "" && there.Hold == e.Hold {
			amount = there.Amount
		}
		if e.RequestID != "" && there.RequestID == e.RequestID {
			refundable -= there.Amount
		}
	}
	for _, there := range w.tail.of(b.account) {
		look(&there.Entry)
	}
	for i := range w.pending {
		if w.pending[i].account == b.no {
			look(&w.pending[i].Entry)
		}
	}
	if amount == 0 && e.Hold != "" {
		var err error
		if amount, err = w.c.number("SELECT amount FROM entries WHERE hold = ? AND hold <> ''", e.Hold); err != nil {
			return false, err
		}
	}
	if amount != 0 {
		return true, refused(e.Repeats(amount))
	}
	if e.Kind == credits.Refunded && e.RequestID != "" {
		n, err := w.c.number("SELECT coalesce(sum(-amount), 0) FROM "+ofRequest("amount"), b.no, e.RequestID)
		if err != nil {
			return false, err
		}
		refundable += n
	}
	return false, refused(e.Refunds(refundable))
}

// reversal returns the entry that takes back the account's grant with that seq, with its seq if it is there already.
func (w *writer) reversal(b *cached, seq int64, reason string) (credits.Entry, error) {
	if err := w.load(b); err != nil {
		return credits.Entry{}, err
	}
	grant, err := w.entry(b, "SELECT seq, kind, amount FROM entries WHERE account = ?1 AND seq = ?2", seq,
		func(e *credits.Entry) bool { return e.Seq == seq })
	if err != nil {
		return credits.Entry{}, err
	}
	if grant.Seq == 0 {
		return credits.Entry{}, refusal{credits.NoEntry(b.account, seq)}
	}
	e, err := grant.Reversal(reason)
	if err != nil {
		return credits.Entry{}, refusal{err}
	}
	there, err := w.entry(b, "SELECT seq, kind, amount FROM entries WHERE account = ?1 AND hold = ?2 AND hold <> ''",
		e.Hold, func(there *credits.Entry) bool { return there.Hold == e.Hold })
	e.Seq = there.Seq
	return e, err
}

// entry returns the Seq, Kind and Amount of the account's entry for which is returns true, which query selects with arg
// in the table of entries; the zero Entry when there is none.
func (w *writer) entry(b *cached, query string, arg any, is func(*credits.Entry) bool) (credits.Entry, error) {
	for i := range w.pending {
		if e := &w.pending[i]; e.account == b.no && is(&e.Entry) {
			return e.Entry, nil
		}
	}
	for _, e := range w.tail.of(b.account) {
		if is(&e.Entry) {
			return e.Entry, nil
		}
	}
	var v [3]driver.Value
	found, err := w.c.row(query, v[:], b.no, arg)
	if err != nil || !found {
		return credits.Entry{}, err
	}
	return credits.Entry{
		Account: b.account, Seq: value[int64](v[0]), Kind: credits.Kind(value[string](v[1])), Amount: value[int64](v[2]),
	}, nil
}

// maxTotal is the highest sum of all balances, in credits: within SQLite's integers, with a wide margin.
const maxTotal = 1 << 62

// fits refuses n more credits if the sum would exceed maxTotal.
func (w *writer) fits(n int64) error {
	total, err := w.c.number("SELECT credits FROM totals")
	total += w.table.credits + w.tail.credits
	for i := range w.pending {
		total += w.pending[i].Amount
	}
	if err == nil && n > maxTotal-total {
		err = refusal{fmt.Errorf("%w: %d credits more than all accounts have, %d", credits.ErrAmount, n, total)}
	}
	return err
}

// track returns what a key has spent, and makes the file keep the sum from now on. For a key that was created without a
// cap it reads the account's entries, once.
func (w *writer) track(b *cached, key string) (spent credits.Spent, err error) {
	kept, err := w.table.spending(b.no, key)
	switch {
	case err != nil:
		return spent, err
	case kept != nil:
		spent = *kept
	default:
		if spent, err = spentBefore(w.c, b.no, key); err != nil {
			return spent, err
		}
		_, err = w.c.exec("INSERT INTO spending VALUES (?, ?, ?, ?, ?)", b.no, key, spent.Total, spent.Day, spent.Today)
	}
	for _, e := range w.tail.of(b.account) {
		spent = e.spentBy(key, spent)
	}
	return spent, err
}

// spentBefore sums what a key has spent in the table of entries.
func spentBefore(c *conn, account int64, key string) (spent credits.Spent, err error) {
	var v [2]driver.Value
	err = c.each(`
		SELECT -amount, coalesce(clock, at) FROM entries WHERE account = ? AND key = ? AND kind = 'charge' ORDER BY seq`,
		v[:], func() { spent = spent.Add(value[int64](v[0]), fromMicros(value[int64](v[1]))) }, account, key)
	return spent, err
}

const latestKeyed = `
	SELECT seq, coalesce(clock, at), -amount FROM entries
	WHERE account = ? AND idempotency_key = ? AND idempotency_key <> '' ORDER BY at DESC, no DESC LIMIT 1`

// chargedBefore returns the amount of the account's charge with that idempotency key in the last 24 hours. A charge
// whose time is in the future counts as old as the next entry whose time is not.
func (w *writer) chargedBefore(b *cached, key string, now time.Time) (amount int64, found bool, err error) {
	if amount, ok := w.keyed[onceKey{b.no, key}]; ok {
		return amount, true, nil
	}
	var seq int64
	var made time.Time
	if e := w.tail.charged(b.no, key); e != nil {
		seq, made, amount = e.Seq, e.Time(), -e.Amount
	} else {
		var v [3]driver.Value
		if found, err = w.c.row(latestKeyed, v[:], b.no, key); err != nil || !found {
			return 0, false, err
		}
		seq, made, amount = value[int64](v[0]), fromMicros(value[int64](v[1])), value[int64](v[2])
	}
	if made.After(now) {
		if made, err = w.nextBy(b, seq, made, now); err != nil {
			return 0, false, err
		}
	}
	return amount, now.Sub(made) < credits.IdempotentFor, nil
}

// nextBy returns the time of the account's first entry after that seq whose time is not after now, or made.
func (w *writer) nextBy(b *cached, seq int64, made, now time.Time) (time.Time, error) {
	next, err := w.c.number(`
		SELECT coalesce(clock, at) FROM entries WHERE account = ? AND seq > ? AND coalesce(clock, at) <= ?
		ORDER BY seq LIMIT 1`, b.no, seq, now.UnixMicro())
	if err != nil || next != 0 {
		return fromMicros(next), err
	}
	for _, e := range w.tail.of(b.account) {
		if e.Seq > seq && !e.Time().After(now) {
			return e.Time(), nil
		}
	}
	return made, nil
}

// full returns the error of the last fold, if the journal is more than twice as long as it should be.
func (w *writer) full() error {
	if w.tail.entries > 2*w.folding.long {
		return w.foldErr
	}
	return nil
}
