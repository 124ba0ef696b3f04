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
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Cache is a [cache.Shared] in the server, with a copy of the entries that this process has read in its memory. It
// never fails: while the server is unavailable, it only has the entries in memory.
type Cache struct {
	server *Server
	now    func() time.Time
	lease  time.Duration
	codec  codec

	memory *cache.Memory
	near   time.Duration
	seen   *lru.Cache[string, time.Time] // when the entry in memory was last compared with the server
	keys   *lru.Cache[string, string]    // of entries, by their name in the server
}

var (
	_ cache.Shared = (*Cache)(nil)
	_ cache.Local  = (*Cache)(nil)

	_ privacy.MentionCounter = (*Cache)(nil)
)

// CacheConfig configures a [Cache]. The zero value is ready to use.
type CacheConfig struct {
	// Bytes is the size of the cache in memory: [cache.DefaultBytes] when 0.
	Bytes int
	// Near is for how long the copy in memory is used before it is compared with the server: 10 seconds when 0. When
	// another replica replaces an entry, it sends a message; a replica that misses the message may return the old entry
	// for this long.
	Near time.Duration
	// Lease is for how long other callers wait for one that has died before one of them reads instead: 3 seconds when
	// 0.
	Lease time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// seenKeys is the number of keys whose last comparison is remembered. Others are compared earlier than Near requires.
const seenKeys = 1 << 16

// Cache returns a cache in the server.
func (s *Server) Cache(cfg CacheConfig) *Cache {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	seen, _ := lru.New[string, time.Time](seenKeys) // fails only for a size below 1
	keys, _ := lru.New[string, string](seenKeys)
	c := &Cache{
		server: s, now: cfg.Now, lease: cmp.Or(cfg.Lease, 3*time.Second), codec: newCodec(),
		memory: cache.NewMemory(cache.MemoryConfig{Bytes: cfg.Bytes, Now: cfg.Now}),
		near:   cmp.Or(cfg.Near, 10*time.Second), seen: seen, keys: keys,
	}
	s.work.Go(func() { c.listen(s.running) })
	return c
}

// State returns the health of the cache: degraded when each replica only has its own memory.
func (c *Cache) State() schema.HealthState {
	if c.server.lost.Load() {
		return schema.Degraded
	}
	return schema.Healthy
}

// names returns the names in the server of the entry of a key, and of the lease of the caller that makes it. They do
// not reveal what callers requested. The braces keep both on one node of a cluster.
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

// here returns the entry in memory, whether it can be used without the server, and whether it is within its time to
// live.
func (c *Cache) here(key string) (entry *cache.Entry, current, good bool) {
	entry, good = c.memory.Look(key)
	at, known := c.seen.Get(key)
	return entry, entry != nil && known && c.now().Sub(at) < c.near, good
}

// newer returns the entry that the server has under key, or the one in memory if that was read later, and whether it is
// within its time to live. It puts the entry into memory. A text that cannot be decoded counts as no entry.
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
		c.server.log.WarnContext(ctx, "an entry of the cache server cannot be read", "error", providers.Loggable(err),
			"request_id", callctx.Of(ctx).ID)
		return here, good
	case !now.Before(there.removal()), here != nil && here.FetchedAt.After(there.Entry.FetchedAt):
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
	kept := s.removal().Sub(c.now())
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
		return nil // it is in memory
	}
	return err
}
