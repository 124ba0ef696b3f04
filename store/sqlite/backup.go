package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// ErrThere means that a file exists at the path of a backup already.
var ErrThere = errors.New("sqlite: the file exists already")

// Backup writes a copy of the whole database, including the write-ahead log and the records, to a new file at path that
// only its owner can read. The copy is a snapshot from the time when Backup begins. The file appears at path once it is
// complete and durable. Backup can run while another process serves the file, and delays no caller; until it ends, the
// write-ahead log is not reused and grows with each write. It fails with ErrThere when there is a file at path.
// progress, unless it is nil, is called from time to time with the number of bytes that are copied and the total.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int64)) error {
	if err := db.backup(ctx, path, progress); err != nil {
		return fmt.Errorf("sqlite: backup to %s: %w", path, explain(err))
	}
	return nil
}

// backupPages is how many pages are copied between two checks of the context. They take some milliseconds.
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
			_ = os.Remove(part + "-journal") // exists if the copy was interrupted
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
func (db *DB) copyTo(ctx context.Context, to string, progress func(done, total int64)) error {
	pool, err := sql.Open("sqlite", dsn(db.path, readerParams))
	if err != nil {
		return err
	}
	from, err := pool.Conn(ctx)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return errors.Join(copyFrom(ctx, from, to, progress), from.Close(), pool.Close())
}

// copyFrom copies what from reads. One transaction reads one snapshot; without it the copy would start again after
// every charge.
func copyFrom(ctx context.Context, from *sql.Conn, to string, progress func(done, total int64)) error {
	if _, err := from.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var size, tables int64
	err := from.QueryRowContext(ctx, "SELECT page_size, (SELECT count(*) FROM sqlite_schema) FROM pragma_page_size").
		Scan(&size, &tables)
	if err != nil {
		return err
	}
	return from.Raw(func(driver any) error {
		b, err := driver.(interface {
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
	})
}
