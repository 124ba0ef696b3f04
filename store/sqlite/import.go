package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// The errors of an import. Nothing was imported.
var (
	// ErrImport says that what is imported is no whole export of this version.
	ErrImport = errors.New("sqlite: not a whole export")
	// ErrExists says that the file has one of the accounts, keys or holds already.
	ErrExists = errors.New("sqlite: there already")
)

// Import adds everything that Export wrote, or nothing. It fails with ErrImport, with ErrExists when it would have to
// overwrite, and with credits.ErrBroken when an entry does not follow from the one before it. Other writers wait
// while it reads r, so that it belongs into a quiet hour.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	err := db.writer.do(&task{alone: true, apply: func(w *writer) error {
		m := importer{w: w, nos: map[string]int64{}, last: map[string]credits.Entry{}, spent: map[spender]credits.Spent{}}
		if err := m.read(ctx, json.NewDecoder(bufio.NewReaderSize(r, 1<<20))); err != nil {
			return err
		}
		return m.finish()
	}})
	if err != nil {
		return fmt.Errorf("sqlite: import: %w", err)
	}
	return db.lock.write(false)
}

// importer is the state of one import. Its memory grows with the accounts, not with the entries.
type importer struct {
	w     *writer
	nos   map[string]int64
	last  map[string]credits.Entry
	spent map[spender]credits.Spent // of keys with a cap
	seen  endLine
}

func (m *importer) read(ctx context.Context, d *json.Decoder) error {
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		var l line
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrImport, n, err)
		}
		if (n == 1) != (l.Header != nil) {
			return fmt.Errorf("%w: line %d: the header stands first and only there", ErrImport, n)
		}
		if l.End != nil {
			return m.end(*l.End, d)
		}
		if err := m.line(l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (m *importer) end(want endLine, d *json.Decoder) error {
	if m.seen != want {
		return fmt.Errorf("%w: %+v were announced and %+v came", ErrImport, want, m.seen)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows its end", ErrImport)
	}
	return nil
}

func (m *importer) line(l line) error {
	switch {
	case l.Header != nil:
		if l.Header.Version != formatVersion {
			return fmt.Errorf("%w: version %d, and this program knows %d", ErrImport, l.Header.Version, formatVersion)
		}
		return nil
	case l.Account != nil:
		return m.account(l.Account)
	case l.Key != nil:
		return m.key(l.Key)
	case l.Entry != nil:
		return m.entry(l.Entry)
	}
	return fmt.Errorf("%w: an empty line", ErrImport)
}

func (m *importer) account(a *accountLine) error {
	m.seen.Accounts++
	if err := insertAccount(m.w.c, keys.Account(*a)); err != nil {
		return exists(err, "account "+a.Name)
	}
	no, err := m.w.c.number("SELECT no FROM accounts WHERE id = ?", a.ID)
	m.nos[a.ID] = no
	return err
}

func (m *importer) key(l *keyLine) error {
	m.seen.Keys++
	k, err := l.key()
	if err != nil {
		return err
	}
	if _, ok := m.nos[k.Account]; !ok {
		return fmt.Errorf("%w: key %s belongs to account %s, which is not in it", ErrImport, k.ID, k.Account)
	}
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[spender{k.Account, k.ID}] = credits.Spent{}
	}
	return exists(insertKey(m.w.c, k), "key "+k.ID)
}

func (m *importer) entry(l *entryLine) error {
	m.seen.Entries++
	e, err := l.entry()
	if err != nil {
		return err
	}
	no, ok := m.nos[e.Account]
	if !ok {
		return fmt.Errorf("%w: an entry belongs to account %s, which is not in it", ErrImport, e.Account)
	}
	if err := e.Follows(m.last[e.Account]); err != nil {
		return err
	}
	if err := m.w.insert(no, e); err != nil {
		return exists(err, "an entry before")
	}
	m.last[e.Account] = credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
	who := spender{e.Account, e.Key}
	if spent, ok := m.spent[who]; ok && e.Kind == credits.Charged {
		m.spent[who] = spent.Add(-e.Amount, e.Time())
	}
	return nil
}

// finish writes what the keys with a cap have spent.
func (m *importer) finish() error {
	for who, s := range m.spent {
		_, err := m.w.c.exec("INSERT INTO spending VALUES (?, ?, ?, ?, ?)",
			m.nos[who.account], who.key, s.Total, s.Day, s.Today)
		if err != nil {
			return err
		}
	}
	m.w.version++
	return nil
}

// exists says what is there already when the tables forbid a second one.
func exists(err error, what string) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqliteConstraint {
		return fmt.Errorf("%w: %s: %w", ErrExists, what, err)
	}
	return err
}
