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
}

var _ cache.Shared = (*Cache)(nil)

// CacheConfig says how a [Cache] works. The zero value is ready for use.
type CacheConfig struct {
	// Bytes is how much the memory of the process holds: [cache.DefaultBytes] when 0.
	Bytes int
	// Near is how long the copy in memory is good before the server is asked again: 10 seconds when 0. So long may a
	// replica answer what another one has replaced.
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
	return &Cache{
		server: s, now: cfg.Now, lease: cmp.Or(cfg.Lease, 3*time.Second), codec: newCodec(),
		memory: cache.NewMemory(cache.MemoryConfig{Bytes: cfg.Bytes, Now: cfg.Now}),
		near:   cmp.Or(cfg.Near, 10*time.Second), seen: seen,
	}
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
	here, current := c.here(ctx, key)
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
	return c.newer(ctx, key, here, text), nil
}

// here returns what memory has, and whether the server need not be asked.
func (c *Cache) here(ctx context.Context, key string) (entry *cache.Entry, current bool) {
	entry, _ = c.memory.Get(ctx, key)
	at, known := c.seen.Get(key)
	return entry, entry != nil && known && c.now().Sub(at) < c.near
}

// newer returns what the server has under key, or what memory has if that was read later, and keeps it in memory. A text
// that cannot be read is none.
func (c *Cache) newer(ctx context.Context, key string, here *cache.Entry, text string) *cache.Entry {
	c.seen.Add(key, c.now())
	if text == "" {
		return here
	}
	there, err := c.codec.decode(text)
	switch {
	case err != nil:
		c.server.log.WarnContext(ctx, "an entry of the cache server cannot be read", "error", providers.Loggable(err), "request_id", operation.RequestID(ctx))
		return here
	case !c.now().Before(there.Expires), here != nil && here.FetchedAt.After(there.Entry.FetchedAt):
		return here
	}
	_ = c.memory.Set(ctx, key, &there.Entry, there.Expires.Sub(c.now()))
	return &there.Entry
}

// Set implements [cache.Store].
func (c *Cache) Set(ctx context.Context, key string, e *cache.Entry, ttl time.Duration) error {
	_ = c.memory.Set(ctx, key, e, ttl)
	c.seen.Add(key, c.now())
	if ttl < time.Millisecond {
		return nil
	}
	text, err := c.codec.encode(&stored{*e, c.now().Add(ttl)})
	if err != nil {
		return err
	}
	name, _ := c.names(key)
	err = c.server.do(ctx, func(ctx context.Context, client valkey.Client) error {
		return client.Do(ctx, client.B().Set().Key(name).Value(text).Px(ttl).Build()).Error()
	})
	if errors.Is(err, errLost) {
		return nil // memory has it
	}
	return err
}
