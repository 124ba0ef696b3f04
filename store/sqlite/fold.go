package sqlite

import (
	"database/sql/driver"
	"math"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// folding says when the rows of the journal are moved into the table of entries and its indexes. A charge would have to
// wait for that otherwise, and many of them at a time cost less: each index is written a page at a time.
type folding struct {
	idle   time.Duration // how long nothing must have been written before all is folded; 0 means never
	long   int           // above how many entries in the journal each transaction folds some
	atEnd  bool          // fold all when the writer is closed
	failed func(error)   // hears of the first failure of a series
}

const (
	foldAfter = 100 * time.Millisecond
	// foldRetry is how long the next try waits when one has failed.
	foldRetry = 5 * time.Second
	// foldLong entries take some 5 MB of memory, and 30 ms to read when the file is opened.
	foldLong = 8_192
	// foldSome is how many entries are moved before the queue is looked at, while nobody waits: some milliseconds.
	foldSome = 256
	// foldMore is how many a transaction moves besides as many as it adds.
	foldMore = 8
)

// wait returns how long the writer waits for callers before it folds.
func (f folding) wait(failed error) time.Duration {
	switch {
	case f.idle == 0:
		return math.MaxInt64
	case failed != nil:
		return foldRetry
	}
	return f.idle
}

// foldAll folds all there is, or until a caller comes.
func (w *writer) foldAll(called func() bool) {
	for w.tail.entries > 0 && !called() && w.tryFold(foldSome) {
	}
}

// due returns the rows of the journal that a transaction moves which adds so many entries: none while the journal is
// short, and else more than it adds, which bounds the journal. So all callers wait a little longer and none of them
// long, and the disk is not asked again.
func (w *writer) due(added int) []journalRow {
	if added == 0 || w.tail.entries+added <= w.folding.long {
		return nil
	}
	return w.tail.first(added + foldMore)
}

// full returns why nothing can be folded, when the journal is twice as long as it should be for that.
func (w *writer) full() error {
	if w.tail.entries > 2*w.folding.long {
		return w.foldErr
	}
	return nil
}

// foldError is why a transaction of callers could not fold some of the journal, too. They can do without.
type foldError struct{ error }

func (e foldError) Unwrap() error { return e.error }

func (w *writer) tryFold(n int) bool {
	err := w.fold(n)
	w.folded(err)
	return err == nil
}

// folded takes note of how folding went.
func (w *writer) folded(err error) {
	if err != nil && w.foldErr == nil {
		w.folding.failed(err)
	}
	w.foldErr = err
}

// fold moves the first rows of the journal, of n entries in all or a few more, in one transaction.
func (w *writer) fold(n int) error {
	err := w.begin() // it may find that another process has folded
	rows := w.tail.first(n)
	if err == nil {
		err = w.move(rows)
	}
	if err == nil {
		_, err = w.c.exec("COMMIT")
	}
	if err != nil {
		_, _ = w.c.exec("ROLLBACK") // fails when SQLite has rolled back by itself
		return err
	}
	w.tail.drop(len(rows))
	w.lookAtLog()
	return nil
}

// move writes the entries of rows into their table, adds the charges to what their keys have spent, and removes rows.
func (w *writer) move(rows []journalRow) error {
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		for i := range row.entries {
			if err := w.insert(row.entries[i].account, row.entries[i].Entry); err != nil {
				return err
			}
		}
	}
	if err := w.flushInserts(); err != nil {
		return err
	}
	if err := w.addSpent(rows); err != nil {
		return err
	}
	last := rows[len(rows)-1].no
	if _, err := w.c.exec("UPDATE totals SET folded = ?", last); err != nil {
		return err
	}
	_, err := w.c.exec("DELETE FROM journal WHERE no <= ?", last)
	return err
}

// addSpent adds the charges in rows to what is kept of the keys with a cap.
func (w *writer) addSpent(rows []journalRow) error {
	capped, err := w.c.number("SELECT EXISTS (SELECT 1 FROM spending)")
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
				if keys[k], err = w.spent(e.account, e.Key); err != nil {
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
		_, err := w.c.exec("UPDATE spending SET total = ?, day = ?, today = ? WHERE account = ? AND key = ?",
			s.Total, s.Day, s.Today, k.account, k.key)
		if err != nil {
			return err
		}
	}
	return nil
}

// spent returns what the file keeps of a key's spending: nil when it keeps nothing.
func (w *writer) spent(account int64, key string) (*credits.Spent, error) {
	var v [3]driver.Value
	found, err := w.c.row("SELECT total, day, today FROM spending WHERE account = ? AND key = ?", v[:], account, key)
	if err != nil || !found {
		return nil, err
	}
	return &credits.Spent{Total: value[int64](v[0]), Day: value[int64](v[1]), Today: value[int64](v[2])}, nil
}
