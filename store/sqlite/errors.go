package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// The errors of this package.
var (
	// ErrInUse says that another process serves the file already.
	ErrInUse = errors.New("sqlite: the file is served by another process")
	// ErrAdmin says that a file opened with Config.Admin cannot do that: only the process that serves it holds credits.
	ErrAdmin = errors.New("sqlite: opened for administration only")
	// ErrNewer says that the file was written by a later version of this package, and that this one cannot serve it.
	ErrNewer = errors.New("sqlite: this file is newer than this program")
	// ErrOlder says that the file has become one of an earlier version while it was served. Opening it anew brings it up to
	// date.
	ErrOlder = errors.New("sqlite: this file is older than this program")
	// ErrForeign says that the file is a database of something else.
	ErrForeign = errors.New("sqlite: the file is not a socialdata database")
	// ErrFull says that the disk is full. Nothing was written.
	ErrFull = errors.New("sqlite: the disk is full")
	// ErrReadOnly says that the file or its directory cannot be written. Nothing was.
	ErrReadOnly = errors.New("sqlite: the file is read-only")
	// ErrClosed says that Close was called.
	ErrClosed = errors.New("sqlite: closed")
	// ErrCorrupt says that the file is damaged, or no database at all.
	ErrCorrupt = errors.New("sqlite: the file is damaged or no database")
	// ErrLost says that the books lack what was acknowledged, by the head that is kept beside the file: the write-ahead log
	// was damaged or removed, or the file is an older copy. The error is a [*LostError].
	ErrLost = errors.New("sqlite: the books lack what was acknowledged")
	// ErrLinked says that the file has several names (hard links): whoever opened it by another one would not notice
	// the process that serves it by this one.
	ErrLinked = errors.New("sqlite: the file has several names")
	// ErrShared says that other users of the machine may read or write the file, and that this process cannot change it.
	ErrShared = errors.New("sqlite: the file is open to others")
)

// explain puts one of this package's errors before what SQLite says.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the low byte is the primary result code
	case sqliteReadOnly:
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case sqliteFull:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqliteCorrupt, sqliteNotADB:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// isBusy reports whether SQLite has failed because others use the file.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqliteBusy || e.Code()&0xff == sqliteLocked)
}

// Result codes of https://www.sqlite.org/rescode.html.
const (
	sqliteError      = 1 // such as a table or column that is not there
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteReadOnly   = 8
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteConstraint = 19
	sqliteNotADB     = 26
)
