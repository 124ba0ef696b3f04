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

	mu    sync.Mutex
	lru   *simplelru.LRU[string, timed]
	size  int
	turns map[string]*turn // by key
}

// turn is the turn of one who makes an entry.
type turn struct {
	over    chan struct{} // closed at its end
	failure string        // written before
}

type timed struct {
	entry   *Entry
	expires time.Time
	size    int
}

var (
	_ Shared = (*Memory)(nil)
	_ Near   = (*Memory)(nil)
)

// MemoryConfig says how a [Memory] works. The zero value is ready for use.
type MemoryConfig struct {
	Bytes int              // how many bytes the entries take at most; 0 or less means DefaultBytes
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
	m := &Memory{now: cfg.Now, limit: cfg.Bytes, turns: map[string]*turn{}}
	// The number of entries is bounded by the bytes they take; simplelru wants a number all the same.
	m.lru, _ = simplelru.NewLRU(cfg.Bytes/entrySize+1, func(_ string, t timed) { m.size -= t.size })
	return m
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key string) (*Entry, error) { return m.Peek(key), nil }

// Peek implements [Near]. To the order in which entries go it is a use like any other.
func (m *Memory) Peek(key string) *Entry {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key, now)
}

// get returns what stands under key at that time. The caller holds mu.
func (m *Memory) get(key string, now time.Time) *Entry {
	t, ok := m.lru.Get(key)
	if !ok {
		return nil
	}
	if !now.Before(t.expires) {
		m.lru.Remove(key)
		return nil
	}
	return t.entry
}

// Set implements [Store]. An entry that is larger than a quarter of the store is not kept.
func (m *Memory) Set(_ context.Context, key string, e *Entry, ttl time.Duration) error {
	own := *e
	own.Raw, own.Failed = slices.Clone(e.Raw), slices.Clone(e.Failed)
	expires := m.now().Add(ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, &own, expires) // one that is over already is never handed out
	return nil
}

// Keep implements [Near]. The entry is replaced by one with the value: others may be reading it.
func (m *Memory) Keep(key string, e *Entry, value any) {
	own := *e
	own.Value = value
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.lru.Peek(key); ok && t.entry == e && own.Size() <= m.limit/8 {
		m.put(key, &own, t.expires)
	}
}

// put puts e in the place of what stands under key. The caller holds mu.
func (m *Memory) put(key string, e *Entry, expires time.Time) {
	m.lru.Remove(key)
	t := timed{e, expires, len(key) + e.Size()}
	if t.size > m.limit/4 {
		return
	}
	for m.size+t.size > m.limit {
		m.lru.RemoveOldest()
	}
	m.lru.Add(key, t)
	m.size += t.size
}

// Join implements [Shared].
func (m *Memory) Join(ctx context.Context, key string) Turn {
	for {
		entry, other, own := m.join(key)
		switch {
		case entry != nil:
			return Turn{Entry: entry}
		case own != nil:
			late := context.AfterFunc(ctx, func() { m.end(key, own, "") })
			return Turn{Done: func(_ context.Context, failure string) {
				late()
				m.end(key, own, failure)
			}}
		}
		select {
		case <-ctx.Done():
			return Turn{Done: func(context.Context, string) {}}
		case <-other.over:
			if other.failure != "" {
				return Turn{Failure: other.failure}
			}
		}
	}
}

// join returns the entry under key, or the turn of somebody else, or a new one for the caller.
func (m *Memory) join(key string) (entry *Entry, other, own *turn) {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, other = m.get(key, now), m.turns[key]
	if entry == nil && other == nil {
		own = &turn{over: make(chan struct{})}
		m.turns[key] = own
	}
	return entry, other, own
}

// end ends a turn, once.
func (m *Memory) end(key string, own *turn, failure string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turns[key] == own {
		delete(m.turns, key)
		own.failure = failure
		close(own.over)
	}
}

// Len returns how many entries there are, expired ones included.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len()
}
