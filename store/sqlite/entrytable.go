package sqlite

import (
	"database/sql/driver"
	"strings"

	"github.com/socialdata/socialdata/credits"
)

const (
	// OR ROLLBACK: any error undoes the whole transaction, so SQLite need not be able to undo the statement alone.
	insertEntries = `
	INSERT OR ROLLBACK INTO entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache,
		reason, hold, idempotency_key, at, clock, hash)
	VALUES `
	insertValues  = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertColumns = 16
	// insertRows is how many entries one statement writes. That takes a quarter less time than single entries; more
	// rows save nothing.
	insertRows = 8
)

// entryTable writes the entries of a transaction into the table of entries and the tables that depend on it.
type entryTable struct {
	c         *conn
	one, many *stmt
	waiting   []numbered // not written yet; fewer than insertRows
	entries   int64      // how many are not in the totals yet
	credits   int64      // the sum of those
}

func newEntryTable(c *conn) (*entryTable, error) {
	one, err := c.prepare(insertEntries + insertValues)
	if err != nil {
		return nil, err
	}
	many, err := c.prepare(insertEntries + strings.Repeat(insertValues+", ", insertRows-1) + insertValues)
	return &entryTable{c: c, one: one, many: many, waiting: make([]numbered, 0, insertRows)}, err
}

// begin starts a new transaction.
func (x *entryTable) begin() {
	x.waiting, x.entries, x.credits = x.waiting[:0], 0, 0
}

// insert adds e to the table of entries. It may be written later in the transaction, together with others.
func (x *entryTable) insert(account int64, e credits.Entry) error {
	x.waiting = append(x.waiting, numbered{account, e})
	x.entries++
	x.credits += e.Amount
	if len(x.waiting) < insertRows {
		return nil
	}
	err := write(x.many, x.waiting)
	x.waiting = x.waiting[:0]
	return err
}

// flush writes the entries that wait, and adds all since the last flush to the totals.
func (x *entryTable) flush() error {
	if x.entries == 0 {
		return nil
	}
	for i := range x.waiting {
		if err := write(x.one, x.waiting[i:i+1]); err != nil {
			return err
		}
	}
	_, err := x.c.exec("UPDATE totals SET entries = entries + ?, credits = credits + ?", x.entries, x.credits)
	x.begin()
	return err
}

// write writes entries with a statement for as many rows.
func write(s *stmt, entries []numbered) error {
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
func clockOf(e *numbered) driver.Value {
	if e.Clock.IsZero() {
		return nil
	}
	return e.Clock.UnixMicro()
}

// move writes the entries of rows into their table, adds their charges to the sums of their keys, and removes the rows.
func (x *entryTable) move(rows []journalRow) error {
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		for i := range row.entries {
			if err := x.insert(row.entries[i].account, row.entries[i].Entry); err != nil {
				return err
			}
		}
	}
	if err := x.flush(); err != nil {
		return err
	}
	if err := x.addSpent(rows); err != nil {
		return err
	}
	last := rows[len(rows)-1].no
	if _, err := x.c.exec("UPDATE totals SET folded = ?", last); err != nil {
		return err
	}
	_, err := x.c.exec("DELETE FROM journal WHERE no <= ?", last)
	return err
}

// addSpent adds the charges in rows to the sums of the keys with a cap.
func (x *entryTable) addSpent(rows []journalRow) error {
	capped, err := x.c.number("SELECT EXISTS (SELECT 1 FROM spending)")
	if err != nil || capped == 0 {
		return err
	}
	type key struct {
		account int64
		key     string
	}
	keys := map[key]*credits.Spent{} // nil for one without a cap
	for _, row := range rows {
		for i := range row.entries {
			e := &row.entries[i]
			if e.Kind != credits.Charged || e.Key == "" {
				continue
			}
			k := key{e.account, e.Key}
			if _, ok := keys[k]; !ok {
				if keys[k], err = x.spending(e.account, e.Key); err != nil {
					return err
				}
			}
			if spent := keys[k]; spent != nil {
				*spent = spent.Add(-e.Amount, e.Time())
			}
		}
	}
	for k, s := range keys {
		if s == nil {
			continue
		}
		_, err := x.c.exec("UPDATE spending SET total = ?, day = ?, today = ? WHERE account = ? AND key = ?",
			s.Total, s.Day, s.Today, k.account, k.key)
		if err != nil {
			return err
		}
	}
	return nil
}

// spending returns the sums of a key's spending that the file has, or nil.
func (x *entryTable) spending(account int64, key string) (*credits.Spent, error) {
	var v [3]driver.Value
	found, err := x.c.row("SELECT total, day, today FROM spending WHERE account = ? AND key = ?", v[:], account, key)
	if err != nil || !found {
		return nil, err
	}
	return &credits.Spent{Total: value[int64](v[0]), Day: value[int64](v[1]), Today: value[int64](v[2])}, nil
}

// spentBy returns what key has spent after e, given what it had spent before.
func (e *numbered) spentBy(key string, spent credits.Spent) credits.Spent {
	if e.Kind != credits.Charged || e.Key != key {
		return spent
	}
	return spent.Add(-e.Amount, e.Time())
}
