package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/watch"
)

// Import adds everything in an export of any store, or nothing. It returns bookkeeping.ErrImport,
// bookkeeping.ErrExists when it would have to overwrite, and credits.ErrBroken or privacy.ErrBroken when an entry or a
// receipt does not follow from the previous one. It reads all of r into a temporary file and checks it before it writes
// anything.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := db.importFrom(ctx, r); err != nil {
		return fmt.Errorf("store: import: %w", err)
	}
	return nil
}

func (db *DB) importFrom(ctx context.Context, r io.Reader) (err error) {
	spool, err := os.CreateTemp("", "socialdata-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	if err := bookkeeping.Read(ctx, io.TeeReader(r, spool), bookkeeping.Discard); err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		m := &importer{tx: t, nos: map[string]int64{}, last: map[string]credits.Entry{}, spent: map[keyOf]credits.Spent{}}
		err := bookkeeping.Read(ctx, spool, m)
		if err == nil {
			err = m.finish()
		}
		if err != nil && db.dialect.Exists(err) { // and no conflict with another transaction, after which it is repeated
			err = fmt.Errorf("%w: %v", bookkeeping.ErrExists, err) //nolint:errorlint // so that it is not taken for one
		}
		return err
	})
}

// importedAtOnce is how many rows one statement writes.
const importedAtOnce = 1000

// keyOf is a key of an account.
type keyOf struct{ account, key string }

// importer writes an import. Its memory grows with the accounts and keys, not with the entries.
type importer struct {
	tx

	accounts []keys.Account // not written yet, like the keys and entries
	keys     []keys.Key
	entries  [][]any
	holds    [][]any // of entries

	nos   map[string]int64 // of accounts, by id
	last  map[string]credits.Entry
	spent map[keyOf]credits.Spent // by keys with a cap
}

// Account implements [bookkeeping.Sink].
func (m *importer) Account(a keys.Account) error {
	m.accounts = append(m.accounts, a)
	return m.flushAt(importedAtOnce)
}

// Key implements [bookkeeping.Sink].
func (m *importer) Key(k keys.Key) error {
	m.keys = append(m.keys, k)
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[keyOf{k.Account, k.ID}] = credits.Spent{}
	}
	return m.flushAt(importedAtOnce)
}

// Entry implements [bookkeeping.Sink].
func (m *importer) Entry(e credits.Entry) error {
	if len(m.entries) == 0 { // the accounts must have their numbers
		if err := m.flush(); err != nil {
			return err
		}
	}
	who := keyOf{e.Account, e.Key}
	if spent, ok := m.spent[who]; ok && e.Kind == credits.Charged {
		m.spent[who] = spent.Add(-e.Amount, e.Time())
	}
	m.last[e.Account] = e
	m.entries = append(m.entries, entryRow(m.nos[e.Account], &e))
	if e.Hold != "" {
		m.holds = append(m.holds, []any{e.Hold})
	}
	return m.flushAt(importedAtOnce)
}

// flushAt writes what is not written yet when that are n rows.
func (m *importer) flushAt(n int) error {
	if len(m.accounts)+len(m.keys)+len(m.entries) < n {
		return nil
	}
	return m.flush()
}

func (m *importer) flush() error {
	err := m.flushAccounts()
	if err == nil {
		err = m.flushKeys()
	}
	if err == nil {
		err = m.flushEntries()
	}
	return err
}

func (m *importer) flushAccounts() error {
	if len(m.accounts) == 0 {
		return nil
	}
	var rows, ids, names [][]any
	for _, a := range m.accounts {
		var closed any // nil while it is open
		if a.ClosedAt != nil {
			closed = a.ClosedAt.UnixMicro()
		}
		rows = append(rows, []any{a.ID, a.Name, a.CreatedAt.UnixMicro(), a.Monthly, closed, []byte{}})
		ids, names = append(ids, []any{a.ID}), append(names, []any{a.ID}, []any{a.Name})
	}
	m.accounts = m.accounts[:0]
	for _, column := range []string{"id", "name"} { // no id or name is the id or name of another account
		if err := m.absent("accounts", column, names); err != nil {
			return err
		}
	}
	if err := m.insert("INSERT INTO @accounts (id, name, created_at, monthly, closed_at, hash)", "ttnnnb", "", rows); err != nil {
		return err
	}
	var no int64
	var id string
	table, args := m.rows("t", ids)
	return m.each([]any{&no, &id}, func() error {
		m.nos[id] = no
		return nil
	}, "SELECT no, id FROM @accounts WHERE id IN (SELECT c1 FROM "+table+")", args...)
}

func (m *importer) flushKeys() error {
	var ids [][]any
	for _, k := range m.keys {
		ids = append(ids, []any{k.ID})
	}
	if err := m.absent("keys", "id", ids); err != nil {
		return err
	}
	for _, k := range m.keys {
		if err := m.insertKey(k); err != nil {
			return err
		}
	}
	m.keys = m.keys[:0]
	return nil
}

