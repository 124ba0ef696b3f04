package postgres

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/store/records"
)

// Records is the records in the database, which all replicas share. A write is durable when it returns.
type Records struct{ db *DB }

var (
	_ records.Store          = (*Records)(nil)
	_ privacy.MentionCounter = (*Records)(nil)
)

// Get implements [records.Store].
func (r *Records) Get(ctx context.Context, key string) (records.Record, error) {
	found, err := list(ctx, r.db, func(row pgx.CollectableRow) (records.Record, error) {
		rec := records.Record{Key: key}
		return rec, row.Scan(&rec.Owner, &rec.Value, &rec.Version)
	}, "SELECT owner, value, version FROM @records WHERE key = $2 AND expires > "+sqlNow, r.db.clock(), []byte(key))
	if err == nil && len(found) == 0 {
		err = records.ErrAbsent
	}
	if err != nil {
		return records.Record{}, err
	}
	return found[0], nil
}

// Put implements [records.Store].
func (r *Records) Put(ctx context.Context, rec records.Record, ttl time.Duration) (version int64, err error) {
	version = newVersion()
	if rec.Version != 0 && ctx.Err() == nil {
		put, _ := r.directly(ctx, func(q *pgx.Batch, put *bool) {
			q.Queue(r.db.sql(sqlPut), r.db.clock(), []byte(rec.Key), rec.Version, rec.Owner, notNull(rec.Value), version,
				int64(ttl), rec.Size(), []byte(rec.Subjects)).QueryRow(func(row pgx.Row) error { return row.Scan(put) })
		})
		if put {
			return version, nil
		}
	}
	expected := rec.Version
	return version, r.change(ctx, &rec, version, func(ctx context.Context, c *recordChange) error {
		if expected != 0 && c.old.Version != expected {
			return records.ErrConflict
		}
		return c.put(ctx, ttl)
	})
}

// sqlPut replaces the live record of a version, if it belongs to the owner, and reports whether it did.
const sqlPut = `
	WITH old AS MATERIALIZED (
		SELECT length(key) + length(value) AS size FROM @records
		WHERE key = $2 AND version = $3 AND owner = $4 AND expires > ` + sqlNow + ` FOR UPDATE
	), put AS (
		UPDATE @records SET value = $5, version = $6, expires = ` + sqlNow + ` + $7::bigint, subjects = $9
		WHERE key = $2 AND version = $3 AND EXISTS (SELECT 1 FROM old) RETURNING key
	), counted AS (
		UPDATE @record_owners SET bytes = bytes + $8::bigint - (SELECT size FROM old)
		WHERE owner = $4 AND EXISTS (SELECT 1 FROM put)
	)
	SELECT EXISTS (SELECT 1 FROM put)`

// Add implements [records.Store].
func (r *Records) Add(
	ctx context.Context, rec records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	if err := ctx.Err(); err != nil {
		return records.Record{}, false, err
	}
	rec.Version = newVersion()
	var there records.Record
	added, unsure := r.directly(ctx, func(q *pgx.Batch, added *bool) {
		there = records.Record{Key: rec.Key}
		q.Queue(r.db.sql(sqlAdd), r.db.clock(), []byte(rec.Key), rec.Owner, notNull(rec.Value), rec.Version, int64(ttl),
			rec.Size(), r.db.cfg.OwnerBytes, []byte(rec.Subjects)).QueryRow(func(row pgx.Row) error { return row.Scan(added) })
		q.Queue(r.db.sql("SELECT owner, value, version FROM @records WHERE key = $2 AND expires > "+sqlNow), r.db.clock(),
			[]byte(rec.Key)).QueryRow(func(row pgx.Row) error {
			return ignoring(pgx.ErrNoRows, row.Scan(&there.Owner, &there.Value, &there.Version))
		})
	})
	if !added && there.Version != 0 {
		return there, false, nil
	}
	if !added {
		added = unsure
		err = r.change(ctx, &rec, rec.Version, func(ctx context.Context, c *recordChange) error {
			if added = c.old.Version == 0; !added {
				stored = c.old
				return nil
			}
			return c.put(ctx, ttl)
		})
	}
	if err != nil {
		return records.Record{}, false, err
	}
	if added {
		rec.Value, rec.Subjects = append([]byte{}, rec.Value...), ""
		stored = rec
	}
	return stored, added, nil
}

