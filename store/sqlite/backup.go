package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// ErrThere says that a backup would take the place of a file.
var ErrThere = errors.New("sqlite: the file is there already")

// Backup writes a copy of the whole database as it is when it begins, what is in the write-ahead log and the records
// included, to a new file at path that only its owner can read. The file appears there when all of it is on the disk.
// Backup works beside the process that serves, and keeps no caller waiting; until it ends the log cannot begin anew and
// grows with what is written. It fails with ErrThere when there is a file at path. Progress, unless it is nil, is called
// now and then with how many bytes of how many are copied.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int64)) error {
	if err := db.backup(ctx, path, progress); err != nil {
		return fmt.Errorf("sqlite: backup to %s: %w", path, explain(err))
	}
	return nil
}

// backupPages is how many pages are copied before the context is looked at: some milliseconds.
const backupPages = 512

func (db *DB) backup(ctx context.Context, path string, progress func(done, total int64)) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, ErrThere)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*") // 0600
	if err != nil {
		return err
	}
	part := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
			_ = os.Remove(part + "-journal") // there when the copy was interrupted
		}
	}()
	if err = errors.Join(db.copyTo(ctx, part, progress), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// copyTo copies the database into an empty file.
func (db *DB) copyTo(ctx context.Context, to string, progress func(done, total int64)) (err error) {
	from, err := openConn(dsn(db.path, readerParams))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	size, err := from.number("PRAGMA page_size")
	if err != nil {
		return err
	}
	// One transaction sees one moment. Without it the copy would begin anew with every charge.
	if err := from.script("BEGIN"); err != nil {
		return err
	}
	if _, err := from.number("SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	b, err := from.Conn.(interface {
		NewBackup(to string) (*sqlite.Backup, error)
	}).NewBackup(dsn(to, ""))
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(backupPages)
		}
		if err == nil && progress != nil {
			total := int64(b.PageCount())
			progress((total-int64(b.Remaining()))*size, total*size)
		}
	}
	return errors.Join(err, b.Finish())
}
