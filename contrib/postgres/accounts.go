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
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// CreateAccount makes an account. It fails with keys.ErrTaken when there is one with that name, and with
// keys.ErrInvalid when the name is invalid.
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
			return err // an earlier attempt has made it: no other account has its id
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

// accountThere returns the time, and whether there is an account with that id.
func (s *Keys) accountThere(ctx context.Context, t *tx, id string) (now time.Time, there bool, err error) {
	var nanos int64
	err = t.step(ctx, func(q *pgx.Batch) {
		q.Queue("SELECT "+sqlNow, s.db.clock()).QueryRow(func(row pgx.Row) error { return row.Scan(&nanos) })
		q.Queue(s.db.sql("SELECT EXISTS (SELECT 1 FROM @accounts WHERE id = $1)"), id).
			QueryRow(func(row pgx.Row) error { return row.Scan(&there) })
	})
	return fromNanos(nanos), there, err
}

// insertAccount writes an account whose last entry is last and returns its number. It fails with keys.ErrTaken when the
// name or the id is the name or the id of an existing account: then one text would mean two accounts. If another
// transaction is just making such an account, it fails with the error of the table, and the next attempt finds that
// account.
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

// CreateKey implements [keys.Admin].
func (s *Keys) CreateKey(ctx context.Context, n keys.NewKey) (secret string, k keys.Key, err error) {
	a, err := s.Account(ctx, n.Account)
	if err != nil {
		return "", keys.Key{}, err
	}
	secret, k, err = n.Mint(a.ID, s.now())
	if err != nil {
		return "", keys.Key{}, err
	}
	if err := s.createKey(ctx, k, n.Unique); err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// createKey writes a key. It fails with keys.ErrTaken when there is another key with its id, or with its name if unique
// is set. If there is the same key, an earlier attempt was committed.
func (s *Keys) createKey(ctx context.Context, k keys.Key, unique bool) error {
	return s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var hash []byte
		if unique {
			if err := s.unlessNamed(ctx, t, k); err != nil {
				return err
			}
		}
		err := t.step(ctx, func(q *pgx.Batch) {
			queueKey(s.db, q, k, credits.Spent{}, new(int64(0)))
			q.Queue(s.db.sql("SELECT hash FROM @keys WHERE id = $1"), k.ID).
				QueryRow(func(row pgx.Row) error { return row.Scan(&hash) })
		})
		if err == nil && !bytes.Equal(hash, k.Hash[:]) {
			err = fmt.Errorf("%w: key %q", keys.ErrTaken, k.ID)
		}
		return t.end(ctx, err)
	})
}

// unlessNamed returns keys.ErrTaken when another key of the account has the name of k. Keys with unique names are
// created one after the other.
func (s *Keys) unlessNamed(ctx context.Context, t *tx, k keys.Key) error {
	taken := false
	err := t.step(ctx, func(q *pgx.Batch) {
		q.Queue(s.db.sql("SELECT 1 FROM @accounts WHERE id = $1 FOR NO KEY UPDATE"), k.Account)
		q.Queue(s.db.sql(`
			SELECT EXISTS (SELECT 1 FROM @keys WHERE account = $1 AND name = $2 AND id <> $3 AND revoked_at IS NULL)`),
			k.Account, k.Name, k.ID).QueryRow(func(row pgx.Row) error { return row.Scan(&taken) })
	})
	if err == nil && taken {
		err = fmt.Errorf("%w: key %q", keys.ErrTaken, k.Name)
	}
	return err
}

