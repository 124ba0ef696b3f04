package sqlite

import (
	"errors"
	"os"
)

// lock is the file next to the database that the process that serves it locks exclusively. It is not empty once the
// database is not.
type lock struct {
	path string
	f    *os.File
}

// openLock locks the file at path, or returns ErrInUse.
func openLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{path, f}, nil
}

// restore replaces a lock file that was removed: another process could lock a new one with its name, and serve the
// database too. It returns ErrInUse when one does.
func (l *lock) restore() error {
	mine, err := l.f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(l.path)
	if err == nil && os.SameFile(mine, named) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	again, err := openLock(l.path)
	if err != nil {
		return err
	}
	err = l.close()
	l.f = again.f
	return errors.Join(err, markUsed(l.path))
}

func (l *lock) close() error {
	// Closing is not enough: a child process that is being started has the descriptor until it executes its program.
	return errors.Join(unlock(l.f), l.f.Close())
}

// used reports whether the database beside the lock file at path was not empty before.
func used(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// markUsed notes that the database is not empty.
func markUsed(path string) error { return os.WriteFile(path, []byte("socialdata\n"), 0o600) }
