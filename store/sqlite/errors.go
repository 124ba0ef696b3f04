package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// The errors of this package, beside those of [sqlstore].
var (
	// ErrInUse means that another process serves the file already.
	ErrInUse = errors.New("sqlite: the file is served by another process")
	// ErrForeign means that the file is a database of another program.
	ErrForeign = errors.New("sqlite: the file is not a socialdata database")
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

// explain wraps an error of SQLite with one that says what it means for the caller.
func explain(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff { // the low byte is the primary result code
	case sqliteReadOnly:
		return sqlstore.Unavailable(fmt.Errorf("%w: %w", sqlstore.ErrReadOnly, err))
	case sqliteFull:
		return sqlstore.Unavailable(fmt.Errorf("%w: %w", sqlstore.ErrFull, err))
	case sqliteBusy, sqliteIO, sqliteCannotOpen:
		return sqlstore.Unavailable(err)
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
	sqliteIO         = 10
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteCannotOpen = 14
	sqliteConstraint = 19
	sqliteNotADB     = 26
)