// queueKey writes a key and, when it has a cap, what it has spent. An existing key is not changed; inserted counts
// those that did not exist.
func queueKey(db *DB, q *pgx.Batch, k keys.Key, spent credits.Spent, inserted *int64) {
	q.Queue(db.sql(`
		INSERT INTO @keys (prefix, hash, former_hash, former_until, capacity, refill, day_cap, total_cap, manage, bounds, id,
			account, name, environment, created_at, last_used_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (id) DO NOTHING`),
		append(changeable(k), k.ID, k.Account, k.Name, string(k.Environment), k.CreatedAt.UnixMicro(),
			maybeMicros(k.LastUsedAt), maybeMicros(k.RevokedAt))...).
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

// changeable returns the columns of a key that can change, in order.
func changeable(k keys.Key) []any {
	var (
		capacity *int64
		refill   *float64
		former   []byte
		until    *int64
	)
	if k.Rate != nil {
		capacity, refill = &k.Rate.Capacity, &k.Rate.Refill
	}
	if k.Former != nil {
		former, until = k.Former.Hash[:], maybeMicros(&k.Former.Until)
	}
	return []any{
		k.Prefix, k.Hash[:], former, until, capacity, refill, k.DayCap, k.TotalCap, k.Manage,
		bookkeeping.EncodeBounds(k.Bounds),
	}
}

// Change implements [keys.Admin]. It returns when every replica applies the change, like [Keys.Revoke].
func (s *Keys) Change(ctx context.Context, id string, change func(*keys.Key) error) (keys.Key, error) {
	return s.change(ctx, id, func(k *keys.Key) (err error) {
		*k, err = k.Change(change)
		return err
	})
}

// Rotate implements [keys.Admin]. It returns when every replica applies the change, like [Keys.Revoke].
func (s *Keys) Rotate(ctx context.Context, id string, until time.Time) (secret string, k keys.Key, err error) {
	var rotated keys.Key
	k, err = s.change(ctx, id, func(k *keys.Key) (err error) {
		if secret != "" && k.Hash == rotated.Hash {
			return nil // an earlier attempt has written it
		}
		secret, err = k.Rotate(until)
		rotated = *k
		return err
	})
	if err != nil {
		return "", keys.Key{}, err
	}
	return secret, k, nil
}

// change applies do to the key with that id, writes the result, and returns it when no replica has the previous key in
// its cache. do may be called for each attempt.
func (s *Keys) change(ctx context.Context, id string, do func(*keys.Key) error) (keys.Key, error) {
	absent := fmt.Errorf("%w: key %q", keys.ErrAbsent, id)
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	if !keepable(id) {
		return keys.Key{}, absent
	}
	var before keys.Key
	err := s.db.transact(ctx, func(ctx context.Context, t *tx) error {
		var found []keys.Key
		err := t.step(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql(selectKeys+" WHERE id = $1 FOR UPDATE"), id).Query(func(rows pgx.Rows) (err error) {
				found, err = pgx.CollectRows(rows, scanKey)
				return err
			})
		})
		if err == nil && len(found) == 0 {
			err = absent
		}
		if err != nil {
			return err
		}
		k := found[0]
		before = k
		if err := do(&k); err != nil {
			return err
		}
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql(`
				UPDATE @keys SET prefix = $1, hash = $2, former_hash = $3, former_until = $4, capacity = $5, refill = $6,
					day_cap = $7, total_cap = $8, manage = $9, bounds = $10
				WHERE id = $11`), append(changeable(k), id)...)
		})
	})
	if err != nil {
		return keys.Key{}, err
	}
	return s.everywhere(ctx, id, before)
}

// everywhere returns the key with that id when no replica has the previous key in its cache any more.
func (s *Keys) everywhere(ctx context.Context, id string, before keys.Key) (keys.Key, error) {
	committed := time.NewTimer(s.db.cfg.lease)
	defer committed.Stop()
	k, err := s.Key(ctx, id)
	if err != nil {
		return keys.Key{}, err
	}
	s.cache.Remove(k.Hash)
	for _, former := range []*keys.Former{k.Former, before.Former} {
		if former != nil {
			s.cache.Remove(former.Hash)
		}
	}
	select {
	case <-committed.C:
		return k, nil
	case <-ctx.Done():
		return keys.Key{}, fmt.Errorf(
			"postgres: %s is changed, but replicas may still accept the previous key for %v: %w", id,
			s.db.cfg.lease, ctx.Err())
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

// Keys returns the keys of the account with that id or name, or of all accounts when it is "", oldest first, including
// revoked ones.
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

// Revoke revokes the key with that id and returns it. It returns when no replica accepts the key any more: after a
// second, because replicas cache keys for so long. If ctx ends before that, the key is revoked nevertheless. Revoking
// it again changes nothing. It fails with keys.ErrAbsent.
func (s *Keys) Revoke(ctx context.Context, id string) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	if !keepable(id) {
		return keys.Key{}, fmt.Errorf("%w: key %q", keys.ErrAbsent, id)
	}
	at := s.now().UnixMicro()
	err := s.db.transact(ctx, func(ctx context.Context, t *tx) error { // durable, even if the role's setting differs
		return t.commit(ctx, func(q *pgx.Batch) {
			q.Queue(s.db.sql("UPDATE @keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2"), at, id)
		})
	})
	if err != nil {
		return keys.Key{}, err
	}
	return s.everywhere(ctx, id, keys.Key{})
}

// now returns the time with the precision of the database.
func (s *Keys) now() time.Time {
	now := time.Now
	if s.db.cfg.Now != nil {
		now = s.db.cfg.Now
	}
	return now().UTC().Truncate(time.Microsecond)
}
