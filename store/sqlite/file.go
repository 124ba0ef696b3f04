package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// applicationID marks the file as ours, in its header: "sdb1". Files of programs from before the first release have
// unreleasedID.
const (
	applicationID = 0x73646231
	unreleasedID  = 0x73646174
)

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
			err = errors.Join(sqlstore.ErrReadOnly, err)
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

// claim returns ErrForeign unless the file is ours, and makes it ours if it is empty.
func claim(ctx context.Context, c *sql.Conn) error {
	var id, tables int64
	err := c.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").
		Scan(&id, &tables)
	switch {
	case err != nil:
		return explain(err)
	case id == applicationID:
		return nil
	case id == unreleasedID:
		return fmt.Errorf("%w of this version: export it with the program that wrote it (books export), and import that "+
			"into a new file", ErrForeign)
	case id != 0 || tables != 0:
		return ErrForeign
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	return explain(err)
}

// restrictMode removes the permissions of other users from the file and the files next to it. It fails when it cannot, because
// the file belongs to another user.
func (db *DB) restrictMode() error {
	for _, name := range []string{"", "-wal", "-shm", "-journal", "-head", "-lock"} {
		name = db.path + name
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
		db.cfg.Logger.Warn("sqlite: other users of this machine could read or write the file; it is now private to its owner",
			"file", name, "mode", fmt.Sprintf("%o", mode))
	}
	return nil
}
