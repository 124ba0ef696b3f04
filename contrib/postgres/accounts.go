package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// CreateAccount makes an account. It fails with keys.ErrTaken when there is one of that name, and with keys.ErrInvalid
// when the name is none.
func (s *Keys) CreateAccount(ctx context.Context, name string) (keys.Account, error) {
	return s.OpenAccount(ctx, name, 0, "")
}

// OpenAccount implements [keys.Admin].
func (s *Keys) OpenAccount(ctx context.Context, name string, n int64, reason string) (keys.Account, error) {
	a := keys.Account{ID: keys.NewID("acct"), Name: name, CreatedAt: s.now()}
	if err := s.openAccount(ctx, a, n, reason); err != nil {
		return keys.Account{}, err
	}
	return a, nil
}

func (s *Keys) openAccount(ctx context.Context, a keys.Account, n int64, reason string) error {
	if err := cmp.Or(ctx.Err(), keys.CheckOpening(a.Name, n, reason)); err != nil {
		return err
	}
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		now, there, err := s.accountThere(ctx, t, a.ID)
		if err != nil || there && t.unsure {
			return err // an attempt before this one has made it: nobody else has its id
		}
		last := credits.Entry{}
		if n > 0 {
			e := credits.Entry{Account: a.ID, Kind: credits.Granted, Amount: n, Reason: reason, At: now}
			last = e.Next(last)
		}
		no, err := insertAccount(ctx, s.db, t, a, last)
		if err == nil && n > 0 {
			err = t.step(ctx, func(q *pgx.Batch) { q.Queue(s.db.sql(insertEntries), columns([]entry{{no, last}})...) })
		}
		return t.end(ctx, err)
	})
}

// accountThere tells the time, and whether there is an account with that id.
func (s *Keys) accountThere(ctx context.Context, t *tx, id string) (now time.Time, there bool, err error) {
	var nanos int64
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue("SELECT "+sqlNow, s.db.clock()).QueryRow(func(row pgx.Row) error { return row.Scan(&nanos) })
		q.Queue(s.db.sql("SELECT EXISTS (SELECT 1 FROM @accounts WHERE id = $1)"), id).
			QueryRow(func(row pgx.Row) error { return row.Scan(&there) })
	})
	return fromNanos(nanos), there, err
}

// insertAccount writes an account whose last entry is last and returns its number. It fails with keys.ErrTaken when an
// account answers to that name or id: one of them that is another's would make two accounts answer to it. Where another
// is just being made, it fails as the table does, and the next attempt sees which one.
func insertAccount(ctx context.Context, db *DB, t *tx, a keys.Account, last credits.Entry) (no int64, err error) {
	at := int64(0)
	if last.Seq > 0 {
		at = last.At.UnixMicro()
	}
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue(db.sql(`
			INSERT INTO @accounts (id, name, created_at, seq, balance, at, hash)
			SELECT $1, $2, $3, $4, $5, $6, $7
			WHERE NOT EXISTS (SELECT 1 FROM @accounts WHERE id IN ($1, $2) OR name IN ($1, $2))
			RETURNING no`),
			a.ID, a.Name, a.CreatedAt.UnixMicro(), last.Seq, last.Balance, at, last.Hash[:]).
			QueryRow(func(row pgx.Row) error { return row.Scan(&no) })
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%w: account %q", keys.ErrTaken, a.Name)
	}
	return no, err
}

const selectAccounts = "SELECT id, name, created_at FROM @accounts"

func scanAccount(row pgx.CollectableRow) (a keys.Account, err error) {
	var created int64
	err = row.Scan(&a.ID, &a.Name, &created)
	a.CreatedAt = fromMicros(created)
	return a, err
}

// Account returns the account with that id or name, or keys.ErrAbsent.
func (s *Keys) Account(ctx context.Context, idOrName string) (keys.Account, error) {
	a, err := one(ctx, s.db, scanAccount, selectAccounts+" WHERE id = $1 OR name = $1", idOrName)
	if errors.Is(err, keys.ErrAbsent) {
		err = fmt.Errorf("%w: account %q", keys.ErrAbsent, idOrName)
	}
	return a, err
}

// Accounts returns every account, oldest first.
func (s *Keys) Accounts(ctx context.Context) ([]keys.Account, error) {
	return list(ctx, s.db, scanAccount, selectAccounts+" ORDER BY no")
}

