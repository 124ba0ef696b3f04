package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Import adds everything in an export of any store, or nothing. It fails with bookkeeping.ErrImport, with
// bookkeeping.ErrExists when it would have to overwrite, and with credits.ErrBroken when an entry does not follow from
// the previous one. It reads all of r into a temporary file and checks it before it writes anything. Replicas may serve
// meanwhile.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := db.readImport(ctx, r); err != nil {
		return fmt.Errorf("postgres: import: %w", err)
	}
	return nil
}

func (db *DB) readImport(ctx context.Context, r io.Reader) (err error) {
	spool, err := os.CreateTemp("", "socialdata-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	if err := bookkeeping.Read(ctx, io.TeeReader(r, spool), bookkeeping.Discard); err != nil {
		return err
	}
	return db.transact(ctx, func(ctx context.Context, t *tx) error {
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		m := &importer{
			ctx: ctx, db: db, tx: t, nos: map[string]int64{}, last: map[string]credits.Entry{},
			spent: map[spender]*credits.Spent{},
		}
		if err := bookkeeping.Read(ctx, spool, m); err != nil {
			return err
		}
		return t.end(ctx, m.finish())
	})
}

// importer writes an import. Its memory grows with the accounts and keys, not with the entries.
type importer struct {
	ctx context.Context // of the only transaction
	db  *DB
	tx  *tx

	nos     map[string]int64
	last    map[string]credits.Entry
	keys    []keys.Key
	spent   map[spender]*credits.Spent // of keys with a cap
	waiting []entry
}

// importedAtOnce is how many entries one statement writes.
const importedAtOnce = 1000

// Account implements [bookkeeping.Sink].
func (m *importer) Account(a keys.Account) error {
	no, err := insertAccount(m.ctx, m.db, m.tx, a, credits.Entry{})
	if errors.Is(err, keys.ErrTaken) {
		err = fmt.Errorf("%w: account %q", bookkeeping.ErrExists, a.Name)
	}
	m.nos[a.ID] = no
	return err
}

// Key implements [bookkeeping.Sink].
func (m *importer) Key(k keys.Key) error {
	m.keys = append(m.keys, k)
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[spender{k.Account, k.ID}] = &credits.Spent{}
	}
	return nil
}

// Entry implements [bookkeeping.Sink].
func (m *importer) Entry(e credits.Entry) error {
	m.last[e.Account] = e
	if s, ok := m.spent[spender{e.Account, e.Key}]; ok && e.Kind == credits.Charged {
		*s = s.Add(-e.Amount, e.Time())
	}
	m.waiting = append(m.waiting, entry{m.nos[e.Account], e})
	if len(m.waiting) < importedAtOnce {
		return nil
	}
	return m.flush()
}

func (m *importer) flush() error {
	err := m.tx.step(m.ctx, func(q *pgx.Batch) { q.Queue(m.db.sql(insertEntries), columns(m.waiting)...) })
	m.waiting = m.waiting[:0]
	return exists(err, "an entry")
}

// finish writes the remaining entries, the heads of the accounts and the keys.
func (m *importer) finish() error {
	if err := m.flush(); err != nil {
		return err
	}
	for page := range slices.Chunk(m.keys, importedAtOnce) {
		inserted := int64(0)
		err := m.tx.step(m.ctx, func(q *pgx.Batch) {
			for _, k := range page {
				spent := credits.Spent{}
				if s, ok := m.spent[spender{k.Account, k.ID}]; ok {
					spent = *s
				}
				queueKey(m.db, q, k, spent, &inserted)
			}
		})
		if err == nil && inserted < int64(len(page)) {
			err = fmt.Errorf("%w: a key", bookkeeping.ErrExists)
		}
		if err != nil {
			return exists(err, "a key")
		}
	}
	b := newBatch(m.db, m.tx)
	for id, e := range m.last {
		b.accounts[id] = &account{id: id, no: m.nos[id], last: e, dirty: true}
	}
	return m.tx.step(m.ctx, b.queueAccounts)
}

// exists returns a bookkeeping.ErrExists if err means that a row is there already.
func exists(err error, what string) error {
	if isCode(err, uniqueViolation) {
		return fmt.Errorf("%w: %s", bookkeeping.ErrExists, what)
	}
	return err
}
