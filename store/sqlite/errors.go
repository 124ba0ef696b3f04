package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// The errors of this package.
var (
	// ErrInUse means that another process serves the file already.
	ErrInUse = errors.New("sqlite: the file is served by another process")
	// ErrAdmin means that the operation is not possible in a file opened with Config.Admin: only the process that
	// serves the file can hold credits.
	ErrAdmin = errors.New("sqlite: opened for administration only")
	// ErrNewer means that the file was written by a later version of this package, which this version cannot serve.
	ErrNewer = errors.New("sqlite: this file is newer than this program")
	// ErrOlder means that the file was replaced by one of an earlier version while it was served. Opening it again
	// migrates it.
	ErrOlder = errors.New("sqlite: this file is older than this program")
	// ErrForeign means that the file is a database of another program.
	ErrForeign = errors.New("sqlite: the file is not a socialdata database")
	// ErrFull means that the disk is full. Nothing was written.
	ErrFull = errors.New("sqlite: the disk is full")
	// ErrReadOnly means that the file or its directory cannot be written. Nothing was written.
	ErrReadOnly = errors.New("sqlite: the file is read-only")
	// ErrClosed means that Close was called.
	ErrClosed = errors.New("sqlite: closed")
	// ErrCorrupt means that the file is damaged, or is not a database.
	ErrCorrupt = errors.New("sqlite: the file is damaged or is not a database")
	// ErrLost means that the file lacks entries that were acknowledged, according to the -head file: the write-ahead
	// log was damaged or removed, or the file is an older copy. The error is a [*LostError].
	ErrLost = errors.New("sqlite: entries that were acknowledged are missing")
	// ErrLinked means that the file has several names (hard links). A process that opens it by another name would not
	// notice the process that serves it by this one.
	ErrLinked = errors.New("sqlite: the file has several names")
	// ErrShared means that other users of the machine may be able to read or write the file, and that this process
	// cannot change its permissions.
	ErrShared = errors.New("sqlite: other users can read or write the file")
)

// explain wraps an error of SQLite with one of this package's errors.
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

// isBusy reports whether SQLite failed because another connection uses the file.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqliteBusy || e.Code()&0xff == sqliteLocked)
}

// Result codes of https://www.sqlite.org/rescode.html.
const (
	sqliteError      = 1 // such as a missing table or column
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteReadOnly   = 8
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteConstraint = 19
	sqliteNotADB     = 26
)
