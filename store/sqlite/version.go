package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// unfit is why this program cannot serve the file.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later, once the program has been brought up to date.
func (unfit) Unavailable() bool { return true }

// serves returns nil when this program serves a file of that version: its own, or the next one if that is compatible with
// programs of the version before.
func serves(version int64, compatible bool) error {
	switch {
	case version == currentVersion, version == currentVersion+1 && compatible:
		return nil
	case version < currentVersion:
		return unfit{fmt.Errorf("%w: it has version %d, and this program serves version %d; start the program anew, which brings "+
			"the file up to date", ErrOlder, version, currentVersion)}
	}
	return unfit{fmt.Errorf("%w: it has version %d, and this program serves versions up to %d; use the program that wrote it "+
		"or a later one, or let that one export it and import that into a new file", ErrNewer, version, currentVersion)}
}

// The versions that programs of the version before can serve are the rows of a table, which early files do not have.
const (
	makeCompatible   = "CREATE TABLE IF NOT EXISTS compatible (version INTEGER PRIMARY KEY) STRICT"
	insertCompatible = "INSERT OR IGNORE INTO compatible VALUES (%d)"
	selectVersion    = "SELECT user_version FROM pragma_user_version"
	selectCompatible = "SELECT count(*) FROM compatible WHERE version = ?"
)

// noteCompatible notes of the current version that programs of the version before can serve it, if they can.
func noteCompatible(c *conn, compatible bool) error {
	if err := c.script(makeCompatible); err != nil || !compatible {
		return err
	}
	return c.script(fmt.Sprintf(insertCompatible, currentVersion))
}

// served returns why this program cannot serve the file as a connection sees it, or nil.
func served(number func(query string, args ...any) (int64, error)) error {
	version, err := number(selectVersion)
	if err != nil || version == currentVersion {
		return err
	}
	n, err := number(selectCompatible, version)
	if err != nil && !missing(err) {
		return err
	}
	return serves(version, n > 0)
}

// missing reports whether a statement has failed for a table or column that is not there.
func missing(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqliteError
}

// fit returns why the file cannot be served, or nil.
func (f *file) fit() error {
	if u := f.unfit.Load(); u != nil {
		return *u
	}
	return nil
}

// epoch is that of the lock, for a file that can be served.
func (f *file) epoch() (epoch, error) {
	if err := f.fit(); err != nil {
		return epoch{}, err
	}
	return f.lock.epoch()
}

// lookAtVersion reads which version the file has, notes whether it can be served, and returns why not.
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

// explain puts one of this package's errors before what SQLite says of a statement. One that names what is not there is a
// reason to look at the version of the file.
func (f *file) explain(ctx context.Context, err error) error {
	if missing(err) {
		if why := f.lookAtVersion(ctx); errors.As(why, new(unfit)) {
			return errors.Join(why, err)
		}
	}
	return explain(err)
}
