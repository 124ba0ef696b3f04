package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// maxLease is how long a replica can accept a key without asking the database. A revocation waits as long.
const maxLease = time.Second

// Keys is the accounts and keys in the database.
type Keys struct {
	db    *DB
	cache *lru.Cache[keys.Hash, leased]
	uses  *keys.Uses // on this replica

	flights singleflight.Group // lookups in progress, by hash
	inUse   chan keys.Hash     // those whose lease is about to end
}

var (
	_ keys.Store = (*Keys)(nil)
	_ keys.Admin = (*Keys)(nil)
)

// leased is a cached key. The database had it at the time asked or later.
type leased struct {
	keys.Key
	asked time.Time
	again *atomic.Bool // whether it is being read again
}

// valid reports whether the lease has not ended by either clock: the monotonic one stops while a machine is suspended,
// and the other can be set back.
func (k leased) valid(lease time.Duration) bool {
	now := time.Now()
	wall := now.Round(0).Sub(k.asked.Round(0))
	return now.Sub(k.asked) < lease && wall < lease && wall >= 0
}

func newKeys(db *DB) *Keys {
	// New fails only for a size below 1.
	cache, _ := lru.New[keys.Hash, leased](db.cfg.CachedKeys)
	return &Keys{
		db: db, cache: cache, uses: keys.NewUses(db.cfg.CachedKeys, 0), inUse: make(chan keys.Hash, refreshedAtOnce),
	}
}

// Lookup implements [keys.Store]. A key that was found is cached for less than a second, counted from before the query.
// Unknown and revoked keys are not cached, so that both cost the same. Concurrent lookups of the same key share a
// query, and a key in use is read again before its lease ends, so that no caller waits for that.
func (s *Keys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := errors.Join(ctx.Err(), s.db.unserved()); err != nil {
		return keys.Key{}, err
	}
	if k, ok := s.remembered(h); ok {
		return k, nil
	}
	asked := s.flights.DoChan(string(h[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.db.cfg.Patience)
		defer cancel()
		return s.ask(ctx, h)
	})
	select {
	case <-ctx.Done():
		return keys.Key{}, ctx.Err()
	case got := <-asked:
		k, _ := got.Val.(leased)
		// A shared query may have begun long before this call, and the key may have been revoked since.
		if got.Err == nil && got.Shared && !k.valid(s.db.cfg.lease) {
			k, got.Err = s.ask(ctx, h)
		}
		if got.Err != nil {
			return keys.Key{}, got.Err
		}
		return s.uses.In(k.Key), nil
	}
}

// ask reads a key from the database and caches it.
func (s *Keys) ask(ctx context.Context, h keys.Hash) (leased, error) {
	asked := time.Now()
	found, err := list(ctx, s.db, scanKey, selectKeys+" WHERE (hash = $1 OR former_hash = $1) AND revoked_at IS NULL",
		h[:])
	if err != nil {
		return leased{}, err
	}
	if len(found) == 0 || !found[0].Accepts(h, s.now()) {
		s.cache.Remove(h)
		return leased{}, keys.ErrUnknown
	}
	k := leased{found[0], asked, new(atomic.Bool)}
	s.cache.Add(h, k)
	return k, nil
}

// remembered returns the cached key with that hash while its lease is valid.
func (s *Keys) remembered(h keys.Hash) (keys.Key, bool) {
	k, ok := s.cache.Get(h)
	if !ok || !k.valid(s.db.cfg.lease) || !k.Accepts(h, s.now()) {
		return keys.Key{}, false
	}
	if time.Since(k.asked) > s.db.cfg.lease/4 && k.again.CompareAndSwap(false, true) {
		select {
		case s.inUse <- h:
		default: // it is read when its lease has ended
		}
	}
	return s.uses.In(k.Key), true
}

// refresh reads keys that are in use again before their lease ends, all of them together, until ctx ends.
func (s *Keys) refresh(ctx context.Context) {
	for {
		var hashes [][]byte
		select {
		case <-ctx.Done():
			return
		case h := <-s.inUse:
			hashes = append(hashes, h[:])
		}
		for range len(s.inUse) {
			h := <-s.inUse
			hashes = append(hashes, h[:])
		}
		asked := time.Now()
		limited, cancel := context.WithTimeout(ctx, s.db.cfg.lease)
		found, err := list(limited, s.db, scanKey,
			selectKeys+" WHERE (hash = ANY ($1) OR former_hash = ANY ($1)) AND revoked_at IS NULL", hashes)
		if cancel(); err != nil {
			continue // the next calls with these keys report the error
		}
		for _, h := range hashes {
			s.cache.Remove(keys.Hash(h))
		}
		for _, k := range found {
			s.cache.Add(k.Hash, leased{k, asked, new(atomic.Bool)})
			if k.Former != nil {
				s.cache.Add(k.Former.Hash, leased{k, asked, new(atomic.Bool)})
			}
		}
	}
}

// Touch implements [keys.Store].
func (s *Keys) Touch(id string, at time.Time) {
	if keepable(id) {
		s.uses.Note(id, at)
	}
}

// refreshedAtOnce is how many keys in use are read in one statement.
const refreshedAtOnce = 1000

// flushedAtOnce is how many keys one statement writes.
const flushedAtOnce = 1000

// flush writes when keys were last used. What could not be written is written the next time.
func (s *Keys) flush(ctx context.Context) error {
	return s.uses.Flush(flushedAtOnce, func(part []string, used map[string]time.Time) error {
		at := make([]int64, len(part))
		for i, id := range part {
			at[i] = used[id].UnixMicro()
		}
		return s.db.retry(ctx, func(bool) error {
			// Locked in order, so that two replicas that write the same keys do not deadlock.
			_, err := s.db.pool.Exec(ctx, s.db.sql(`
				WITH locked AS MATERIALIZED (
					SELECT no, u.at FROM @keys k JOIN unnest($1::text[], $2::bigint[]) AS u (id, at) ON u.id = k.id
					WHERE coalesce(last_used_at, 0) < u.at ORDER BY no FOR NO KEY UPDATE OF k
				)
				UPDATE @keys k SET last_used_at = greatest(last_used_at, locked.at) FROM locked WHERE k.no = locked.no`),
				part, at)
			return err
		})
	})
}

const (
	selectKeys         = "SELECT " + keyColumns
	selectNumberedKeys = "SELECT no, " + keyColumns
)

const keyColumns = `
	id, account, name, prefix, hash, environment, created_at, last_used_at, revoked_at, capacity, refill, day_cap, total_cap,
	manage, bounds, former_hash, former_until FROM @keys`

func scanKey(row pgx.CollectableRow) (keys.Key, error) {
	var (
		k             keys.Key
		hash, former  []byte
		created       int64
		used, revoked *int64
		until         *int64
		capacity      *int64
		refill        *float64
		bounds        *string
	)
	err := row.Scan(&k.ID, &k.Account, &k.Name, &k.Prefix, &hash, &k.Environment, &created, &used, &revoked, &capacity,
		&refill, &k.DayCap, &k.TotalCap, &k.Manage, &bounds, &former, &until)
	if err == nil {
		k.Bounds, err = bookkeeping.DecodeBounds(bounds)
	}
	copy(k.Hash[:], hash)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromMicros(created), maybeTime(used), maybeTime(revoked)
	if capacity != nil && refill != nil {
		k.Rate = &keys.Rate{Capacity: *capacity, Refill: *refill}
	}
	if former != nil && until != nil {
		k.Former = &keys.Former{Until: fromMicros(*until)}
		copy(k.Former.Hash[:], former)
	}
	return k, err
}