// sqlAdd writes a record if there is none, live or expired, and reports whether it did. It divides by zero when the
// owner has no room, or has never had a record.
const sqlAdd = `
	WITH added AS (
		INSERT INTO @records (key, owner, value, version, expires, subjects)
		VALUES ($2, $3, $4, $5, ` + sqlNow + ` + $6::bigint, $9) ON CONFLICT (key) DO NOTHING RETURNING key
	), counted AS (
		UPDATE @record_owners SET bytes = bytes + $7::bigint WHERE owner = $3 AND EXISTS (SELECT 1 FROM added) RETURNING bytes
	)
	SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM added) THEN FALSE WHEN $3 = '' THEN TRUE
		ELSE 1 / (SELECT count(*) FROM counted WHERE bytes <= $8::bigint) = 1 END`

// directly tries a change once, in one round trip, and reports whether it was made. If it was not, for whatever reason,
// a [recordChange] must make it or return the reason; unsure reports that it may have been made without an answer.
func (r *Records) directly(ctx context.Context, queue func(q *pgx.Batch, made *bool)) (made, unsure bool) {
	err := r.db.attempt(ctx, false, func(ctx context.Context, t *tx) error {
		// The row of the owner would else be locked while the disk is waited for: one write of an account at a time.
		return t.commitThenFlush(ctx, true, func(q *pgx.Batch) { queue(q, &made) })
	})
	return made && err == nil, committed(err)
}

// newVersion returns a random version. It is chosen before the first attempt, so that a later one recognises that the
// first was committed.
func newVersion() int64 { return 1 + rand.Int64N(math.MaxInt64-1) }

func notNull(value []byte) []byte {
	if value == nil {
		return []byte{} // else it would be NULL
	}
	return value
}

func ignoring(ignored, err error) error {
	if errors.Is(err, ignored) {
		return nil
	}
	return err
}

// Delete implements [records.Store].
func (r *Records) Delete(ctx context.Context, key string, version int64) error {
	return r.change(ctx, &records.Record{Key: key}, newVersion(), func(ctx context.Context, c *recordChange) error {
		if version != 0 && c.old.Version != 0 && c.old.Version != version {
			return records.ErrConflict
		}
		if !c.there {
			return nil
		}
		return c.tx.commit(ctx, func(q *pgx.Batch) {
			q.Queue(c.db.sql("DELETE FROM @records WHERE key = $1"), []byte(key))
			c.count(q, c.found.Owner, -c.found.Size())
		})
	})
}

// recordChange is one attempt to change a record, which is locked.
type recordChange struct {
	db    *DB
	tx    *tx
	now   int64
	there bool           // whether there is a row, live or expired
	found records.Record // what is in it
	old   records.Record // the same if it is live; else it has version 0
	rec   *records.Record
	bytes int64 // of all records of rec's owner
}

// change locks the record of rec's key and the row of its owner, and calls do to change it, unless the record already
// has the new version.
func (r *Records) change(
	ctx context.Context, rec *records.Record, version int64, do func(context.Context, *recordChange) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.db.transact(ctx, func(ctx context.Context, t *tx) error {
		c := &recordChange{db: r.db, tx: t, rec: rec}
		if err := c.read(ctx); err != nil {
			return err
		}
		if rec.Version = version; c.old.Version == version {
			return nil
		}
		return do(ctx, c)
	})
}

// read locks the record before its owner, like all transactions.
func (c *recordChange) read(ctx context.Context) error {
	return c.tx.step(ctx, func(q *pgx.Batch) {
		q.Queue("SELECT "+sqlNow, c.db.clock()).QueryRow(func(row pgx.Row) error { return row.Scan(&c.now) })
		q.Queue(c.db.sql("SELECT owner, value, version, expires FROM @records WHERE key = $1 FOR UPDATE"),
			[]byte(c.rec.Key)).QueryRow(func(row pgx.Row) error {
			c.found.Key = c.rec.Key
			var expires int64
			err := row.Scan(&c.found.Owner, &c.found.Value, &c.found.Version, &expires)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if c.there = err == nil; expires > c.now {
				c.old = c.found
			}
			return err
		})
		if c.rec.Owner != "" {
			q.Queue(c.db.sql("INSERT INTO @record_owners VALUES ($1, 0) ON CONFLICT DO NOTHING"), c.rec.Owner)
			q.Queue(c.db.sql("SELECT bytes FROM @record_owners WHERE owner = $1 FOR UPDATE"), c.rec.Owner).
				QueryRow(func(row pgx.Row) error { return row.Scan(&c.bytes) })
		}
	})
}

