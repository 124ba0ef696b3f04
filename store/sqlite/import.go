package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

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
// overwrite, with credits.ErrBroken when an entry does not follow from the one before it, and with ErrInUse when
// another process serves the file, for its callers would have to wait. All of r is read and checked before anything is
// written; until then it waits in a temporary file.
func (db *DB) Import(ctx context.Context, r io.Reader) error {
	if err := db.readImport(ctx, r); err != nil {
		return fmt.Errorf("sqlite: import: %w", err)
	}
	return nil
}

func (db *DB) readImport(ctx context.Context, r io.Reader) (err error) {
	if err := db.unserved(func() error { return nil }); err != nil { // and not after hours of reading
		return err
	}
	spool, err := os.CreateTemp("", "socialdata-import-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	check := newImporter(nil)
	if err := check.read(ctx, io.TeeReader(r, spool)); err != nil {
		return err
	}
	return db.unserved(func() error {
		return db.lock.change(func() error {
			return db.writer.do(&task{alone: true, apply: func(w *writer) error {
				if _, err := spool.Seek(0, io.SeekStart); err != nil {
					return err
				}
				m := newImporter(w)
				if err := m.read(ctx, spool); err != nil {
					return err
				}
				return m.finish()
			}})
		})
	})
}

// unserved does something while no other process serves the file, or fails with ErrInUse.
func (db *DB) unserved(do func() error) error {
	if !db.cfg.Admin {
		return do()
	}
	l, err := openLock(db.lock.path, true)
	if err != nil {
		return err
	}
	return errors.Join(do(), l.close())
}

// importer is the state of one import. Its memory grows with the accounts and keys, not with the entries.
type importer struct {
	w     *writer // nil when all is only checked
	nos   map[string]int64
	names map[string]struct{} // names and ids of accounts, which must all differ
	keys  map[string]struct{}
	last  map[string]credits.Entry
	spent map[spender]credits.Spent // of keys with a cap
	total int64
	seen  endLine
}

func newImporter(w *writer) *importer {
	return &importer{
		w: w, nos: map[string]int64{}, names: map[string]struct{}{}, keys: map[string]struct{}{},
		last: map[string]credits.Entry{}, spent: map[spender]credits.Spent{},
	}
}

func (m *importer) read(ctx context.Context, r io.Reader) error {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
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
	if err := errors.Join(checkID(a.ID), keys.CheckName(a.Name), checkTime(a.CreatedAt)); err != nil {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	names := slices.Compact([]string{a.ID, a.Name})
	for _, name := range names {
		if _, ok := m.names[name]; ok {
			return fmt.Errorf("%w: account %q, twice", ErrExists, name)
		}
		m.names[name] = struct{}{}
	}
	if m.nos[a.ID] = 0; m.w == nil {
		return nil
	}
	for _, name := range names {
		if err := notTaken(m.w.c, name); errors.Is(err, keys.ErrTaken) {
			return fmt.Errorf("%w: account %q", ErrExists, name)
		} else if err != nil {
			return err
		}
	}
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
		return fmt.Errorf("%w: key %q belongs to account %q, which is not in it", ErrImport, k.ID, k.Account)
	}
	if _, ok := m.keys[k.ID]; ok {
		return fmt.Errorf("%w: key %q, twice", ErrExists, k.ID)
	}
	if err := checkKey(k); err != nil {
		return fmt.Errorf("%w: key %q: %w", ErrImport, k.ID, err)
	}
	m.keys[k.ID] = struct{}{}
	if k.DayCap != nil || k.TotalCap != nil {
		m.spent[spender{k.Account, k.ID}] = credits.Spent{}
	}
	if m.w == nil {
		return nil
	}
	return exists(insertKey(m.w.c, k), "key "+k.ID)
}

// checkKey returns an error unless k is a key that could have been made.
func checkKey(k keys.Key) error {
	n := keys.NewKey{Name: k.Name, Environment: k.Environment, Rate: k.Rate, DayCap: k.DayCap, TotalCap: k.TotalCap}
	if err := errors.Join(checkID(k.ID), n.Check(), checkTime(k.CreatedAt)); err != nil {
		return err
	}
	if len(k.Prefix) != keys.PrefixLen || checkID(k.Prefix) != nil || !strings.HasPrefix(k.Prefix, "sk_"+string(k.Environment)+"_") {
		return fmt.Errorf("the prefix %q is of no key", k.Prefix)
	}
	return nil
}

// checkID returns an error unless id is made of visible ASCII characters, as all ids are.
func checkID(id string) error {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return fmt.Errorf("the id %q has characters that no id has", id)
		}
	}
	if id == "" || len(id) > 100 {
		return fmt.Errorf("the id %.120q must have 1 to 100 characters", id)
	}
	return nil
}

// checkTime returns an error unless t is a time that a file can keep.
func checkTime(t time.Time) error {
	if t.Year() < 1970 || t.Year() > 9999 {
		return fmt.Errorf("the time %v is none of a socialdata database", t)
	}
	return nil
}

func (m *importer) entry(l *entryLine) error {
	m.seen.Entries++
	e, err := l.entry()
	if err != nil {
		return err
	}
	no, ok := m.nos[e.Account]
	if !ok {
		return fmt.Errorf("%w: an entry belongs to account %q, which is not in it", ErrImport, e.Account)
	}
	for _, s := range []string{e.Key, e.Operation, e.Platform, e.RequestID, e.Cache, e.Reason, e.Hold, e.IdempotencyKey} {
		if err := credits.CheckText("entry", s); err != nil {
			return fmt.Errorf("%w: %w", ErrImport, err)
		}
	}
	if err := errors.Join(checkTime(e.At), checkTime(e.Time())); err != nil {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	if err := e.Follows(m.last[e.Account]); err != nil {
		return err
	}
	if m.total += e.Amount; m.total > maxTotal {
		return fmt.Errorf("%w: all accounts have more than %d credits", ErrImport, int64(maxTotal))
	}
	m.last[e.Account] = credits.Entry{Seq: e.Seq, Balance: e.Balance, At: e.At, Hash: e.Hash}
	who := spender{e.Account, e.Key}
	if spent, ok := m.spent[who]; ok && e.Kind == credits.Charged {
		m.spent[who] = spent.Add(-e.Amount, e.Time())
	}
	if m.w == nil {
		return nil
	}
	return exists(m.w.insert(no, e), "an entry before")
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
