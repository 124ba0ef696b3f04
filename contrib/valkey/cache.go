package valkey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	valkey "github.com/valkey-io/valkey-go"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Cache is a [cache.Shared] in the server, with a copy of what it has read in the memory of the process. It never fails:
// without the server it misses what memory does not have.
type Cache struct {
	server *Server
	now    func() time.Time
	lease  time.Duration
	codec  codec

	memory *cache.Memory
	near   time.Duration
	seen   *lru.Cache[string, time.Time] // when the server has last been asked for what memory has
	keys   *lru.Cache[string, string]    // of entries, by their name in the server
}

var (
	_ cache.Shared = (*Cache)(nil)
	_ cache.Local  = (*Cache)(nil)
)

// CacheConfig says how a [Cache] works. The zero value is ready for use.
type CacheConfig struct {
	// Bytes is how much the memory of the process holds: [cache.DefaultBytes] when 0.
	Bytes int
	// Near is how long the copy in memory is good before the server is asked again: 10 seconds when 0. What another
	// replica replaces is told at once; only where that was lost may a replica answer the old for so long.
	Near time.Duration
	// Lease is how long the others wait for one who has died before one of them takes over: 3 seconds when 0.
	Lease time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// seenKeys is how many keys it is remembered of when they were last asked for. One more is asked for early.
const seenKeys = 1 << 16

// Cache returns a cache in the server.
func (s *Server) Cache(cfg CacheConfig) *Cache {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	seen, _ := lru.New[string, time.Time](seenKeys) // fails on a size below 1 only
	keys, _ := lru.New[string, string](seenKeys)
	c := &Cache{
		server: s, now: cfg.Now, lease: cmp.Or(cfg.Lease, 3*time.Second), codec: newCodec(),
		memory: cache.NewMemory(cache.MemoryConfig{Bytes: cfg.Bytes, Now: cfg.Now}),
		near:   cmp.Or(cfg.Near, 10*time.Second), seen: seen, keys: keys,
	}
	s.work.Go(func() { c.listen(s.running) })
	return c
}

// State says how the cache does: degraded when each replica is alone with its memory.
func (c *Cache) State() schema.HealthState {
	if c.server.lost.Load() {
		return schema.Degraded
	}
	return schema.Healthy
}

// names returns where the entry of a key stands in the server, and where the lease of whoever makes it. What callers have
// asked for does not show; the braces keep both on one node of a cluster.
func (c *Cache) names(key string) (entry, lease string) {
	sum := sha256.Sum256([]byte(key))
	name := "{" + base64.RawURLEncoding.EncodeToString(sum[:]) + "}"
	return c.server.prefix + ":entry:" + name, c.server.prefix + ":lease:" + name
}

// Get implements [cache.Store].
func (c *Cache) Get(ctx context.Context, key string) (*cache.Entry, error) {
	here, current, _ := c.here(key)
	if current {
		return here, nil
	}
	name, _ := c.names(key)
	text := ""
	err := c.server.do(ctx, func(ctx context.Context, client valkey.Client) (err error) {
		text, err = client.Do(ctx, client.B().Get().Key(name).Build()).ToString()
		return err
	})
	if err != nil {
		return here, nil
	}
	entry, _ := c.newer(ctx, key, text)
	return entry, nil
}

// here returns what memory has, whether the server need not be asked for it, and whether it is within its time to live.
func (c *Cache) here(key string) (entry *cache.Entry, current, good bool) {
	entry, good = c.memory.Look(key)
	at, known := c.seen.Get(key)
	return entry, entry != nil && known && c.now().Sub(at) < c.near, good
}

// newer returns what the server has under key, or what memory has if that was read later, and whether it is within its
// time to live; and keeps it in memory. A text that cannot be read is none.
func (c *Cache) newer(ctx context.Context, key, text string) (entry *cache.Entry, good bool) {
	name, _ := c.names(key)
	c.current(key, name)
	here, good := c.memory.Look(key)
	if text == "" {
		return here, good
	}
	there, err := c.codec.decode(text)
	now := c.now()
	switch {
	case err != nil:
		c.server.log.WarnContext(ctx, "an entry of the cache server cannot be read", "error", providers.Loggable(err), "request_id", operation.RequestID(ctx))
		return here, good
	case !now.Before(there.gone()), here != nil && here.FetchedAt.After(there.Entry.FetchedAt):
		return here, good
	}
	_ = c.memory.Set(ctx, key, &there.Entry, there.Expires.Sub(now))
	return &there.Entry, now.Before(there.Expires)
}

// Set implements [cache.Store].
func (c *Cache) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	_ = c.memory.Set(ctx, key, e, ttl)
	name, _ := c.names(key)
	c.current(key, name)
	s := &stored{*e, c.now().Add(ttl)}
	kept := s.gone().Sub(c.now())
	if kept < time.Millisecond {
		return nil
	}
	text, err := c.codec.encode(s)
	if err != nil {
		return err
	}
	err = c.server.do(ctx, func(ctx context.Context, client valkey.Client) error {
		return c.put(ctx, client, name, text, kept)
	})
	if errors.Is(err, errLost) {
		return nil // memory has it
	}
	return err
}