// put writes the record, if its owner has room, and commits.
func (c *recordChange) put(ctx context.Context, ttl time.Duration) error {
	if c.rec.Owner != "" && (c.old.Version == 0 || c.old.Owner != c.rec.Owner) {
		if err := c.room(ctx); err != nil {
			return err
		}
	}
	value := notNull(c.rec.Value)
	return c.tx.commit(ctx, func(q *pgx.Batch) {
		if c.there {
			q.Queue(c.db.sql("UPDATE @records SET owner = $2, value = $3, version = $4, expires = $5, subjects = $6 WHERE key "+
				"= $1"),
				[]byte(c.rec.Key), c.rec.Owner, value, c.rec.Version, c.now+int64(ttl), []byte(c.rec.Subjects))
			c.count(q, c.found.Owner, -c.found.Size())
		} else { // fails if another transaction adds it first, and is then tried again
			q.Queue(c.db.sql("INSERT INTO @records (key, owner, value, version, expires, subjects) VALUES ($1, $2, $3, $4, "+
				"$5, $6)"),
				[]byte(c.rec.Key), c.rec.Owner, value, c.rec.Version, c.now+int64(ttl), []byte(c.rec.Subjects))
		}
		c.count(q, c.rec.Owner, c.rec.Size())
	})
}

// count adds to the bytes of an owner's records.
func (c *recordChange) count(q *pgx.Batch, owner string, bytes int64) {
	if owner != "" && bytes != 0 {
		q.Queue(c.db.sql("UPDATE @record_owners SET bytes = bytes + $2 WHERE owner = $1"), owner, bytes)
	}
}

// room fails with a QuotaError if the record exceeds what its owner has left. It first removes expired records of the
// owner if that can make enough room.
func (c *recordChange) room(ctx context.Context) error {
	if c.bytes+c.rec.Size() <= c.db.cfg.OwnerBytes {
		return nil
	}
	gone, first := int64(0), c.now
	err := c.tx.step(ctx, func(q *pgx.Batch) {
		// Not the record itself, which will be written, and none that another transaction has locked.
		q.Queue(c.db.sql(`
			WITH gone AS (
				DELETE FROM @records WHERE key IN (
					SELECT key FROM @records
					WHERE owner = $1 AND owner <> '' AND expires <= $2 AND key <> $3 FOR UPDATE SKIP LOCKED
				) RETURNING length(key) + length(value) AS size
			) SELECT coalesce(sum(size), 0)::bigint FROM gone`), c.rec.Owner, c.now, []byte(c.rec.Key)).
			QueryRow(func(row pgx.Row) error { return row.Scan(&gone) })
		q.Queue(c.db.sql("SELECT coalesce(min(expires), $2) FROM @records WHERE owner = $1 AND owner <> '' AND expires > $2"),
			c.rec.Owner, c.now).QueryRow(func(row pgx.Row) error { return row.Scan(&first) })
	})
	if err != nil {
		return err
	}
	left := c.bytes - gone
	if c.there && c.found.Owner == c.rec.Owner {
		left -= c.found.Size() // expired, and will be replaced
	}
	if left+c.rec.Size() <= c.db.cfg.OwnerBytes {
		return c.tx.step(ctx, func(q *pgx.Batch) { c.count(q, c.rec.Owner, -gone) })
	}
	return &records.QuotaError{
		Owner: c.rec.Owner, Bytes: c.db.cfg.OwnerBytes, RetryAfter: time.Duration(first - c.now),
	}
}

// Keys implements [records.Store].
func (r *Records) Keys(ctx context.Context, prefix string) ([]string, error) {
	end, bounded := afterPrefix(prefix)
	return list(ctx, r.db, func(row pgx.CollectableRow) (string, error) {
		var key []byte
		err := row.Scan(&key)
		return string(key), err
	}, "SELECT key FROM @records WHERE key >= $2 AND ($3 OR key < $4) AND expires > "+sqlNow+" ORDER BY key",
		r.db.clock(), []byte(prefix), !bounded, []byte(end))
}

// afterPrefix returns the first string after all with prefix, and whether one exists.
func afterPrefix(prefix string) (string, bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}

// sweptAtOnce is how many expired records one transaction removes.
const sweptAtOnce = 500

// sweep removes expired records. Several replicas share the work.
func (r *Records) sweep(ctx context.Context) error {
	for {
		var n int64
		err := r.db.retry(ctx, func(bool) error {
			return r.db.pool.QueryRow(ctx, r.db.sql(`
				WITH gone AS (
					DELETE FROM @records WHERE key IN (
						SELECT key FROM @records WHERE expires <= `+sqlNow+` LIMIT $2 FOR UPDATE SKIP LOCKED
					) RETURNING owner, length(key) + length(value) AS size
				), counted AS (
					UPDATE @record_owners o SET bytes = bytes - g.size
					FROM (SELECT owner, sum(size)::bigint AS size FROM gone GROUP BY owner) g WHERE g.owner = o.owner
				)
				SELECT count(*) FROM gone`), r.db.clock(), sweptAtOnce).Scan(&n)
		})
		if err != nil || n < sweptAtOnce {
			return err
		}
	}
}
