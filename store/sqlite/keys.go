package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/socialdata/socialdata/keys"
)

// Keys is the accounts and keys in the file.
type Keys struct {
	db     *DB
	lookup *sql.Stmt
	cache  *lru.Cache[keys.Hash, cachedKey]
	latest *lru.Cache[string, time.Time] // when keys were last used, by id, written or not

	crowded chan struct{} // asks for a flush before its time
	mu      sync.Mutex
	used    map[string]time.Time // by key, not written yet
	maxUsed int
}

var _ keys.Store = (*Keys)(nil)

// cachedKey is what is remembered of a key. It counts while the epoch is the one it was read in.
type cachedKey struct {
	keys.Key
	epoch epoch
}

// maxUsed bounds how many keys wait for their time of use to be written. Beyond it a time is dropped: the key's next
// call brings another.
const maxUsed = 65_536

func newKeys(ctx context.Context, db *DB) (*Keys, error) {
	// New fails on a size below 1 only.
	cache, _ := lru.New[keys.Hash, cachedKey](db.cfg.CachedKeys)
	latest, _ := lru.New[string, time.Time](db.cfg.CachedKeys)
	k := &Keys{db: db, cache: cache, latest: latest, crowded: make(chan struct{}, 1), used: map[string]time.Time{}, maxUsed: maxUsed}
	var err error
	k.lookup, err = db.read.PrepareContext(ctx, selectKeys+" WHERE hash = ? AND revoked_at IS NULL")
	return k, explain(err)
}

// Lookup implements [keys.Store].
func (s *Keys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	epoch, err := s.db.lock.epoch()
	if err != nil {
		return keys.Key{}, err
	}
	if k, ok := s.cache.Get(h); ok && k.epoch == epoch && !s.db.cfg.Admin {
		return s.lastUsed(k.Key), nil
	}
	// Unknown and revoked keys are not remembered, so that both cost the same look into the file.
	k, err := scanKey(s.lookup.QueryRowContext(ctx, h[:]))
	if errors.Is(err, sql.ErrNoRows) {
		return keys.Key{}, keys.ErrUnknown
	}
	if err != nil {
		return keys.Key{}, explain(err)
	}
	s.cache.Add(h, cachedKey{Key: k, epoch: epoch})
	return s.lastUsed(k), nil
}

// lastUsed returns k with the latest time of use that is known.
func (s *Keys) lastUsed(k keys.Key) keys.Key {
	if at, ok := s.latest.Get(k.ID); ok && (k.LastUsedAt == nil || k.LastUsedAt.Before(at)) {
		k.LastUsedAt = &at
	}
	return k
}

// Touch implements [keys.Store].
func (s *Keys) Touch(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = at.UTC().Truncate(time.Microsecond)
	if latest, ok := s.latest.Get(id); !ok || latest.Before(at) {
		s.latest.Add(id, at)
	}
	before, ok := s.used[id]
	if !ok && len(s.used) >= s.maxUsed || ok && !before.Before(at) {
		return
	}
	s.used[id] = at
	if len(s.used) == s.maxUsed/2 {
		select {
		case s.crowded <- struct{}{}:
		default: // asked already
		}
	}
}

// flushedAtOnce bounds how long a flush keeps charges waiting.
const flushedAtOnce = 200

// flush writes when keys were last used.
func (s *Keys) flush() error {
	s.mu.Lock()
	used := s.used
	s.used = map[string]time.Time{}
	s.mu.Unlock()
	ids := make([]string, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	for len(ids) > 0 {
		n := min(len(ids), flushedAtOnce)
		err := s.db.writer.do(&task{apply: func(w *writer) error {
			for _, id := range ids[:n] {
				_, err := w.c.exec("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
					used[id].UnixMicro(), id)
				if err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

const selectKeys = `
	SELECT id, account, name, prefix, hash, environment, created_at, last_used_at, revoked_at, capacity, refill, day_cap,
		total_cap
	FROM keys`

func scanKey(row interface{ Scan(...any) error }) (keys.Key, error) {
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
	if err != nil {
		return keys.Key{}, err
	}
	copy(k.Hash[:], hash)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromMicros(created), maybeTime(used), maybeTime(revoked)
	if capacity != nil && refill != nil {
		k.Rate = &keys.Rate{Capacity: *capacity, Refill: *refill}
	}
	return k, nil
}

func maybeTime(micros *int64) *time.Time {
	if micros == nil {
		return nil
	}
	return new(fromMicros(*micros))
}
