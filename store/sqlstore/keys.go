package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Keys is the accounts and keys in a database.
type Keys struct {
	db      *DB
	uses    *keys.Uses // in this process
	leased  *lru.Cache[keys.Hash, leased]
	flights singleflight.Group // look-ups in progress, by hash
}

var (
	_ keys.Store = (*Keys)(nil)
	_ keys.Admin = (*Keys)(nil)
)

func newKeys(db *DB) *Keys {
	cache, _ := lru.New[keys.Hash, leased](db.cfg.CachedKeys) // it fails only for a size below 1
	return &Keys{db: db, uses: keys.NewUses(db.cfg.CachedKeys, db.cfg.MaxUses), leased: cache}
}

// Keys returns the accounts and keys.
func (db *DB) Keys() *Keys { return db.keys }

// leased is a key that was read. The database had it at the time asked or later.
type leased struct {
	keys.Key
	asked time.Time
}

// valid reports whether the lease has not ended by either clock: the monotonic one stops while a machine is suspended,
// and the other can be set back.
func (k leased) valid(lease time.Duration) bool {
	now := time.Now()
	wall := now.Round(0).Sub(k.asked.Round(0))
	return now.Sub(k.asked) < lease && wall < lease && wall >= 0
}

// Lookup implements [keys.Store]. Unknown and revoked keys are not kept for a lease, so that both cost the same.
// Concurrent look-ups of the same key share a query if there are leases.
func (s *Keys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := errors.Join(ctx.Err(), s.db.serveable()); err != nil {
		return keys.Key{}, err
	}
	k, err := s.find(ctx, h)
	if err == nil && !k.Accepts(h, s.now()) {
		err = keys.ErrUnknown
	}
	if err != nil {
		return keys.Key{}, err
	}
	return s.uses.In(k.Key), nil
}

// lookupWait is how long a look-up that callers share takes at most.
const lookupWait = 10 * time.Second

// find returns the key with that secret or former secret.
func (s *Keys) find(ctx context.Context, h keys.Hash) (leased, error) {
	lease := s.db.cfg.KeyLease
	if lease == 0 {
		return s.ask(ctx, h)
	}
	if k, ok := s.leased.Get(h); ok && k.valid(lease) {
		return k, nil
	}
	flight := s.flights.DoChan(string(h[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupWait)
		defer cancel()
		k, err := s.ask(ctx, h)
		if err == nil {
			s.leased.Add(h, k)
		}
		return k, err
	})
	select {
	case <-ctx.Done():
		return leased{}, ctx.Err()
	case found := <-flight:
		k, _ := found.Val.(leased)
		if found.Err == nil && found.Shared && !k.valid(lease) { // the query may have begun long before this call
			return s.ask(ctx, h)
		}
		return k, found.Err
	}
}

// ask reads a key from the database.
func (s *Keys) ask(ctx context.Context, h keys.Hash) (leased, error) {
	asked := time.Now()
	k, err := one(ctx, s.db, scanKey, selectKeys+` WHERE no IN (
		SELECT no FROM @keys WHERE hash = ? AND revoked_at IS NULL
		UNION ALL SELECT no FROM @keys WHERE former_hash = ? AND revoked_at IS NULL)`, h[:], h[:])
	if errors.Is(err, sql.ErrNoRows) {
		err = keys.ErrUnknown
	}
	return leased{k, asked}, err
}

// Touch implements [keys.Store].
func (s *Keys) Touch(id string, at time.Time) {
	if storable(id) {
		s.uses.Note(id, at)
	}
}

// flushedAtOnce is how many keys are written in one transaction, for which others wait.
const flushedAtOnce = 200

