package cache

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/socialdata/socialdata/privacy"
)

// DefaultBytes is the size of a [Memory] without [MemoryConfig.Bytes].
const DefaultBytes = 64 << 20

// Memory is a [Store] in the process. When it is full, the least recently used entry is removed first.
type Memory struct {
	now   func() time.Time
	limit int

	mu     sync.Mutex
	lru    *simplelru.LRU[string, timed]
	size   int
	claims map[string]*claim // by key
}

// claim is a caller's claim to make an entry.
type claim struct {
	over    chan struct{} // closed at its end
	failure string        // set before over is closed
}

type timed struct {
	entry   *Entry
	expires time.Time // its time to live
	size    int
}

// gone returns when the entry is removed.
func (t timed) gone() time.Time { return t.expires.Add(min(t.entry.Keep, MostKept)) }

var (
	_ Shared = (*Memory)(nil)
	_ Near   = (*Memory)(nil)
	_ Local  = (*Memory)(nil)

	_ privacy.MentionCounter = (*Memory)(nil)
)

// MemoryConfig configures a [Memory]. The zero value is ready to use.
type MemoryConfig struct {
	Bytes int              // maximum size of all entries; 0 or less means DefaultBytes
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
	m := &Memory{now: cfg.Now, limit: cfg.Bytes, claims: map[string]*claim{}}
	// The number of entries is limited by their size, but simplelru requires a number.
	m.lru, _ = simplelru.NewLRU(cfg.Bytes/entrySize+1, func(_ string, t timed) { m.size -= t.size })
	return m
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key string) (*Entry, error) { return m.Peek(key), nil }

// Peek implements [Near]. It counts as a use of the entry.
func (m *Memory) Peek(key string) *Entry {
	entry, _ := m.Look(key)
	return entry
}

// Look is Peek, and reports whether the entry is within its time to live.
func (m *Memory) Look(key string) (entry *Entry, good bool) {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key, now)
}

// get returns the entry under key, and whether it is within its time to live. The caller holds mu.
func (m *Memory) get(key string, now time.Time) (entry *Entry, good bool) {
	t, ok := m.lru.Get(key)
	if !ok {
		return nil, false
	}
	if good = now.Before(t.expires); !good && !now.Before(t.gone()) {
		m.lru.Remove(key)
		return nil, false
	}
	return t.entry, good
}

// Set implements [Store]. An entry larger than a quarter of the store is not stored.
func (m *Memory) Set(_ context.Context, key string, e *Entry, ttl time.Duration) error {
	own := *e
	own.Raw, own.Failed, own.Unknown = slices.Clone(e.Raw), slices.Clone(e.Failed), slices.Clone(e.Unknown)
	expires := m.now().Add(ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, &own, expires) // an expired one is never returned
	return nil
}

// Keep implements [Near]. It replaces the entry with one that has the value, since others may be reading it.
func (m *Memory) Keep(key string, e *Entry, value any) {
	own := *e
	own.Value = value
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.lru.Peek(key); ok && t.entry == e && own.Size() <= m.limit/8 {
		m.put(key, &own, t.expires)
	}
}

// put replaces the entry under key with e. The caller holds mu.
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
func (m *Memory) Join(ctx context.Context, key string) Claim {
	for {
		entry, good, other, own := m.join(key)
		switch {
		case good:
			return Claim{Entry: entry}
		case own != nil:
			late := context.AfterFunc(ctx, func() { m.end(key, own, "") })
			return Claim{Entry: entry, Done: func(_ context.Context, failure string) {
				late()
				m.end(key, own, failure)
			}}
		}
		select {
		case <-ctx.Done():
			return Claim{Entry: entry, Done: func(context.Context, string) {}}
		case <-other.over:
			if other.failure != "" {
				return Claim{Failure: other.failure}
			}
		}
	}
}

// join returns the entry under key and, unless that is valid, the claim of another caller, or a new one for this caller.
func (m *Memory) join(key string) (entry *Entry, good bool, other, own *claim) {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, good = m.get(key, now)
	if other = m.claims[key]; !good && other == nil {
		own = &claim{over: make(chan struct{})}
		m.claims[key] = own
	}
	return entry, good, other, own
}

// end ends a claim, once.
func (m *Memory) end(key string, own *claim, failure string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[key] == own {
		delete(m.claims, key)
		own.failure = failure
		close(own.over)
	}
}

// Erased is the name under which a [Store] counts the entries that it removes for a subject.
const Erased = "cache entries"

// Erase implements [Store].
func (m *Memory) Erase(ctx context.Context, s privacy.Subject) (map[string]int, error) {
	removed := map[string]int{}
	m.remove(func(e *Entry) bool {
		if !s.In(e.Subjects) {
			return false
		}
		removed[Erased]++
		return !s.DryRun
	})
	if removed[Erased] == 0 {
		return nil, ctx.Err()
	}
	return removed, ctx.Err()
}

// Mentions implements [privacy.MentionCounter].
func (m *Memory) Mentions(ctx context.Context, s privacy.Subject) (n int, err error) {
	m.mu.Lock()
	var all []*Entry
	for _, key := range m.lru.Keys() {
		if t, ok := m.lru.Peek(key); ok {
			all = append(all, t.entry)
		}
	}
	m.mu.Unlock()
	for _, e := range all { // they are read-only
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if e.Mentions(s) {
			n++
		}
	}
	return n, nil
}

// Forget implements [Local].
func (m *Memory) Forget(names map[privacy.Name]struct{}) (n int) {
	m.remove(func(e *Entry) bool {
		if !e.Subjects.Any(names) {
			return false
		}
		n++
		return true
	})
	return n
}

// remove removes the entries that are chosen.
func (m *Memory) remove(chosen func(*Entry) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.lru.Keys() {
		if t, ok := m.lru.Peek(key); ok && chosen(t.entry) {
			m.lru.Remove(key)
		}
	}
}

// Len returns how many entries there are, including expired ones.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len()
}