func (m *importer) flushEntries() error {
	if err := m.absent("entries", "hold", m.holds); err != nil {
		return err
	}
	err := m.insertEntries(m.entries)
	m.entries, m.holds = m.entries[:0], m.holds[:0]
	return err
}

// absent returns bookkeeping.ErrExists when a column of a table has one of these texts.
func (m *importer) absent(table, column string, texts [][]any) error {
	if len(texts) == 0 {
		return nil
	}
	var found string
	these, args := m.rows("t", texts)
	exists, err := m.maybe([]any{&found}, "SELECT "+column+" FROM @"+table+" WHERE "+column+" IN (SELECT c1 FROM "+these+
		") AND "+column+" <> '' LIMIT 1", args...)
	if err == nil && exists {
		err = fmt.Errorf("%w: %q is in %s", bookkeeping.ErrExists, found, table)
	}
	return err
}

// Monitor implements [bookkeeping.Sink].
func (m *importer) Monitor(v watch.Monitor) error { return (&monitorRow{Monitor: v}).keep(m.tx) }

// Feed implements [bookkeeping.Sink].
func (m *importer) Feed(account string, seq int64) error {
	return m.exec("INSERT INTO @feeds (account, seq, bytes) VALUES (?, ?, 0)", account, seq)
}

// Endpoint implements [bookkeeping.Sink].
func (m *importer) Endpoint(e watch.Endpoint) error { return (&endpointRow{Endpoint: e}).keep(m.tx) }

// Record implements [bookkeeping.Sink].
func (m *importer) Record(r records.Record, expires time.Time) error {
	exists, err := m.maybe([]any{new(int64)}, "SELECT 1 FROM @records WHERE key = ?", []byte(r.Key))
	if err == nil && exists {
		err = fmt.Errorf("%w: record %q: import into a database that was not served yet", bookkeeping.ErrExists, r.Key)
	}
	if err == nil && r.Owner != "" {
		err = m.exec(
			"INSERT INTO @record_owners (owner, bytes) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET bytes = record_owners.bytes + "+
				"excluded.bytes",
			r.Owner,
			r.Size(),
		)
	}
	if err != nil {
		return err
	}
	return m.exec("INSERT INTO @records (key, owner, value, version, expires, subjects) VALUES (?, ?, ?, ?, ?, ?)",
		[]byte(r.Key), r.Owner, append([]byte{}, r.Value...), 1+rand.Int64N(math.MaxInt64-1), expires.UnixNano(),
		[]byte(r.Subjects))
}

// Blocklist implements [bookkeeping.Sink].
func (m *importer) Blocklist(b bookkeeping.Blocklist) error {
	same, err := m.maybe(
		[]any{new(int64)},
		"INSERT INTO @privacy (one, secret, epoch) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET "+
			"epoch = excluded.epoch WHERE privacy.secret = excluded.secret RETURNING one",
		b.Secret,
		b.Epoch,
	)
	if err == nil && !same {
		err = fmt.Errorf("%w: a block list: import into a database that was not served yet", bookkeeping.ErrExists)
	}
	if err != nil {
		return err
	}
	var rows [][]any
	if err := b.Each(func(digest []byte, name privacy.Name) error {
		rows = append(rows, []any{slices.Clone(digest), int64(name)})
		return nil
	}); err != nil {
		return err
	}
	return m.insert("INSERT INTO @blocked (subject, name)", "bn", " ON CONFLICT DO NOTHING", rows)
}

// Receipt implements [bookkeeping.Sink].
func (m *importer) Receipt(r privacy.Receipt) error {
	body, err := schema.Marshal(r)
	if err != nil {
		return err
	}
	return m.exec("INSERT INTO @receipts (no, body) VALUES (?, ?)", r.No, body)
}

// finish writes the remaining rows, the last entries of the accounts, and what the keys with a cap have spent.
func (m *importer) finish() error {
	if err := m.flush(); err != nil {
		return err
	}
	var heads, spent [][]any
	for id, e := range m.last {
		heads = append(heads, []any{m.nos[id], e.Seq, e.Balance, e.At.UnixMicro(), e.Hash[:]})
	}
	for part := range slices.Chunk(heads, importedAtOnce) {
		if err := m.updateHeads(part); err != nil {
			return err
		}
	}
	for who, s := range m.spent {
		spent = append(spent, []any{m.nos[who.account], who.key, s.Total, s.Day, s.Today})
	}
	if err := m.insertSpent(spent); err != nil {
		return err
	}
	return m.row([]any{new(int64)}, "SELECT 1") // which returns the error of a statement that was not sent before
}
