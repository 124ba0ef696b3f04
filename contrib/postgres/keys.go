package postgres

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/keys"
)

// maxLease is how long a replica may accept a key without asking the database for it. A revocation waits as long.
const maxLease = time.Second

// Keys is the accounts and keys in the database.
type Keys struct {
	db    *DB
	cache *lru.Cache[keys.Hash, leased]
	uses  *keys.Uses // here
}

var (
	_ keys.Store = (*Keys)(nil)
	_ keys.Admin = (*Keys)(nil)
)

// leased is a key that the database had when it was asked, at the time asked or later.
type leased struct {
	keys.Key
	asked time.Time
}

// valid tells whether the lease lasts. It goes by both clocks: the monotonic one stands still while a machine is
// suspended, and the other can be set back.
func (k leased) valid(lease time.Duration) bool {
	now := time.Now()
	wall := now.Round(0).Sub(k.asked.Round(0))
	return now.Sub(k.asked) < lease && wall < lease && wall >= 0
}

func newKeys(db *DB) *Keys {
	// New fails on a size below 1 only.
	cache, _ := lru.New[keys.Hash, leased](db.cfg.CachedKeys)
	return &Keys{db: db, cache: cache, uses: keys.NewUses(db.cfg.CachedKeys, 0)}
}

// Lookup implements [keys.Store]. A key that was found is remembered for less than a second, counted from when the
// database was asked; unknown and revoked ones are not, so that both cost the same.
func (s *Keys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	if k, ok := s.remembered(h); ok {
		return k, nil
	}
	asked := time.Now()
	found, err := list(ctx, s.db, scanKey, selectKeys+" WHERE hash = $1 AND revoked_at IS NULL", h[:])
	if err != nil {
		return keys.Key{}, err
	}
	if len(found) == 0 {
		return keys.Key{}, keys.ErrUnknown
	}
	s.cache.Add(h, leased{found[0], asked})
	return s.uses.In(found[0]), nil
}

// remembered returns the key with that hash while its lease lasts.
func (s *Keys) remembered(h keys.Hash) (keys.Key, bool) {
	k, ok := s.cache.Get(h)
	if !ok || !k.valid(s.db.cfg.lease) {
		return keys.Key{}, false
	}
	return s.uses.In(k.Key), true
}

// Touch implements [keys.Store].
func (s *Keys) Touch(id string, at time.Time) {
	if keepable(id) {
		s.uses.Note(id, at)
	}
}

// flushedAtOnce is how many keys one statement writes.
const flushedAtOnce = 1000

// flush writes when keys were last used. What could not be written waits for the next time.
func (s *Keys) flush(ctx context.Context) error {
	return s.uses.Flush(flushedAtOnce, func(part []string, used map[string]time.Time) error {
		at := make([]int64, len(part))
		for i, id := range part {
			at[i] = used[id].UnixMicro()
		}
		return s.db.retry(ctx, func(bool) error {
			// Locked in order: two replicas that write the same keys must not wait for each other.
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
	id, account, name, prefix, hash, environment, created_at, last_used_at, revoked_at, capacity, refill, day_cap, total_cap
	FROM @keys`

func scanKey(row pgx.CollectableRow) (keys.Key, error) {
	var (
		k             keys.Key
		hash          []byte
		created       int64
		used, revoked *int64
		capacity      *int64
		refill        *float64
	)
	err := row.Scan(&k.ID, &k.Account, &k.Name, &k.Prefix, &hash, &k.Environment, &created, &used, &revoked, &capacity,
		&refill, &k.DayCap, &k.TotalCap)
	copy(k.Hash[:], hash)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromMicros(created), maybeTime(used), maybeTime(revoked)
	if capacity != nil && refill != nil {
		k.Rate = &keys.Rate{Capacity: *capacity, Refill: *refill}
	}
	return k, err
}
