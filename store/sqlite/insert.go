package sqlite

import (
	"database/sql/driver"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
)

const (
	// Or rollback: any error undoes the transaction, and SQLite need not be able to undo the statement alone.
	insertEntries = `
	INSERT OR ROLLBACK INTO entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache,
		reason, hold, idempotency_key, at, clock, hash)
	VALUES `
	insertValues  = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertColumns = 16
	// insertRows is how many entries one statement writes: that costs a quarter less than one at a time, and more of
	// them save nothing more.
	insertRows = 8
)

// inserts is the rows that a transaction adds to the table of entries.
type inserts struct {
	one, many *stmt
	waiting   []insert // fewer than insertRows
	entries   int64    // that totals do not count yet
	credits   int64    // that these come to
}

// insert is an entry and the number of its account.
type insert struct {
	account int64
	credits.Entry
}

// keyed is an idempotency key of an account.
type keyed struct {
	account int64
	key     string
}

func newInserts(c *conn) (*inserts, error) {
	one, err := c.prepare(insertEntries + insertValues)
	if err != nil {
		return nil, err
	}
	many, err := c.prepare(insertEntries + strings.Repeat(insertValues+", ", insertRows-1) + insertValues)
	return &inserts{one: one, many: many, waiting: make([]insert, 0, insertRows)}, err
}

// begin forgets the transaction before.
func (x *inserts) begin() {
	x.waiting, x.entries, x.credits = x.waiting[:0], 0, 0
}

// insert writes e into the table of entries, with the next ones of the transaction.
func (w *writer) insert(account int64, e credits.Entry) error {
	x := w.inserts
	x.waiting = append(x.waiting, insert{account, e})
	x.entries++
	x.credits += e.Amount
	if len(x.waiting) < insertRows {
		return nil
	}
	err := x.many.exec(x.waiting)
	x.waiting = x.waiting[:0]
	return err
}

// flushInserts writes the entries that still wait, and what all since the last time come to.
func (w *writer) flushInserts() error {
	x := w.inserts
	if x.entries == 0 {
		return nil
	}
	for i := range x.waiting {
		if err := x.one.exec(x.waiting[i : i+1]); err != nil {
			return err
		}
	}
	_, err := w.c.exec("UPDATE totals SET entries = entries + ?, credits = credits + ?", x.entries, x.credits)
	x.begin()
	return err
}

// exec writes as many entries as the statement has rows.
func (s *stmt) exec(entries []insert) error {
	s.args = s.args[:0]
	for i := range entries {
		e := &entries[i]
		for _, v := range [insertColumns]driver.Value{
			e.account, e.Seq, string(e.Kind), e.Amount, e.Balance, e.Key, e.Operation, e.Platform, e.RequestID, e.Cache,
			e.Reason, e.Hold, e.IdempotencyKey, e.At.UnixMicro(), clockOf(e), e.Hash[:],
		} {
			if err := s.add(v); err != nil {
				return err
			}
		}
	}
	_, err := s.run()
	return err
}

// clockOf returns the value of the clock column.
func clockOf(e *insert) driver.Value {
	if e.Clock.IsZero() {
		return nil
	}
	return e.Clock.UnixMicro()
}

const latestKeyed = `
	SELECT seq, coalesce(clock, at), -amount FROM entries
	WHERE account = ? AND idempotency_key = ? AND idempotency_key <> '' ORDER BY at DESC, no DESC LIMIT 1`

// chargedBefore returns what the account's charge with that idempotency key from the last 24 hours came to. One that
// was made under a clock that was ahead is as old as the next entry that was not.
func (w *writer) chargedBefore(b *book, key string, now time.Time) (amount int64, found bool, err error) {
	if amount, ok := w.keyed[keyed{b.no, key}]; ok {
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

// nextBy returns when the account's first entry after that seq was written that is not after now, or made.
func (w *writer) nextBy(b *book, seq int64, made, now time.Time) (time.Time, error) {
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
