package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// unfit is the reason why this program cannot serve the file.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later, once the program is updated.
func (unfit) Unavailable() bool { return true }

// serves returns nil when this program can serve a file of that version: its own, or the next one if that is compatible
// with it.
func serves(version int64, compatible bool) error {
	switch {
	case version == currentVersion, version == currentVersion+1 && compatible:
		return nil
	case version < currentVersion:
		return unfit{fmt.Errorf("%w: it has version %d, and this program serves version %d; restart the program, which "+
			"migrates the file", ErrOlder, version, currentVersion)}
	}
	return unfit{fmt.Errorf("%w: it has version %d, and this program serves versions up to %d; use the program that "+
		"migrated it or a later one, or export it with that program and import it into a new file",
		ErrNewer, version, currentVersion)}
}

// The compatible versions, which programs of the previous version can serve, are the rows of a table. Early files do
// not have this table.
const (
	makeCompatible   = "CREATE TABLE IF NOT EXISTS compatible (version INTEGER PRIMARY KEY) STRICT"
	insertCompatible = "INSERT OR IGNORE INTO compatible VALUES (%d)"
	selectVersion    = "SELECT user_version FROM pragma_user_version"
	selectCompatible = "SELECT count(*) FROM compatible WHERE version = ?"
)

// noteCompatible records whether programs of the previous version can serve the current one.
func noteCompatible(c *conn, compatible bool) error {
	if err := c.script(makeCompatible); err != nil || !compatible {
		return err
	}
	return c.script(fmt.Sprintf(insertCompatible, currentVersion))
}

// served returns why this program cannot serve the file that a connection reads, or nil.
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

// missing reports whether a statement failed because of a missing table or column.
func missing(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqliteError
}
