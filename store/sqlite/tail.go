package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"sync"
)

// tail is the journal in memory: every entry that is durable and not folded yet. Only the writer's goroutine changes
// it, after it has written the file; any goroutine may read it. Code that needs both the tail and the table of entries
// reads the tail first: an entry that is folded in between is then found twice, which its seq shows, and none is
// missed.
type tail struct {
	mu       sync.RWMutex
	rows     []journalRow           // oldest first
	accounts map[string][]*numbered // oldest first, by account id; a slice that was returned is not modified
	keyed    map[onceKey]*numbered  // the last charge with an idempotency key

	// For the writer's goroutine only:
	last    int64 // number of the last row ever written
	entries int   // how many there are
	credits int64 // the sum of their credits
}

func newTail() *tail {
	return &tail{accounts: map[string][]*numbered{}, keyed: map[onceKey]*numbered{}}
}

// of returns the account's entries in the tail, oldest first.
func (t *tail) of(account string) []*numbered {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.accounts[account]
}

// charged returns the account's last charge with that idempotency key in the tail, or nil.
func (t *tail) charged(account int64, key string) *numbered {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.keyed[onceKey{account, key}]
}

// add appends a row.
func (t *tail) add(row journalRow) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, row)
	t.last = row.no
	t.entries += len(row.entries)
	for i := range row.entries {
		e := &row.entries[i]
		t.credits += e.Amount
		t.accounts[e.Account] = append(t.accounts[e.Account], e)
		if e.IdempotencyKey != "" {
			t.keyed[onceKey{e.account, e.IdempotencyKey}] = e
		}
	}
}

// drop removes the first n rows.
func (t *tail) drop(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range t.rows[:n] {
		t.entries -= len(row.entries)
		for i := range row.entries {
			e := &row.entries[i]
			t.credits -= e.Amount
			if rest := t.accounts[e.Account][1:]; len(rest) > 0 {
				t.accounts[e.Account] = rest
			} else {
				delete(t.accounts, e.Account)
			}
			if k := (onceKey{e.account, e.IdempotencyKey}); e.IdempotencyKey != "" && t.keyed[k] == e {
				delete(t.keyed, k)
			}
		}
	}
	clear(t.rows[:n]) // do not keep them alive
	t.rows = t.rows[n:]
}

// first returns the first rows, with n entries in total or a few more.
func (t *tail) first(n int) []journalRow {
	rows := 0
	for left := n; left > 0 && rows < len(t.rows); rows++ {
		left -= len(t.rows[rows].entries)
	}
	return t.rows[:rows]
}

// refresh reads the tail again after another process has written to the file.
func (t *tail) refresh(c *conn) error {
	last, err := c.number("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
	if err != nil {
		return err
	}
	first := int64(math.MaxInt64) // that is still there
	var added []journalRow
	var damaged error
	var v [2]driver.Value
	err = c.each("SELECT no, CASE WHEN no > ? THEN entries END FROM journal ORDER BY no", v[:], func() {
		row := journalRow{no: value[int64](v[0])}
		first = min(first, row.no)
		if row.no > t.last && damaged == nil {
			row.entries, damaged = decodeEntries(row.no, value[[]byte](v[1]))
			added = append(added, row)
		}
	}, t.last)
	if err = errors.Join(err, damaged); err != nil {
		return err
	}
	if err := nameAccounts(c, added); err != nil {
		return err
	}
	folded := 0
	for folded < len(t.rows) && t.rows[folded].no < first {
		folded++
	}
	t.drop(folded)
	for _, row := range added {
		t.add(row)
	}
	t.last = max(t.last, last)
	return nil
}

// nameAccounts sets the account ids in rows, which have the row numbers of their accounts.
func nameAccounts(c *conn, rows []journalRow) error {
	ids := map[int64]string{}
	var v [1]driver.Value
	for _, row := range rows {
		for i := range row.entries {
			e := &row.entries[i]
			id, ok := ids[e.account]
			if !ok {
				found, err := c.row("SELECT id FROM accounts WHERE no = ?", v[:], e.account)
				if err != nil {
					return err
				}
				if !found {
					return fmt.Errorf("%w: row %d of the journal has an entry of account number %d, which does not exist",
						ErrCorrupt, row.no, e.account)
				}
				id = value[string](v[0])
				ids[e.account] = id
			}
			e.Account = id
		}
	}
	return nil
}

// onceKey is an idempotency key of an account.
type onceKey struct {
	account int64
	key     string
}
