package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// The errors of a [DB].
var (
	// ErrNewer means that a later version of this package has migrated the database, which this one cannot serve.
	ErrNewer = errors.New("store: the database is newer than this program")
	// ErrOlder means that the database was replaced by one of an earlier version while it was served. Opening it again
	// migrates it.
	ErrOlder = errors.New("store: the database is older than this program")
	// ErrClosed means that Close was called.
	ErrClosed = Unavailable(errors.New("store: closed"))
	// ErrNotWritten means that the connection broke, and that nothing was written.
	ErrNotWritten = errors.New("store: the connection was lost, and nothing was written")
	// ErrUnsure means that the connection broke during the commit, and that it could not be determined whether that
	// succeeded. Settling a hold again returns the result; before repeating a grant without a key, look at the account's
	// entries.
	ErrUnsure = errors.New("store: the connection was lost, and it is not known whether this was written")
	// ErrFull means that the disk of the database is full. Nothing was written.
	ErrFull = errors.New("store: the disk is full")
	// ErrReadOnly means that the database cannot be written to. Nothing was written.
	ErrReadOnly = errors.New("store: the database is read-only")
)

// unfit is the reason why this program cannot serve the database.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later, once the program was updated.
func (unfit) Unavailable() bool { return true }

// serveable returns why the schema cannot be served, or nil.
func (db *DB) serveable() error {
	if u := db.unfit.Load(); u != nil {
		return *u
	}
	return nil
}

func isBreaking(v int64) bool { return slices.Contains(breaking, v) }

// serves returns nil when this program can serve a database of version v: its own, or the next one if that is
// compatible with it.
func serves(v int64, compatible bool) error {
	switch {
	case v == Version, v == Version+1 && compatible:
		return nil
	case v < Version:
		return unfit{fmt.Errorf("%w: it has version %d, and this program serves version %d; restart the program, which "+
			"migrates it", ErrOlder, v, Version)}
	}
	return unfit{fmt.Errorf("%w: it has version %d, and this program serves versions up to %d; use the program that "+
		"migrated it or a later one, or export it with that program and import it into a new database", ErrNewer, v, Version)}
}

// stored returns the version of the schema, 0 where there is none, and whether programs of the version before can serve
// it.
func (db *DB) stored(ctx context.Context) (v int64, compatible bool, err error) {
	err = db.cfg.Runner.Read(ctx, func(pool *sql.DB) error {
		row := pool.QueryRowContext(
			ctx,
			db.text("SELECT version, compatible FROM @schema_versions ORDER BY version DESC LIMIT 1"),
		)
		return row.Scan(&v, &compatible)
	})
	if errors.Is(err, sql.ErrNoRows) || err != nil && db.dialect.Missing(err) {
		return 0, false, nil
	}
	return v, compatible, err
}

// CheckVersion reads the version of the schema and returns why it cannot be served, or nil. Until it can, calls return
// the reason. If the database cannot be read, nothing changes.
func (db *DB) CheckVersion(ctx context.Context) error {
	v, compatible, err := db.stored(ctx)
	if err != nil {
		return err
	}
	err = serves(v, compatible)
	if u, ok := errors.AsType[unfit](err); ok {
		if db.unfit.Swap(&u) == nil {
			db.cfg.Logger.Error("store: the database cannot be served", "error", err)
		}
	} else if db.unfit.Swap(nil) != nil {
		db.cfg.Logger.Info("store: the database can be served again", "version", v)
	}
	return err
}

// explain checks the version of the schema when a statement failed because something is missing, and returns why the
// database cannot be served if that is the reason.
func (db *DB) explain(ctx context.Context, err error) error {
	if err == nil || !db.dialect.Missing(err) {
		return err
	}
	if why := db.CheckVersion(ctx); errors.As(why, new(unfit)) {
		return errors.Join(why, err)
	}
	return err
}
