package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
)

// Records is the records in a database. A write is durable when it returns.
type Records struct {
	db  *DB
	now func() time.Time // nil for the clock of the database
}

var (
	_ records.Store          = (*Records)(nil)
	_ privacy.MentionCounter = (*Records)(nil)
)

func newRecords(db *DB) *Records {
	r := &Records{db: db}
	if db.cfg.Now != nil {
		r.now = records.Steady(db.cfg.Now)
	}
	return r
}

// Records returns the records.
func (db *DB) Records() *Records { return db.records }

// clock is the argument of sqlNow for records.
func (r *Records) clock() any {
	if r.now == nil {
		return nil
	}
	return r.now().UnixNano()
}

// Get implements [records.Store].
func (r *Records) Get(ctx context.Context, key string) (records.Record, error) {
	found, err := one(ctx, r.db, func(row row) (records.Record, error) {
		rec := records.Record{Key: key}
		err := row.Scan(&rec.Owner, &rec.Value, &rec.Version)
		return rec, err
	}, "SELECT owner, value, version FROM @records WHERE key = ? AND expires > "+sqlNow, []byte(key), r.clock())
	if errors.Is(err, sql.ErrNoRows) {
		err = records.ErrAbsent
	}
	return found, err
}

// Put implements [records.Store].
func (r *Records) Put(ctx context.Context, rec records.Record, ttl time.Duration) (version int64, err error) {
	err = r.change(ctx, rec.Key, func(t tx, old, live records.Record) error {
		if rec.Version != 0 && live.Version != rec.Version {
			return records.ErrConflict
		}
		version, err = r.put(t, old, live, rec, ttl)
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Add implements [records.Store].
func (r *Records) Add(
	ctx context.Context, rec records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	err = r.change(ctx, rec.Key, func(t tx, old, live records.Record) (err error) {
		stored, added = live, live.Version == 0
		if added {
			stored = records.Record{Key: rec.Key, Owner: rec.Owner, Value: append([]byte{}, rec.Value...)}
			stored.Version, err = r.put(t, old, live, rec, ttl)
		}
		return err
	})
	if err != nil {
		return records.Record{}, false, err
	}
	return stored, added, nil
}

// Delete implements [records.Store].
func (r *Records) Delete(ctx context.Context, key string, version int64) error {
	return r.change(ctx, key, func(t tx, old, live records.Record) error {
		switch {
		case version != 0 && live.Version != 0 && live.Version != version:
			return records.ErrConflict
		case old.Version == 0:
			return nil
		}
		_, err := t.removeRecords("key = ?", []byte(key))
		return err
	})
}

// change locks the record under key and calls do with it: old is what is stored, and live the same unless it has
// expired. Their version is 0 when there is none. The row of an owner is locked after that of a record.
func (r *Records) change(ctx context.Context, key string, do func(t tx, old, live records.Record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.db.write(ctx, func(t tx) error {
		var old, live records.Record
		var expired int64
		there, err := t.maybe([]any{&old.Owner, &old.Value, &old.Version, &expired},
			"SELECT owner, value, version, CASE WHEN expires > "+sqlNow+" THEN 0 ELSE 1 END FROM @records WHERE key = ? {lock}",
			r.clock(), []byte(key))
		if err != nil {
			return err
		}
		if old.Key = key; there && expired == 0 {
			live = old
		}
		return do(t, old, live)
	})
}

// put replaces old by rec and returns the new version.
func (r *Records) put(t tx, old, live, rec records.Record, ttl time.Duration) (version int64, err error) {
	if rec.Owner != "" && live.Owner != rec.Owner {
		if err := r.room(t, old, rec); err != nil {
			return 0, err
		}
	}
	// If another transaction adds the record at the same time, one of the two is repeated.
	query := "INSERT INTO @records (owner, value, version, expires, subjects, key) VALUES (?, ?, ?, " + sqlNow + " + ?, ?, ?)"
	if old.Version != 0 {
		query = "UPDATE @records SET owner = ?, value = ?, version = ?, expires = " + sqlNow + " + ?, subjects = ? WHERE key = ?"
		if err := t.countRecords(old.Owner, -old.Size()); err != nil {
			return 0, err
		}
	}
	version = 1 + rand.Int64N(math.MaxInt64-1) // it differs from that of any earlier record under the key
	if err := t.exec(query, rec.Owner, append([]byte{}, rec.Value...), version, r.clock(), int64(ttl), []byte(rec.Subjects),
		[]byte(rec.Key)); err != nil {
		return 0, err
	}
	return version, t.countRecords(rec.Owner, rec.Size())
}

// room locks the row of rec's owner, and fails with a QuotaError if rec, which replaces old, exceeds what the owner has
// left. What has expired does not count.
func (r *Records) room(t tx, old, rec records.Record) error {
	var taken, expired, first int64
	there, err := t.maybe([]any{&taken}, "SELECT bytes FROM @record_owners WHERE owner = ? {lock}", rec.Owner)
	if err == nil && !there { // if another transaction does so at the same time, one of the two is repeated
		err = t.exec("INSERT INTO @record_owners (owner, bytes) VALUES (?, 0)", rec.Owner)
	}
	if old.Version != 0 && old.Owner == rec.Owner {
		taken -= old.Size()
	}
	limit := r.db.cfg.OwnerBytes - rec.Size()
	if err != nil || taken <= limit {
		return err
	}
	const owned = "FROM @records WHERE owner = ? AND owner <> '' AND expires "
	err = t.row([]any{&expired, &first}, `
		SELECT (SELECT coalesce(sum(length(key) + length(value)), 0) `+owned+`<= now AND key <> ?),
			(SELECT coalesce(min(expires) - now, 0) `+owned+`> now)
		FROM (SELECT `+sqlNow+` AS now) AS clock`, rec.Owner, []byte(rec.Key), rec.Owner, r.clock())
	if err != nil || taken-expired <= limit {
		return err
	}
	return &records.QuotaError{Owner: rec.Owner, Bytes: r.db.cfg.OwnerBytes, RetryAfter: time.Duration(first)}
}

// countRecords adds to the bytes of an owner's records.
func (t tx) countRecords(owner string, bytes int64) error {
	if owner == "" || bytes == 0 {
		return nil
	}
	return t.exec("UPDATE @record_owners SET bytes = bytes + ? WHERE owner = ?", bytes, owner)
}

// removeRecords removes the records that a condition selects, and returns how many there were.
func (t tx) removeRecords(condition string, args ...any) (removed int64, err error) {
	var owner string
	var size int64
	freed := map[string]int64{}
	err = t.each([]any{&owner, &size}, func() error {
		removed++
		freed[owner] += size
		return nil
	}, "DELETE FROM @records WHERE "+condition+" RETURNING owner, length(key) + length(value)", args...)
	for _, owner := range slices.Sorted(maps.Keys(freed)) {
		err = errors.Join(err, t.countRecords(owner, -freed[owner]))
	}
	return removed, err
}

// sweep removes records that have expired.
func (r *Records) sweep(ctx context.Context) error {
	return r.db.removeAll(ctx, func(t tx) (int64, error) {
		return t.removeRecords("key IN (SELECT key FROM @records WHERE expires <= "+sqlNow+" LIMIT ? {skip})", r.clock(),
			removedAtOnce)
	})
}

// Keys implements [records.Store].
func (r *Records) Keys(ctx context.Context, prefix string) ([]string, error) {
	query, args := "SELECT key FROM @records WHERE expires > "+sqlNow+" AND key >= ?", []any{r.clock(), []byte(prefix)}
	if end := after(prefix); end != nil {
		query, args = query+" AND key < ?", append(args, end)
	}
	return list(ctx, r.db, scanOne[string], query+" ORDER BY key", args...)
}

// after returns the first key after all with prefix, or nil when there is none.
func after(prefix string) []byte {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// How many records an erasure reads at once, without and with their values.
const (
	readAtOnce  = 1000
	wholeAtOnce = 100
)

// Erase implements [records.Store].
func (r *Records) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	removed := map[string]int{}
	return removed, r.walk(ctx, "''", readAtOnce, func(part []records.Record) error {
		var found [][]any
		for _, rec := range part {
			if s.In(rec.Subjects) {
				found = append(found, []any{[]byte(rec.Key), rec.Version})
				removed[records.Kind(rec.Key)]++
			}
		}
		for some := range slices.Chunk(found, removedAtOnce) {
			if s.DryRun {
				break
			}
			err := r.db.write(ctx, func(t tx) error { // unless they were replaced meanwhile
				table, args := t.rows("bn", some)
				_, err := t.removeRecords("key IN (SELECT key FROM @records JOIN "+table+
					" ON key = c1 AND version = c2 ORDER BY key {lock})", args...)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Mentions implements [privacy.MentionCounter].
func (r *Records) Mentions(ctx context.Context, s privacy.Subject) (n int, err error) {
	err = r.walk(ctx, "value", wholeAtOnce, func(part []records.Record) error {
		for _, rec := range part {
			if records.Mentions(rec.Value, rec.Subjects, s) {
				n++
			}
		}
		return nil
	})
	return n, err
}

// walk calls do with all records, some at once. value selects their values.
func (r *Records) walk(ctx context.Context, value string, atOnce int, do func([]records.Record) error) error {
	for last := []byte{}; ; {
		part, err := list(ctx, r.db, func(row row) (rec records.Record, err error) {
			err = row.Scan(&rec.Key, &rec.Version, &rec.Subjects, &rec.Value)
			return rec, err
		}, "SELECT key, version, subjects, "+value+" FROM @records WHERE key > ? ORDER BY key LIMIT ?", last, atOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		last = []byte(part[len(part)-1].Key)
		if err := do(part); err != nil {
			return err
		}
	}
}
