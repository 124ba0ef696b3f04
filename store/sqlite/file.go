package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// file is an open file: its lock, connections and writer, which all stores in it share.
type file struct {
	cfg    Config
	path   string // of the file itself, after following links
	lock   *lock
	read   *sql.DB
	writer *writer
	head   headFile
	lost   *LostError            // the loss that was found in a file opened with Config.Admin
	unfit  atomic.Pointer[unfit] // why the file cannot be served; nil while it can
}

// openFile creates the file if it does not exist, and migrates it if it is older. The caller closes what it returns,
// even with an error.
func openFile(ctx context.Context, cfg Config) (*file, error) {
	f := &file{cfg: cfg}
	var empty bool
	var err error
	if f.path, empty, err = touch(cfg.Path); err != nil {
		return f, err
	}
	if f.lock, err = openLock(f.path+"-lock", !cfg.Admin); err != nil {
		f.lock = nil
		return f, err
	}
	shared, _, err := f.lock.read()
	if err != nil {
		return f, err
	}
	if empty && shared != 0 {
		return f, fmt.Errorf("%w: it is empty, but it was not before; to start with an empty database, remove it", ErrCorrupt)
	}
	c, err := openConn(dsn(f.path, writerParams))
	if err != nil {
		return f, err
	}
	if err = migrate(c); err == nil {
		f.writer, err = newWriter(c, cfg.Now, cfg.atOnce, cfg.folding(), f.lock.forget)
	}
	if err != nil {
		return f, errors.Join(err, c.Close())
	}
	if shared == 0 {
		if err := f.lock.write(false); err != nil { // from now on the file is not empty
			return f, err
		}
	}
	f.head.path = f.path + "-head"
	if err := f.prove(); err != nil {
		return f, err
	}
	if err := f.hide(); err != nil { // now that it is known to be ours
		return f, err
	}
	f.read, err = openReaders(ctx, f.path, cfg.Readers)
	return f, err
}

// release closes what is open.
func (f *file) release() error {
	var errs []error
	if f.read != nil {
		errs = append(errs, f.read.Close())
	}
	if f.writer != nil {
		errs = append(errs, f.writer.close())
	}
	if f.lock != nil {
		errs = append(errs, f.lock.close())
	}
	return errors.Join(errs...)
}

// touch creates the file with permissions for its owner only, and reports early if it cannot be written. It returns the
// path of the file itself, not that of a link to it, and whether the file was empty.
func touch(name string) (path string, empty bool, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return "", false, err
	}
	info, err := os.Stat(name)
	empty = err == nil && info.Size() == 0
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrPermission) || isReadOnlyFS(err) {
			err = errors.Join(ErrReadOnly, err)
		}
		return "", false, err
	}
	n, err := links(f)
	if err == nil && n > 1 {
		err = ErrLinked
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", false, err
	}
	path, err = filepath.EvalSymlinks(name)
	return path, empty, err
}

// hide removes the permissions of other users from the file and the files next to it. It fails when it cannot, because
// the file belongs to another user.
func (f *file) hide() error {
	for _, name := range []string{"", "-wal", "-shm", "-journal", "-head", "-lock"} {
		name = f.path + name
		mode, open, err := othersMay(name)
		if err != nil {
			return err
		}
		if !open {
			continue
		}
		if err := os.Chmod(name, 0o600); err != nil {
			return fmt.Errorf("%w: other users of this machine can read or write %s (mode %o), and that cannot be changed: %w",
				ErrShared, name, mode, err)
		}
		f.cfg.Logger.Warn("sqlite: other users of this machine could read or write the file; it is now private to its owner",
			"file", name, "mode", fmt.Sprintf("%o", mode))
	}
	return nil
}

// announce writes entries. With Config.Admin it announces them to the process that serves the file, which keeps
// balances and the entries that are not folded in memory.
func (f *file) announce(write func() error) error {
	if f.lost != nil {
		return f.lost
	}
	if !f.cfg.Admin {
		return write()
	}
	return f.lock.change(write)
}

// unserved runs do while no other process serves the file, or fails with ErrInUse.
func (f *file) unserved(do func() error) error {
	if f.lost != nil {
		return f.lost
	}
	if !f.cfg.Admin {
		return do()
	}
	l, err := openLock(f.lock.path, true)
	if err != nil {
		return err
	}
	return errors.Join(do(), l.close())
}

// fit returns why the file cannot be served, or nil.
func (f *file) fit() error {
	if u := f.unfit.Load(); u != nil {
		return *u
	}
	return nil
}

// epoch returns the epoch of the lock, if the file can be served.
func (f *file) epoch() (epoch, error) {
	if err := f.fit(); err != nil {
		return epoch{}, err
	}
	return f.lock.epoch()
}

// lookAtVersion reads the version of the file, notes whether it can be served, and returns the reason if not.
func (f *file) lookAtVersion(ctx context.Context) error {
	tx, err := f.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	err = served(func(query string, args ...any) (n int64, err error) {
		err = tx.QueryRowContext(ctx, query, args...).Scan(&n)
		return n, err
	})
	u, isUnfit := errors.AsType[unfit](err)
	switch {
	case err == nil && f.unfit.Swap(nil) != nil:
		f.cfg.Logger.Info("sqlite: the file can be served again")
	case isUnfit && f.unfit.Swap(&u) == nil:
		f.cfg.Logger.Error("sqlite: the file cannot be served", "error", err)
	}
	return explain(err)
}

// explain wraps an error of SQLite with one of this package's errors. When a statement failed because something is
// missing, it checks the version of the file.
func (f *file) explain(ctx context.Context, err error) error {
	if missing(err) {
		if why := f.lookAtVersion(ctx); errors.As(why, new(unfit)) {
			return errors.Join(why, err)
		}
	}
	return explain(err)
}
