package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lookEvery is the interval at which a replica checks the version of the schema, which a newer program may migrate.
const lookEvery = 5 * time.Second

// unfit is the reason why this program cannot serve the schema.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// Unavailable reports that the call may succeed later, or on a replica that has been updated.
func (unfit) Unavailable() bool { return true }

// serves returns nil when this program can serve a schema of that version: its own, or the next one if that is
// compatible with it.
func serves(version int, compatible bool) error {
	own := len(migrations)
	switch {
	case version == own, version == own+1 && compatible:
		return nil
	case version < own:
		return fmt.Errorf("%w: it has version %d, and this program serves version %d; restart the program, which migrates "+
			"the schema", ErrOlder, version, own)
	}
	return fmt.Errorf("%w: it has version %d, and this program serves versions up to %d; use the program that migrated "+
		"it or a later one, or export it with that program and import it into a new schema", ErrNewer, version, own)
}

// version returns the version of the schema, 0 when there is none, and whether programs of the previous version can
// serve it. An early schema without this column returns false.
func (db *DB) version(ctx context.Context, q querier) (version int, compatible bool, err error) {
	err = q.QueryRow(ctx, db.sql(`
		SELECT coalesce(max(version), 0), coalesce((
			SELECT (to_jsonb(m) ->> 'compatible')::boolean FROM @migrations m ORDER BY version DESC LIMIT 1
		), false)
		FROM @migrations`)).Scan(&version, &compatible)
	return version, compatible, err
}

// unserved returns why the schema cannot be served, or nil.
func (db *DB) unserved() error {
	if u := db.unfit.Load(); u != nil {
		return *u
	}
	return nil
}

// lookAtVersion reads the version of the schema, notes whether it can be served, and returns the reason if not. If the
// database does not answer, nothing changes.
func (db *DB) lookAtVersion(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.cfg.Patience)
	defer cancel()
	version, compatible, err := db.version(ctx, db.pool)
	if err != nil && !isCode(err, undefinedTable) { // undefinedTable: the schema is gone
		return err
	}
	if err = serves(version, compatible); err == nil {
		if db.unfit.Swap(nil) != nil {
			db.cfg.Logger.Info("postgres: the schema can be served again", "version", version)
		}
		return nil
	}
	if db.unfit.Swap(&unfit{err}) == nil {
		db.cfg.Logger.Error("postgres: the schema cannot be served", "error", err)
	}
	return unfit{err}
}

// explain checks the version of the schema when a statement failed because something is missing. If that is the reason,
// it returns why the schema cannot be served.
func (db *DB) explain(ctx context.Context, err error) error {
	if !isCode(err, undefinedColumn, undefinedTable) {
		return err
	}
	if why := db.lookAtVersion(ctx); errors.As(why, new(unfit)) {
		return errors.Join(why, err)
	}
	return err
}

// watchVersion checks the version of the schema regularly until ctx ends.
func (db *DB) watchVersion(ctx context.Context) {
	tick := time.NewTicker(db.cfg.look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = db.lookAtVersion(ctx) // calls notice a database that does not answer
		}
	}
}