// CreateKey makes a key and returns its secret, which is kept nowhere. It fails with keys.ErrAbsent when there is no
// such account, and with keys.ErrInvalid.
func (s *Keys) CreateKey(ctx context.Context, n keys.NewKey) (secret string, k keys.Key, err error) {
	a, err := s.Account(ctx, n.Account)
	if err != nil {
		return "", keys.Key{}, err
	}
	secret, k, err = n.Mint(a.ID, s.now())
	if err != nil {
		return "", keys.Key{}, err
	}
	if err := s.createKey(ctx, k); err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// createKey writes a key. It fails with keys.ErrTaken when there is another with its id; the same one has been written by
// an attempt that nobody heard of.
func (s *Keys) createKey(ctx context.Context, k keys.Key) error {
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var stands []byte
		err := t.step(ctx, func(q *pgx.Batch) {
			queueKey(s.db, q, k, credits.Spent{}, new(int64(0)))
			q.Queue(s.db.sql("SELECT hash FROM @keys WHERE id = $1"), k.ID).
				QueryRow(func(row pgx.Row) error { return row.Scan(&stands) })
		})
		if err == nil && !bytes.Equal(stands, k.Hash[:]) {
			err = fmt.Errorf("%w: key %q", keys.ErrTaken, k.ID)
		}
		return t.end(ctx, err)
	})
}

// queueKey writes a key and, when it has a cap, what it has spent. One that is there already stays as it is; others are
// added to inserted.
func queueKey(db *DB, q *pgx.Batch, k keys.Key, spent credits.Spent, inserted *int64) {
	var capacity *int64
	var refill *float64
	if k.Rate != nil {
		capacity, refill = &k.Rate.Capacity, &k.Rate.Refill
	}
	q.Queue(db.sql(`
		INSERT INTO @keys (id, account, name, prefix, hash, environment, created_at, last_used_at, revoked_at, capacity,
			refill, day_cap, total_cap, manage)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (id) DO NOTHING`),
		k.ID, k.Account, k.Name, k.Prefix, k.Hash[:], string(k.Environment), k.CreatedAt.UnixMicro(),
		maybeMicros(k.LastUsedAt), maybeMicros(k.RevokedAt), capacity, refill, k.DayCap, k.TotalCap, k.Manage).
		Exec(func(tag pgconn.CommandTag) error {
			*inserted += tag.RowsAffected()
			return nil
		})
	if k.DayCap != nil || k.TotalCap != nil {
		q.Queue(db.sql(`
			INSERT INTO @spending (account, key, total, day, today, held)
			SELECT no, $2, $3, $4, $5, 0 FROM @accounts WHERE id = $1 ON CONFLICT (account, key) DO NOTHING`),
			k.Account, k.ID, spent.Total, spent.Day, spent.Today)
	}
}

// Key returns the key with that id, or keys.ErrAbsent.
func (s *Keys) Key(ctx context.Context, id string) (keys.Key, error) {
	if err := s.flush(ctx); err != nil {
		return keys.Key{}, err
	}
	k, err := one(ctx, s.db, scanKey, selectKeys+" WHERE id = $1", id)
	if errors.Is(err, keys.ErrAbsent) {
		err = fmt.Errorf("%w: key %q", keys.ErrAbsent, id)
	}
	return k, err
}

// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first and the
// revoked ones too.
func (s *Keys) Keys(ctx context.Context, account string) ([]keys.Key, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	if account == "" {
		return list(ctx, s.db, scanKey, selectKeys+" ORDER BY no")
	}
	a, err := s.Account(ctx, account)
	if err != nil {
		return nil, err
	}
	return list(ctx, s.db, scanKey, selectKeys+" WHERE account = $1 ORDER BY no", a.ID)
}

// Revoke ends the key with that id for good and returns it. It returns when no replica accepts the key any more, which
// takes a second: that is how long each may remember it. When ctx ends before that, the key is revoked all the same.
// Revoking it again changes nothing. It fails with keys.ErrAbsent.
func (s *Keys) Revoke(ctx context.Context, id string) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	if !keepable(id) {
		return keys.Key{}, fmt.Errorf("%w: key %q", keys.ErrAbsent, id)
	}
	at := s.now().UnixMicro()
	err := s.db.transact(ctx, func(ctx context.Context, t *tx) error { // durable, whatever the role says
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("UPDATE @keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2"), at, id)
		})
	})
	if err != nil {
		return keys.Key{}, err
	}
	committed := time.NewTimer(s.db.cfg.lease)
	defer committed.Stop()
	k, err := s.Key(ctx, id)
	if err != nil {
		return keys.Key{}, err
	}
	s.cache.Remove(k.Hash)
	select {
	case <-committed.C:
		return k, nil
	case <-ctx.Done():
		return keys.Key{}, fmt.Errorf("postgres: %s is revoked, and may still be accepted for %v: %w", id, s.db.cfg.lease, ctx.Err())
	}
}

// now is cut to what the database keeps.
func (s *Keys) now() time.Time {
	now := time.Now
	if s.db.cfg.Now != nil {
		now = s.db.cfg.Now
	}
	return now().UTC().Truncate(time.Microsecond)
}

// list reads all rows of a query.
func list[T any](
	ctx context.Context, db *DB, scan func(pgx.CollectableRow) (T, error), query string, args ...any,
) (found []T, err error) {
	err = db.retry(ctx, func(bool) error {
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

// one reads the only row of a query by a name, or fails with keys.ErrAbsent.
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
