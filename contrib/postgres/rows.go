package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/keys"
)

// list reads all rows of a query.
func list[T any](
	ctx context.Context, db *DB, scan func(pgx.CollectableRow) (T, error), query string, args ...any,
) (found []T, err error) {
	err = db.read(ctx, func() error {
		rows, err := db.pool.Query(ctx, db.sql(query), args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToFunc[T](scan))
		return err
	})
	if found == nil {
		found = []T{}
	}
	return found, err
}

// one reads the only row of a query by name, or fails with keys.ErrAbsent.
func one[T any](
	ctx context.Context, db *DB, scan func(pgx.CollectableRow) (T, error), query, name string,
) (t T, err error) {
	if !keepable(name) {
		return t, keys.ErrAbsent
	}
	found, err := list(ctx, db, scan, query, name)
	if err == nil && len(found) == 0 {
		err = keys.ErrAbsent
	}
	if err != nil {
		return t, err
	}
	return found[0], nil
}

func maybeMicros(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMicro())
}

func maybeTime(micros *int64) *time.Time {
	if micros == nil {
		return nil
	}
	return new(fromMicros(*micros))
}
