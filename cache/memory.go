package cache

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// DefaultBytes is how much a [Memory] holds when its configuration does not say.
const DefaultBytes = 64 << 20

// Memory is a [Store] in the process. When it is full the entry that was asked for longest ago goes first.
type Memory struct {
	now   func() time.Time
	limit int

	mu   sync.Mutex
	lru  *simplelru.LRU[string, timed]
	size int
}

type timed struct {
	entry   Entry
	expires time.Time
	size    int
}

var _ Store = (*Memory)(nil)

// MemoryConfig says how a [Memory] works. The zero value is ready for use.
type MemoryConfig struct {
	Bytes int              // how many bytes the entries take at most; 0 means DefaultBytes
	Now   func() time.Time // the clock; nil means time.Now
}

// NewMemory returns an empty store.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Bytes <= 0 {
		cfg.Bytes = DefaultBytes
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Memory{now: cfg.Now, limit: cfg.Bytes}
	// The number of entries is bounded by the bytes they take; simplelru wants a number all the same.
	m.lru, _ = simplelru.NewLRU(cfg.Bytes/200+1, func(_ string, t timed) { m.size -= t.size })
	return m
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key string) (*Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.lru.Get(key)
	if !ok {
		return nil, nil
	}
	if !m.now().Before(t.expires) {
		m.lru.Remove(key)
		return nil, nil
	}
	return t.entry.copied(), nil
}

// copied returns e with lists of its own; the strings in them can be shared.
func (e *Entry) copied() *Entry {
	c := *e
	c.Raw, c.Failed = slices.Clone(e.Raw), slices.Clone(e.Failed)
	return &c
}

// Set implements [Store]. An entry that is larger than a quarter of the store is not kept.
func (m *Memory) Set(_ context.Context, key string, e *Entry, ttl time.Duration) error {
	t := timed{*e.copied(), m.now().Add(ttl), len(key) + e.Size()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lru.Remove(key)
	if t.size > m.limit/4 || ttl <= 0 {
		return nil
	}
	for m.size+t.size > m.limit {
		m.lru.RemoveOldest()
	}
	m.lru.Add(key, t)
	m.size += t.size
	return nil
}

// Len returns how many entries there are, expired ones included.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len()
}
