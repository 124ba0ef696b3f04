package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/store/records"
)

// Records is the records in the file. A write is durable when it returns, and shares its transaction with charges.
type Records struct {
	file *file
	time func() time.Time
	get  *sql.Stmt
	keys *sql.Stmt
}

var (
	_ records.Store          = (*Records)(nil)
	_ privacy.MentionCounter = (*Records)(nil)
)

func newRecords(ctx context.Context, f *file) (*Records, error) {
	get, err := f.read.PrepareContext(ctx, "SELECT owner, value, version FROM records WHERE key = ? AND expires > ?")
	if err != nil {
		return nil, explain(err)
	}
	keys, err := f.read.PrepareContext(ctx,
		"SELECT key FROM records WHERE key >= ? AND (? OR key < ?) AND expires > ? ORDER BY key")
	return &Records{file: f, time: records.Steady(f.cfg.Now), get: get, keys: keys}, explain(err)
}

// Get implements [records.Store].
func (r *Records) Get(ctx context.Context, key string) (records.Record, error) {
	found := records.Record{Key: key}
	if err := r.file.fit(); err != nil {
		return records.Record{}, err
	}
	err := r.get.QueryRowContext(ctx, key, r.now()).Scan(&found.Owner, &found.Value, &found.Version)
	if errors.Is(err, sql.ErrNoRows) {
		return records.Record{}, records.ErrAbsent
	}
	if err != nil {
		return records.Record{}, r.file.explain(ctx, err)
	}
	return found, nil
}

// Put implements [records.Store].
func (r *Records) Put(ctx context.Context, rec records.Record, ttl time.Duration) (version int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = r.file.writer.do(&task{apply: func(w *writer) error {
		now := r.now()
		old, err := live(w, rec.Key, now)
		if err != nil {
			return err
		}
		if rec.Version != 0 && old.Version != rec.Version {
			return refusal{records.ErrConflict}
		}
		version, err = r.put(w, old, rec, now, ttl)
		return err
	}})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Add implements [records.Store].
func (r *Records) Add(
	ctx context.Context, rec records.Record, ttl time.Duration,
) (stored records.Record, added bool, err error) {
	if err := ctx.Err(); err != nil {
		return records.Record{}, false, err
	}
	err = r.file.writer.do(&task{apply: func(w *writer) (err error) {
		now := r.now()
		added = false
		if stored, err = live(w, rec.Key, now); err != nil || stored.Version != 0 {
			return err
		}
		version, err := r.put(w, stored, rec, now, ttl)
		added, stored = true, rec
		stored.Value, stored.Version, stored.Subjects = append([]byte{}, rec.Value...), version, ""
		return err
	}})
	if err != nil {
		return records.Record{}, false, err
	}
	return stored, added, nil
}

// live returns the live record under key, or one with version 0.
func live(w *writer, key string, now int64) (records.Record, error) {
	var v [3]driver.Value
	found, err := w.c.row("SELECT owner, value, version FROM records WHERE key = ? AND expires > ?", v[:], key, now)
	if err != nil || !found {
		return records.Record{}, err
	}
	return records.Record{
		Key: key, Owner: value[string](v[0]), Value: append([]byte{}, value[[]byte](v[1])...), Version: value[int64](v[2]),
	}, nil
}

// Delete implements [records.Store].
func (r *Records) Delete(ctx context.Context, key string, version int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.file.writer.do(&task{apply: func(w *writer) error {
		if version != 0 {
			old, err := live(w, key, r.now())
			if err != nil {
				return err
			}
			if old.Version != 0 && old.Version != version {
				return refusal{records.ErrConflict}
			}
		}
		_, err := w.c.exec("DELETE FROM records WHERE key = ?", key)
		return err
	}})
}

// Keys implements [records.Store].
func (r *Records) Keys(ctx context.Context, prefix string) (found []string, err error) {
	end, bounded := after(prefix)
	rows, err := r.keys.QueryContext(ctx, prefix, !bounded, end, r.now())
	if err != nil {
		return nil, explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = []string{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, explain(err)
		}
		found = append(found, key)
	}
	return found, explain(rows.Err())
}

// after returns the first string after all with prefix, and false when there is none.
func after(prefix string) (string, bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}

// put replaces old, whose version is 0 when it does not exist, by rec, and returns the new version.
func (r *Records) put(w *writer, old, rec records.Record, now int64, ttl time.Duration) (version int64, err error) {
	if rec.Owner != "" && (old.Version == 0 || old.Owner != rec.Owner) {
		if err := r.room(w, rec, now); err != nil {
			return 0, err
		}
	}
	value := rec.Value
	if value == nil {
		value = []byte{} // else it would be NULL
	}
	// The old record is removed and not updated, so that the triggers for insertion and removal are enough to count
	// what the owners have.
	if _, err := w.c.exec("DELETE FROM records WHERE key = ?", rec.Key); err != nil {
		return 0, err
	}
	// It is random, so that it differs from the version of any earlier record under the key.
	version = 1 + rand.Int64N(math.MaxInt64-1)
	_, err = w.c.exec("INSERT INTO records (key, owner, value, version, expires, subjects) VALUES (?, ?, ?, ?, ?, ?)",
		rec.Key, rec.Owner, value, version, now+int64(ttl), []byte(rec.Subjects))
	return version, err
}

// room refuses with a QuotaError if rec exceeds what its owner has left. It first removes expired records of the owner
// if that can make enough room.
func (r *Records) room(w *writer, rec records.Record, now int64) error {
	left := func() (int64, error) {
		taken, err := w.c.number("SELECT bytes FROM record_owners WHERE owner = ?", rec.Owner)
		return r.file.cfg.OwnerBytes - taken - rec.Size(), err
	}
	n, err := left()
	if err != nil || n >= 0 {
		return err
	}
	removed, err := w.c.exec("DELETE FROM records WHERE owner = ? AND owner <> '' AND expires <= ?", rec.Owner, now)
	if err != nil {
		return err
	}
	if removed > 0 {
		if n, err = left(); err != nil || n >= 0 {
			return err
		}
	}
	first, err := w.c.number("SELECT min(expires) FROM records WHERE owner = ? AND owner <> ''", rec.Owner)
	if err != nil {
		return err
	}
	return refusal{&records.QuotaError{
		Owner: rec.Owner, Bytes: r.file.cfg.OwnerBytes, RetryAfter: time.Duration(max(0, first-now)),
	}}
}

// now is in nanoseconds, because the lifetime of a record can be shorter than the precision of entries.
func (r *Records) now() int64 { return r.time().UnixNano() }

// sweptAtOnce is how many are removed in one transaction, for which charges wait.
const sweptAtOnce = 500

// sweep removes records that have expired.
func (r *Records) sweep() error {
	var one int
	err := r.file.read.QueryRowContext(context.Background(), "SELECT 1 FROM records WHERE expires <= ? LIMIT 1",
		r.now()).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // nothing to write, so no transaction
	}
	for err == nil {
		var n int64
		err = r.file.writer.do(&task{apply: func(w *writer) (err error) {
			n, err = w.c.exec("DELETE FROM records WHERE no IN (SELECT no FROM records WHERE expires <= ? LIMIT ?)",
				r.now(), sweptAtOnce)
			return err
		}})
		if n < sweptAtOnce {
			break
		}
	}
	return explain(err)
}