// flush writes when keys were last used. What could not be written is written the next time.
func (s *Keys) flush(ctx context.Context) error {
	return s.uses.Flush(flushedAtOnce, func(part []string, used map[string]time.Time) error {
		var rows [][]any
		for _, id := range part {
			rows = append(rows, []any{id, used[id].UnixMicro()})
		}
		return s.db.write(ctx, func(t tx) error {
			table, args := t.rows("tn", rows)
			// Two processes that write the same keys lock them in the same order.
			if err := t.each([]any{new(int64)}, nil, "SELECT no FROM @keys JOIN "+table+" ON id = c1 ORDER BY no {lock}",
				args...); err != nil {
				return err
			}
			return t.exec("UPDATE @keys SET last_used_at = c2 FROM "+table+" WHERE id = c1 AND coalesce(last_used_at, 0) < c2",
				args...)
		})
	})
}

// now returns the time with the precision of the database. It is that of the process: only times within a process are
// compared with it, and the ends of rotations.
func (s *Keys) now() time.Time {
	now := time.Now
	if s.db.cfg.Now != nil {
		now = s.db.cfg.Now
	}
	return now().UTC().Truncate(time.Microsecond)
}

const selectKeys = "SELECT " + keyColumns + " FROM @keys"

// keyColumns are the columns of a key; those that can change are first.
const keyColumns = "prefix, hash, former_hash, former_until, capacity, refill, day_cap, total_cap, manage, bounds, " +
	"id, account, name, environment, created_at, last_used_at, revoked_at"

// keyRow is what keyColumns are scanned into.
type keyRow struct {
	key                  keys.Key
	hash, former         []byte
	until, used, revoked *int64
	capacity             *int64
	refill               *float64
	manage, created      int64
	bounds               *string
}

func (r *keyRow) into() []any {
	k := &r.key
	return []any{
		&k.Prefix, &r.hash, &r.former, &r.until, &r.capacity, &r.refill, &k.DayCap, &k.TotalCap, &r.manage, &r.bounds,
		&k.ID, &k.Account, &k.Name, &k.Environment, &r.created, &r.used, &r.revoked,
	}
}

func (r *keyRow) read() (k keys.Key, err error) {
	k = r.key
	copy(k.Hash[:], r.hash)
	if r.former != nil && r.until != nil {
		k.Former = &keys.Former{Until: fromMicros(*r.until)}
		copy(k.Former.Hash[:], r.former)
	}
	if r.capacity != nil && r.refill != nil {
		k.Rate = &keys.Rate{Capacity: *r.capacity, Refill: *r.refill}
	}
	k.Manage = r.manage != 0
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromMicros(r.created), maybeTime(r.used), maybeTime(r.revoked)
	k.Bounds, err = bookkeeping.DecodeBounds(r.bounds)
	return k, err
}

func scanKey(r row) (keys.Key, error) {
	var k keyRow
	if err := r.Scan(k.into()...); err != nil {
		return keys.Key{}, err
	}
	return k.read()
}

// changeable returns the columns of a key that can change.
func changeable(k keys.Key) []any {
	var former, until, capacity, refill any
	if k.Former != nil {
		former, until = k.Former.Hash[:], k.Former.Until.UnixMicro()
	}
	if k.Rate != nil {
		capacity, refill = k.Rate.Capacity, k.Rate.Refill
	}
	return []any{
		k.Prefix, k.Hash[:], former, until, capacity, refill, k.DayCap, k.TotalCap, bit(k.Manage),
		bookkeeping.EncodeBounds(k.Bounds),
	}
}

// insertKey writes a key, and that one with a cap has spent nothing.
func (t tx) insertKey(k keys.Key) error {
	err := t.exec("INSERT INTO @keys ("+keyColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append(changeable(k), k.ID, k.Account, k.Name, string(k.Environment), k.CreatedAt.UnixMicro(), micros(k.LastUsedAt),
			micros(k.RevokedAt))...)
	if err == nil && (k.DayCap != nil || k.TotalCap != nil) {
		err = t.exec(
			"INSERT INTO @spending (account, key, total, day, today) SELECT no, ?, 0, 0, 0 FROM @accounts WHERE id = ?",
			k.ID,
			k.Account,
		)
	}
	return err
}

// maybeTime and micros convert a time that may be nil.
func maybeTime(n *int64) *time.Time {
	if n == nil {
		return nil
	}
	return new(fromMicros(*n))
}

func micros(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMicro())
}
