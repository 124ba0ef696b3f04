package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// importFrom adds everything in an export to f, or nothing.
func importFrom(ctx context.Context, f *file, r io.Reader) (err error) {
	if err := f.unserved(func() error { return nil }); err != nil { // early, and not after hours of reading
		return err
	}
	spool, err := os.CreateTemp("", "socialdata-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	if err := bookkeeping.Read(ctx, io.TeeReader(r, spool), newImporter(nil)); err != nil {
		return err
	}
	return f.unserved(func() error {
		return f.lock.change(func() error {
			return f.writer.do(&task{alone: true, apply: func(w *writer) error {
				if _, err := spool.Seek(0, io.SeekStart); err != nil {
					return err
				}
				m := newImporter(w)
				if err := bookkeeping.Read(ctx, spool, m); err != nil {
					return err
				}
				return m.finish()
			}})
		})
	})
}

// importer checks or writes an import. Its memory grows with the accounts and keys, not with the entries.
type importer struct {
	w     *writer                   // nil for the check
	nos   map[string]int64          // the row numbers of accounts
	holds map[string]struct{}       // those in the journal, which has no index for them
	spent map[spender]credits.Spent // of keys with a cap
	total int64
}

func newImporter(w *writer) *importer {
	holds := map[string]struct{}{}
	if w != nil {
		for _, row := range w.tail.rows {
			for i := range row.entries {
				holds[row.entries[i].Hold] = struct{}{}
			}
		}
	}
	return &importer{w: w, nos: map[string]int64{}, holds: holds, spent: map[spender]credits.Spent{}}
}

// Account implements [bookkeeping.Sink].
func (m *importer) Account(a keys.Account) error {
	if m.w == nil {
		return nil
	}
	for _, name := range slices.Compact([]string{a.ID, a.Name}) {
		if err := notTaken(m.w.c, name); errors.Is(err, keys.ErrTaken) {
			return fmt.Errorf("%w: account %q", ErrExists, name)
		} else if err != nil {
			return err
		}
	}
	if err := insertAccount(m.w.c, a); err != nil {
		return exists(err, "account "+a.Name)
	}
	no, err := m.w.c.number("SELECT no FROM accounts WHERE id = ?", a.ID)
	m.nos[a.ID] = no
	return err
}

// Key implements [bookkeeping.Sink].
func (m *importer) Key(k keys.Key) error {
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[spender{k.Account, k.ID}] = credits.Spent{}
	}
	if m.w == nil {
		return nil
	}
	return exists(insertKey(m.w.c, k), "key "+k.ID)
}

// Entry implements [bookkeeping.Sink].
func (m *importer) Entry(e credits.Entry) error {
	if m.total += e.Amount; m.total > maxTotal {
		return fmt.Errorf("%w: all accounts have more than %d credits", ErrImport, int64(maxTotal))
	}
	who := spender{e.Account, e.Key}
	if spent, ok := m.spent[who]; ok && e.Kind == credits.Charged {
		m.spent[who] = spent.Add(-e.Amount, e.Time())
	}
	if m.w == nil {
		return nil
	}
	if _, ok := m.holds[e.Hold]; ok && e.Hold != "" {
		return fmt.Errorf("%w: hold %s", ErrExists, e.Hold)
	}
	return exists(m.w.table.insert(m.nos[e.Account], e), "an entry before")
}

// finish writes what the keys with a cap have spent.
func (m *importer) finish() error {
	if err := m.w.fits(0); err != nil {
		return err
	}
	for who, s := range m.spent {
		_, err := m.w.c.exec("INSERT INTO spending VALUES (?, ?, ?, ?, ?)",
			m.nos[who.account], who.key, s.Total, s.Day, s.Today)
		if err != nil {
			return err
		}
	}
	m.w.version.Add(1)
	m.w.posted.Add(1)
	return nil
}

// exists returns an ErrExists if err means that a row is there already.
func exists(err error, what string) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqliteConstraint {
		return fmt.Errorf("%w: %s: %w", ErrExists, what, err)
	}
	return err
}
