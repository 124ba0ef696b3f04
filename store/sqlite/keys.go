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
	file   *file
	lookup *sql.Stmt
	cache  *lru.Cache[keys.Hash, cachedKey]
	uses   *keys.Uses

	changing sync.Mutex // held from reading a key until writing it
}

var (
	_ keys.Store = (*Keys)(nil)
	_ keys.Admin = (*Keys)(nil)
)

// cachedKey is a key in memory. It is valid in the epoch in which it was read.
type cachedKey struct {
	keys.Key
	epoch epoch
}

func newKeys(ctx context.Context, f *file) (*Keys, error) {
	// New fails only for a size below 1.
	cache, _ := lru.New[keys.Hash, cachedKey](f.cfg.CachedKeys)
	k := &Keys{file: f, cache: cache, uses: keys.NewUses(f.cfg.CachedKeys, f.cfg.mostUses)}
	var err error
	k.lookup, err = f.read.PrepareContext(ctx, selectKeys+` WHERE no IN (
		SELECT no FROM keys WHERE hash = ?1 AND revoked_at IS NULL
		UNION ALL SELECT no FROM keys WHERE former_hash = ?1 AND revoked_at IS NULL)`)
	return k, explain(err)
}

// Lookup implements [keys.Store].
func (s *Keys) Lookup(ctx context.Context, h keys.Hash) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	epoch, err := s.file.epoch()
	if err != nil {
		return keys.Key{}, err
	}
	if k, ok := s.cache.Get(h); ok && k.epoch == epoch && !s.file.cfg.Admin && k.Accepts(h, s.now()) {
		return s.uses.In(k.Key), nil
	}
	// Unknown and revoked keys are not cached, so that both cost the same query.
	k, err := scanKey(s.lookup.QueryRowContext(ctx, h[:]))
	if errors.Is(err, sql.ErrNoRows) || err == nil && !k.Accepts(h, s.now()) {
		return keys.Key{}, keys.ErrUnknown
	}
	if err != nil {
		return keys.Key{}, s.file.explain(ctx, err)
	}
	s.cache.Add(h, cachedKey{Key: k, epoch: epoch})
	return s.uses.In(k), nil
}

// Touch implements [keys.Store].
func (s *Keys) Touch(id string, at time.Time) { s.uses.Note(id, at) }

// flushedAtOnce is how many are written in one transaction, for which charges wait.
const flushedAtOnce = 200

// flush writes when keys were last used. What could not be written is written the next time.
func (s *Keys) flush() error {
	return s.uses.Flush(flushedAtOnce, func(part []string, used map[string]time.Time) error {
		return s.file.writer.do(&task{apply: func(w *writer) error {
			for _, id := range part {
				_, err := w.c.exec("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
					used[id].UnixMicro(), id)
				if err != nil {
					return err
				}
			}
			return nil
		}})
	})
}
