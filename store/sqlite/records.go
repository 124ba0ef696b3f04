package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/socialdata/socialdata/store/records"
)

// Records is the records in the file. A write is durable when it returns, and shares its transaction with charges.
type Records struct {
	db   *DB
	get  *sql.Stmt
	keys *sql.Stmt
}

var _ records.Store = (*Records)(nil)

func newRecords(ctx context.Context, db *DB) (*Records, error) {
	get, err := db.read.PrepareContext(ctx, "SELECT value FROM records WHERE key = ? AND expires > ?")
	if err != nil {
		return nil, explain(err)
	}
	keys, err := db.read.PrepareContext(ctx,
		"SELECT key FROM records WHERE key >= ? AND (? OR key < ?) AND expires > ? ORDER BY key")
	return &Records{db: db, get: get, keys: keys}, explain(err)
}

// Get implements [records.Store].
func (r *Records) Get(ctx context.Context, key string) ([]byte, error) {
	var v []byte
	err := r.get.QueryRowContext(ctx, key, r.now()).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, records.ErrAbsent
	}
	return v, explain(err)
}

// Put implements [records.Store].
func (r *Records) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.db.writer.do(&task{apply: func(w *writer) error { return r.put(w, key, value, ttl) }})
}

// Add implements [records.Store].
func (r *Records) Add(
	ctx context.Context, key string, value []byte, ttl time.Duration,
) (existing []byte, added bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	err = r.db.writer.do(&task{apply: func(w *writer) error {
		var v [1]driver.Value
		found, err := w.c.row("SELECT value FROM records WHERE key = ? AND expires > ?", v[:], key, r.now())
		if err != nil {
			return err
		}
		if added = !found; added {
			return r.put(w, key, value, ttl)
		}
		existing = append([]byte{}, value0(v)...)
		return nil
	}})
	if err != nil {
		return nil, false, err
	}
	return existing, added, nil
}

func value0(v [1]driver.Value) []byte { return value[[]byte](v[0]) }

// Delete implements [records.Store].
func (r *Records) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.db.writer.do(&task{apply: func(w *writer) error {
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

// after returns the first string after all that begin with prefix, and false when there is none.
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

func (r *Records) put(w *writer, key string, value []byte, ttl time.Duration) error {
	if value == nil {
		value = []byte{} // NULL would be no value at all
	}
	_, err := w.c.exec(`
		INSERT INTO records (key, value, expires) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
		key, value, r.now()+int64(ttl))
	return err
}

// now is in nanoseconds: a record may live shorter than what entries count in.
func (r *Records) now() int64 { return r.db.cfg.Now().UnixNano() }

// sweptAtOnce bounds how long a sweep keeps charges waiting.
const sweptAtOnce = 500

// sweep removes records whose time has passed.
func (r *Records) sweep() error {
	var one int
	err := r.db.read.QueryRowContext(context.Background(), "SELECT 1 FROM records WHERE expires <= ? LIMIT 1",
		r.now()).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // nothing to write: leave the disk alone
	}
	for err == nil {
		var n int64
		err = r.db.writer.do(&task{apply: func(w *writer) (err error) {
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
